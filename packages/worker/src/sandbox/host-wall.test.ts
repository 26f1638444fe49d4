import { createServer, type Server } from 'node:net';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';

let fixture: LaneFixture;
beforeAll(() => {
  fixture = new LaneFixture();
});
afterAll(() => {
  fixture.remove();
});

function listening(where: string | number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    const done = (): void => {
      resolve(server);
    };
    if (typeof where === 'number') server.listen(where, '127.0.0.1', done);
    else server.listen(where, done);
  });
}

describe('a lane is kept out', () => {
  it('of the kernel and the mounts of the host [S4: 1-3]', async () => {
    const core = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    const got = await fixture.breakThrough('a', {
      core_pattern: 'echo x > /proc/sys/kernel/core_pattern',
      'open core_pattern': ': >> /proc/sys/kernel/core_pattern',
      sysrq: ': >> /proc/sysrq-trigger',
      'remount proc': 'mount -o remount,rw /proc/sys',
      'remount root': 'mount -o remount,rw,bind /',
      'remount usr': 'mount -o remount,rw,bind /usr',
      umount: `umount ${fixture.git}/config`,
      'write usr': 'touch /usr/x',
      'write etc': 'touch /etc/x',
      'write sys': 'echo 1 > /sys/kernel/mm/ksm/run',
      'write top': 'touch /x',
      'write dev': 'touch /dev/x',
      unshare: 'unshare --user --mount true',
      'unshare net': 'unshare --net true',
      mknod: 'mknod disk b 254 0',
      chroot: 'chroot / true',
    });
    expect(got).toEqual([]);
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(core);
  });

  it('of what not everybody on the machine may read, also where the worker is root', async () => {
    const { stdout, exitCode } = await fixture.inWorktree(
      'a',
      'find /etc -type f ! -perm -o+r -size +0 -readable 2>/dev/null; find /etc -mindepth 1 -type d ! -perm -o+rx -readable ! -empty 2>/dev/null; echo looked',
    );
    expect({ stdout, exitCode }).toEqual({ stdout: 'looked\n', exitCode: 0 });
  });

  it('of sockets of the host: abstract, TCP, and in the file system [S4: 20-21]', async () => {
    const name = `codelanes-test-${process.pid}`;
    const inFiles = join(fixture.state, 'sock');
    const overTcp = await listening(0);
    const servers = [overTcp, await listening(`\0${name}`), await listening(inFiles)];
    const address = overTcp.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const connect = (target: string): string =>
        `node -e 'require("node:net").connect(${target}).on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`;
      const got = await fixture.breakThrough('a', {
        abstract: connect(`{path:"\\0${name}"}`),
        file: connect(`{path:"${inFiles}"}`),
        tcp: connect(`{port:${port},host:"127.0.0.1"}`),
      });
      expect(got).toEqual([]);
    } finally {
      for (const server of servers) server.close();
    }
  });

  it.each(['', 'worktrees/b'])(
    'of a socket that stands on a read-only mount, in .git/%s [S4: 20]',
    async (of) => {
      // Where Git's own file system monitor listens, for the checkout and for a sibling.
      const path = join(fixture.git, of, 'fsmonitor--daemon.ipc');
      const server = await listening(path);
      try {
        const got = await fixture.breakThrough('a', {
          connect: `node -e 'require("node:net").connect("${path}").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`,
        });
        expect(got).toEqual([]);
      } finally {
        server.close();
      }
    },
  );

  it("of the worker's environment and descriptors [S4: 22-23]", async () => {
    process.env['CODELANES_TEST_SECRET'] = 'do-not-tell';
    try {
      const run = await fixture.inWorktree(
        'a',
        `cat /proc/*/environ | tr '\\0' '\\n' | grep -c 'do-not-tel[l]'; env | grep -c SECRET
         for fd in /proc/self/fd/*; do readlink $fd; done; ls /proc/1/fd`,
      );
      expect(run.stdout).toMatch(/^0\n0\n/u);
      expect(run.stdout).not.toContain(fixture.folder);
      const targets = run.stdout.split('\n').filter((line) => /^(?:\/|socket|pipe)/u.test(line));
      expect(targets.filter((target) => !/^(?:\/dev\/null|socket:|\/proc\/|pipe:)/u.test(target))).toEqual(
        [],
      );
    } finally {
      delete process.env['CODELANES_TEST_SECRET'];
    }
  });

  it("of its siblings' processes [S4: 19]", async () => {
    const mark = `siblings-${process.pid}`;
    const waits = 'touch begun; until [ -e over ]; do sleep 0.05; done';
    const sibling = fixture.inWorktree('b', `exec -a ${mark} bash -c '${waits}'`);
    await expect.poll(() => existsSync(join(fixture.path('b'), 'begun'))).toBe(true);
    const run = await fixture.inWorktree(
      'a',
      `cat /proc/*/cmdline | tr '\\0' ' ' | grep -c '${mark.slice(0, 8)}[-]'; kill -9 ${process.pid}; ls -d /proc/${process.pid}`,
    );
    expect(run.stdout).toBe('0\n');
    fixture.host('touch over', fixture.path('b'));
    expect((await sibling).exitCode).toBe(0);
  });

  it('of more memory than its temporary folders have [S4: 24]', async () => {
    const run = await fixture.inWorktree(
      'a',
      'df -B1 --output=size /tmp /dev/shm /run /var/tmp | tail -n +2; touch /dev/x || echo sealed',
    );
    expect(
      run.stdout
        .split('\n')
        .filter((line) => /^ *[0-9]+$/u.test(line))
        .map(Number),
    ).toEqual([1024 ** 3, 256 * 1024 ** 2, 256 * 1024 ** 2, 256 * 1024 ** 2]);
    expect(run.stdout).toContain('sealed');
  });
});

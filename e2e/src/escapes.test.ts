import { execFile, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { successesOf } from './rig/attacks.js';
import type { Caller } from './rig/caller.js';
import { inheritedAs } from './rig/child.js';
import { Deployment } from './rig/deployment.js';
import { Listener } from './rig/listener.js';
import { newMarker, processesWith } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';
import { overlap, spanOf, stamped } from './rig/stamps.js';
import { digestOf } from './rig/tree-digest.js';

let repository: Repository;
let deployment: Deployment;
let caller: Caller;
let leaked: number;
const secret = 'do-not-tell-anybody';

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  writeFileSync(join(repository.folder, 'secret'), `${secret}\n`);
  leaked = openSync(join(repository.folder, 'secret'), 'r+');
  deployment = await Deployment.start(repository, {
    worker: { home: repository.folder, killGraceMs: 100 },
    environment: { ...process.env, CODELANES_TEST_SECRET: secret, AWS_SECRET_ACCESS_KEY: secret },
    inherited: leaked,
  });
  caller = deployment.caller();
  // The first command of a lane makes the file that pins its own settings.
  for (const lane of ['a', 'b']) await caller.run('true', lane);
});
afterAll(async () => {
  await deployment.stop();
  closeSync(leaked);
  repository.remove();
});

/** Runs a shell line outside every wall, without holding up this process; it must succeed. */
async function onHost(line: string): Promise<void> {
  await promisify(execFile)('/bin/sh', ['-c', line]);
}

describe.each([
  ['a worktree', 'a'],
  ['the checkout', undefined],
])('a command of %s gets no hold of', (_, worktree) => {
  it('[S4: 1] [S4: 2] [S4: 3] the kernel and the mounts of the host', async () => {
    const core = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    const before = digestOf(repository.path('.git'));
    const through = await successesOf(caller, worktree, {
      'write core_pattern': 'echo x > /proc/sys/kernel/core_pattern',
      'open core_pattern': ': >> /proc/sys/kernel/core_pattern',
      'write a setting of the network': 'echo 1 > /proc/sys/net/ipv4/ip_forward',
      sysrq: ': >> /proc/sysrq-trigger',
      kallsyms: 'grep -vq "^0000000000000000" /proc/kallsyms',
      'kernel memory': 'head -c1 /proc/kcore',
      'remount of /': 'mount -o remount,rw,bind /',
      'remount of /usr': 'mount -o remount,rw,bind /usr',
      'remount of /proc/sys': 'mount -o remount,rw,bind /proc/sys',
      'remount of the hooks': `mount -o remount,rw,bind ${repository.path('.git/hooks')}`,
      'a new /proc': 'mkdir p && mount -t proc proc p',
      'a bind of /': 'mkdir m && mount --rbind / m',
      'unmount of the settings': `umount ${repository.path('.git/config')}`,
      'lazy unmount of /proc/sys': 'umount -l /proc/sys',
      'a nested user namespace': 'unshare --user true',
      'one with mounts': 'unshare --user --map-root-user --mount sh -c "mount -o remount,rw,bind /usr"',
      'one by bubblewrap': 'bwrap --unshare-user --ro-bind / / true',
      'a mount namespace': 'unshare --mount true',
      'a network namespace': 'unshare --net true',
      nsenter: 'nsenter -t 1 -m -n true',
      pivot_root: 'pivot_root . .',
      chroot: 'chroot / true',
      'a device': 'mknod disk b 254 0',
      'a file in /usr': 'touch /usr/x',
      'a file in /etc': 'touch /etc/x',
      'a file in /': 'touch /x',
      'a file in /dev': 'touch /dev/x',
      'a file in /sys': 'echo 1 > /sys/kernel/mm/ksm/run',
      cgroups: 'mkdir /sys/fs/cgroup/x',
      'the clock': 'date -s 2001-01-01',
      'the host name of the machine': 'hostname elsewhere',
    });
    expect(through).toEqual([]);
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(core);
    expect(digestOf(repository.path('.git'))).toEqual(before);
  });

  it('[S4: 20] [S4: 21] sockets of the host: in files, abstract, TCP', async () => {
    const name = `codelanes-escapes-${process.pid}`;
    const listeners = new Map<string, Listener>();
    const connect = (target: string): string =>
      `node -e 'require("node:net").connect(${target}).on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`;
    const paths = [
      join(repository.folder, 'home.sock'),
      `/var/tmp/${name}.sock`,
      // Where Git's own monitors of the file system listen, of the checkout and of a sibling.
      ...(worktree === undefined
        ? []
        : ['', '/worktrees/b'].map((of) => repository.path(`.git${of}/fsmonitor--daemon.ipc`))),
    ];
    try {
      const tcp = await Listener.at();
      listeners.set('tcp', tcp);
      listeners.set('abstract', await Listener.at(`\0${name}`));
      for (const path of paths) listeners.set(path, await Listener.at(path));
      const attacks = {
        tcp: connect(`{port:${tcp.port},host:"127.0.0.1"}`),
        'tcp of the bridge': connect(`{port:${new URL(deployment.url).port},host:"127.0.0.1"}`),
        abstract: connect(`{path:"\\0${name}"}`),
        ...Object.fromEntries(paths.map((path) => [path, connect(`{path:"${path}"}`)])),
      };
      expect(await successesOf(caller, worktree, attacks)).toEqual([]);
      expect([...listeners].filter(([, { connections }]) => connections > 0).map(([what]) => what)).toEqual(
        [],
      );
      // Whoever is on the host gets through, so the attacks are worth something.
      for (const attack of Object.values(attacks)) await onHost(attack);
      await expect.poll(() => [...listeners].filter(([, { connections }]) => connections === 0)).toEqual([]);
    } finally {
      for (const listener of listeners.values()) listener.close();
    }
  });

  it("[S4: 22] the worker's environment", async () => {
    const run = await caller.run(
      `cat /proc/*/environ | tr '\\0' '\\n' | sort -u; env; cat /proc/*/cmdline | tr '\\0' ' '`,
      worktree,
    );
    expect(run.stdout).toContain('GIT_CONFIG_COUNT=');
    expect(run.stdout).not.toContain(secret);
    expect(run.stdout).not.toMatch(/SECRET|NODE_CHANNEL|VITEST/u);
    for (const token of Object.values(deployment.tokens)) expect(run.stdout).not.toContain(token);
  });

  it('[S4: 23] a descriptor that leaked into the worker, nor any other of the host', async () => {
    const run = await caller.run(
      `cat <&${inheritedAs}; echo x >&${inheritedAs}; for p in /proc/[0-9]*; do for d in $p/fd/*; do readlink $d; done; done; true`,
      worktree,
    );
    expect(run.stdout).not.toContain(secret);
    const targets = [...new Set(run.stdout.split('\n'))].filter((line) => line.startsWith('/'));
    expect(targets.filter((target) => !/^\/(?:dev|proc)\//u.test(target))).toEqual([]);
    expect(readFileSync(join(repository.folder, 'secret'), 'utf8')).toBe(`${secret}\n`);
  });

  it('[S4: 19] processes outside its sandbox', async () => {
    const bystander = spawn('sleep', ['600'], { stdio: 'ignore' });
    const { pid } = bystander;
    if (pid === undefined) throw new Error('no process to attack');
    try {
      const through = await successesOf(caller, worktree, {
        kill: `kill -9 ${pid}`,
        'kill of the worker': `kill -9 ${deployment.worker?.pid ?? 0}`,
        'its files': `ls /proc/${pid}/root/`,
        'its folder': `ls /proc/${pid}/cwd/`,
        'the files of the worker': `ls /proc/${deployment.worker?.pid ?? 0}/root/`,
      });
      expect(through).toEqual([]);
      await caller.run('kill -9 -1', worktree);
      expect(bystander.exitCode).toBeNull();
      expect(bystander.signalCode).toBeNull();
      const seen = await caller.run('ls -d /proc/[0-9]* | wc -l', worktree);
      expect(Number(seen.stdout)).toBeLessThan(10);
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it('[S4: 24] room for ever in memory', async () => {
    const run = await caller.run(
      `df -B1 --output=size /tmp /dev/shm /run /var/tmp | tail -n +2; head -c 300M /dev/zero > /dev/shm/x; echo $?`,
      worktree,
    );
    const [tmp, ...others] = run.stdout.trim().split('\n').map(Number);
    expect(tmp).toBe(1024 ** 3);
    expect(others).toEqual([256 * 1024 ** 2, 256 * 1024 ** 2, 256 * 1024 ** 2, 1]);
  });

  it('[S4: 26] [T60] [T61] life after its end: daemons are gone before the result is told', async () => {
    const mark = newMarker();
    const run = await caller.run(
      `setsid sleep ${mark} & (setsid nohup sh -c 'trap "" TERM INT HUP; sleep ${mark}; sleep ${mark}' &) ; (sleep ${mark} &) ; echo started`,
      worktree,
    );
    expect(run).toMatchObject({ exitCode: 0, stdout: 'started\n' });
    expect(processesWith(mark)).toEqual([]);
  });

  it('[S4: 25] [T62] life after its time-out: a loop that forks without end is gone', async () => {
    const mark = newMarker();
    const run = await caller.run(`while :; do (setsid sleep ${mark} &); done`, worktree, {
      more: { timeoutMs: 300 },
    });
    expect(run).toMatchObject({ timedOut: true, exitCode: null });
    expect(processesWith(mark)).toEqual([]);
    expect((await caller.run('echo alive', worktree)).stdout).toBe('alive\n');
  });
});

describe('commands of two worktrees', () => {
  it('[T42] listen on the same port at once, and neither reaches the other', async () => {
    const serve = (name: string): string =>
      `node -e '
        const http = require("node:http"), fs = require("node:fs");
        http.createServer((_, reply) => reply.end("${name}")).listen(3000, "127.0.0.1", async () => {
          fs.writeFileSync("listens", "");
          while (!fs.existsSync("both")) await new Promise((resolve) => setTimeout(resolve, 20));
          console.log(await (await fetch("http://127.0.0.1:3000")).text());
          process.exit();
        });'`;
    const calls = Promise.all(['a', 'b'].map((name) => caller.run(stamped(serve(name)), name)));
    for (const name of ['a', 'b']) {
      await expect.poll(() => existsSync(repository.path('listens', name))).toBe(true);
    }
    for (const name of ['a', 'b']) writeFileSync(repository.path('both', name), '');
    const runs = await calls;
    const [a, b] = runs.map(spanOf);
    if (a === undefined || b === undefined) throw new Error('two results');
    expect(overlap(a, b)).toBe(true);
    expect(runs.map(({ stdout }) => stdout.split('\n')[1])).toEqual(['a', 'b']);
  });
});

describe('a command of a worktree', () => {
  it('[S4: 19] does not see or end the processes of a sibling', async () => {
    const waits = 'touch begun; until [ -e over ]; do sleep 0.05; done; echo survived';
    const waiting = caller.run(waits, 'b');
    await expect.poll(() => existsSync(repository.path('begun', 'b'))).toBe(true);
    const attack = await caller.run(
      `cat /proc/*/cmdline | tr '\\0' ' ' | grep -c 'surviv[e]d'; kill -9 -1; pkill -9 sleep; true`,
      'a',
    );
    expect(attack.stdout === '0\n' || attack.signal === 'SIGKILL').toBe(true);
    writeFileSync(repository.path('over', 'b'), '');
    expect((await waiting).stdout).toBe('survived\n');
  });

  it('[S4: 10] [S4: 12] [T08] plants no settings by which the Git of the operator at the root runs its code', async () => {
    const ran = join(repository.folder, 'ran');
    const evil = `[core]\\n\\tfsmonitor = "touch ${ran}; false"\\n\\thooksPath = evil\\n`;
    await caller.run(
      `mkdir -p evil; printf '#!/bin/sh\\ntouch ${ran}\\n' | tee evil/post-checkout > evil/pre-commit; chmod +x evil/*
       printf '${evil}' > ../../.git/worktrees/a/config.worktree; printf '${evil}' > ../../.git/worktrees/a/config
       printf '${evil}' > evil/config; echo "* filter=evil diff=evil" > .gitattributes; git add -A; git commit -qm evil; true`,
      'a',
    );
    for (const command of [
      ['status'],
      ['branch'],
      ['worktree', 'list'],
      ['log', '--all'],
      ['fsck'],
      ['gc', '--quiet'],
      ['merge', '--quiet', '--no-edit', 'lane/a'],
    ]) {
      repository.git(...command);
    }
    expect(existsSync(ran)).toBe(false);
  });

  // What the operator's own commit, packing and housekeeping write.
  const shared = [
    'refs',
    'logs',
    'packed-refs',
    'objects',
    'gc.pid',
    'index',
    'info/refs',
    'COMMIT_EDITMSG',
  ].map((name) => `.git/${name}`);

  it.each([
    ['a worktree', 'a', '../../'],
    ['the checkout', undefined, ''],
  ])(
    '[S4: 18] plants no ref or log from %s through which the Git of the operator writes elsewhere, or waits',
    async (_, worktree, top) => {
      const victim = join(repository.folder, 'secret');
      const before = digestOf(repository.root, shared);
      const git = `${top}.git`;
      // Done by one command, which ends before the operator does anything.
      const plant = await caller.run(
        `ln -sf ${victim} ${git}/logs/refs/heads/main; ln -sf ../../config ${git}/logs/refs/heads/packed
         ln -s ../../config ${git}/refs/heads/evil; ln -sf ../../../file.txt ${git}/refs/heads/worse
         ln -s ${repository.folder} ${git}/refs/elsewhere; mkfifo ${git}/refs/heads/pipe`,
        worktree,
      );
      expect(plant.exitCode).toBe(0);
      expect(plant.stderr).toMatch(/^codelanes: .*"\.git\/.*have a place there/mu);
      repository.git('branch', '--list');
      repository.git('update-ref', 'refs/heads/worse', 'HEAD');
      repository.git('branch', '--force', 'packed');
      repository.git('commit', '--quiet', '--allow-empty', '--message=by the operator');
      repository.git('pack-refs', '--all');
      repository.git('gc', '--quiet');
      expect(digestOf(repository.root, shared)).toEqual(before);
      expect(readFileSync(victim, 'utf8')).toBe(`${secret}\n`);
    },
  );

  it.each(['index', 'logs/HEAD', 'COMMIT_EDITMSG', 'HEAD'])(
    '[S4: 16] gains nothing by making its own %s a link: it is removed when the call ends, which is said',
    async (name) => {
      const victim = repository.path('file.txt');
      const metadata = repository.path(`.git/worktrees/b/${name}`);
      const [untouched, saved] = [
        readFileSync(victim),
        existsSync(metadata) ? readFileSync(metadata) : Buffer.from('x\n'),
      ];
      const plant = await caller.run(`ln -sf ${victim} ${metadata} && echo planted`, 'b');
      expect(plant.stdout).toBe('planted\n');
      expect(plant.stderr).toMatch(new RegExp(`^codelanes: .*${name}".*have a place there`, 'mu'));
      expect(lstatSync(metadata, { throwIfNoEntry: false })).toBeUndefined();
      await caller.call({
        operation: 'execute_command',
        command: 'git commit --allow-empty -m x',
        worktree: 'b',
      });
      expect(readFileSync(victim)).toEqual(untouched);
      // What the lane took away from itself the operator can put back.
      writeFileSync(metadata, saved);
      expect((await caller.run('git status --short', 'b')).exitCode).toBe(0);
      expect((await caller.run('true', 'a')).exitCode).toBe(0);
    },
  );

  it('[S4: 28] leads no file tool out of the lane through links that it made', async () => {
    const target = join(repository.folder, 'secret');
    await caller.run(
      `ln -s ${target} result.json; ln -s ${repository.folder} out; ln -s ../b sibling; ln -s /proc/self/root/etc etc`,
      'a',
    );
    for (const path of ['result.json', 'out/secret', 'sibling/file.txt', 'etc/passwd']) {
      for (const fields of [
        { operation: 'read_file', path },
        { operation: 'write_file', path, content: 'x' },
        { operation: 'edit_file', path, oldText: 'o', newText: 'x' },
        { operation: 'preview_edit', path, oldText: 'o', newText: 'x' },
        { operation: 'list_files', path },
        { operation: 'search_text', path, query: 'o' },
      ]) {
        expect(await caller.refused({ ...fields, worktree: 'a' })).toMatchObject({ code: 'INVALID_PATH' });
      }
    }
    expect(readFileSync(target, 'utf8')).toBe(`${secret}\n`);
    expect(
      JSON.stringify(await caller.succeed({ operation: 'search_text', query: secret, worktree: 'a' })),
    ).not.toContain(secret);
    await caller.run('rm result.json out sibling etc', 'a');
  });

  it('[S4: 28] starts in no folder that a link leads to', async () => {
    symlinkSync('../b', repository.path('elsewhere', 'a'));
    const refusal = await caller.refused({
      operation: 'execute_command',
      command: 'pwd',
      cwd: 'elsewhere',
      worktree: 'a',
    });
    expect(refusal.code).toBe('INVALID_PATH');
    expect(refusal.error).toContain('cannot start in "elsewhere"');
  });
});

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@codelanes/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCallId, type Fields } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a');
  deployment = await Deployment.start(repository, { slots: 1 });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

const mib = 1024 * 1024;
const inA = (fields: Fields): Fields => ({ worktree: 'a', ...fields });
const put = (name: string, content: string | Buffer) => {
  writeFileSync(repository.path(name, 'a'), content);
};
const path = (length: number) => {
  const pairs = Math.ceil(length / 2) - 1;
  return 'p/'.repeat(pairs) + 'p'.repeat(length - 2 * pairs);
};
const edits = (number: number) =>
  Array.from({ length: number }, (_, index) => ({ oldText: `<${index}>`, newText: `(${index})` }));
/** An edit whose old text has half a MiB. */
const halfReplacedBy = (newText: string) => ({
  operation: 'preview_edit',
  path: 'half',
  edits: [{ oldText: 'x'.repeat(mib / 2), newText }],
});
const command = (bytes: number) => `: ${'x'.repeat(bytes - 2)}`;

/** A call at the bound, one past it, and the field that is named when it is past. */
interface Bound {
  readonly what: string;
  readonly at: () => Fields;
  readonly past: () => Fields;
  readonly names: string;
}

const bounds: readonly Bound[] = [
  {
    what: 'lines of a read',
    at: () => ({ operation: 'read_file', path: 'lines', maxLines: limits.readFileLines }),
    past: () => ({ operation: 'read_file', path: 'lines', maxLines: limits.readFileLines + 1 }),
    names: 'maxLines',
  },
  {
    what: 'the first line of a read',
    at: () => ({ operation: 'read_file', path: 'lines', startLine: 1 }),
    past: () => ({ operation: 'read_file', path: 'lines', startLine: 0 }),
    names: 'startLine',
  },
  {
    what: 'bytes of a write, counted in UTF-8',
    at: () => ({ operation: 'write_file', path: 'written', content: 'é'.repeat(mib / 2) }),
    past: () => ({ operation: 'write_file', path: 'written', content: `${'é'.repeat(mib / 2)}a` }),
    names: 'content',
  },
  {
    what: 'edits of a batch',
    at: () => ({ operation: 'preview_edit', path: 'edits', edits: edits(limits.editBatch) }),
    past: () => ({ operation: 'preview_edit', path: 'edits', edits: edits(limits.editBatch + 1) }),
    names: 'edits',
  },
  {
    what: 'bytes of the texts of a batch together',
    at: () => ({ ...halfReplacedBy('é'.repeat(mib / 4)) }),
    past: () => ({ ...halfReplacedBy(`${'é'.repeat(mib / 4)}a`) }),
    names: 'edits',
  },
  {
    what: 'the text that an edit looks for',
    at: () => ({ operation: 'preview_edit', path: 'tiny', oldText: 'z', newText: '' }),
    past: () => ({ operation: 'preview_edit', path: 'tiny', oldText: '', newText: '' }),
    names: 'oldText',
  },
  {
    what: 'matches of a search',
    at: () => ({ operation: 'search_text', query: 'line', maxResults: limits.searchResults }),
    past: () => ({ operation: 'search_text', query: 'line', maxResults: limits.searchResults + 1 }),
    names: 'maxResults',
  },
  {
    what: 'bytes of a query, counted in UTF-8',
    at: () => ({ operation: 'search_text', query: 'é'.repeat(1000) }),
    past: () => ({ operation: 'search_text', query: `${'é'.repeat(1000)}a` }),
    names: 'query',
  },
  {
    what: 'paths of a list',
    at: () => ({ operation: 'list_files', maxResults: limits.listResults }),
    past: () => ({ operation: 'list_files', maxResults: limits.listResults + 1 }),
    names: 'maxResults',
  },
  {
    what: 'the least number of results',
    at: () => ({ operation: 'list_files', maxResults: 1 }),
    past: () => ({ operation: 'list_files', maxResults: 0 }),
    names: 'maxResults',
  },
  {
    what: 'bytes of a command, counted in UTF-8',
    at: () => ({ operation: 'execute_command', command: command(limits.commandBytes) }),
    past: () => ({ operation: 'execute_command', command: command(limits.commandBytes + 1) }),
    names: 'command',
  },
  {
    what: 'the time of a command',
    at: () => ({ operation: 'execute_command', command: 'true', timeoutMs: limits.commandTimeoutMs }),
    past: () => ({ operation: 'execute_command', command: 'true', timeoutMs: limits.commandTimeoutMs + 1 }),
    names: 'timeoutMs',
  },
  {
    what: 'the least time of a command',
    at: () => ({ operation: 'execute_command', command: 'sleep 9', timeoutMs: 1 }),
    past: () => ({ operation: 'execute_command', command: 'sleep 9', timeoutMs: 0 }),
    names: 'timeoutMs',
  },
  {
    what: 'the output of a command',
    at: () => ({ operation: 'execute_command', command: 'true', maxOutputBytes: limits.commandOutputBytes }),
    past: () => ({
      operation: 'execute_command',
      command: 'true',
      maxOutputBytes: limits.commandOutputBytes + 1,
    }),
    names: 'maxOutputBytes',
  },
];

describe('a limit of a call', () => {
  beforeAll(() => {
    put('lines', 'line\n'.repeat(600));
    put(
      'edits',
      edits(101)
        .map(({ oldText }) => oldText)
        .join('\n'),
    );
    put('half', 'x'.repeat(mib / 2));
    put('tiny', 'z');
  });

  it.each(bounds)(
    '$what: holds at its bound, and one past it is refused by name',
    async ({ at, past, names }) => {
      await deployment.caller().succeed(inA(at()));
      const refusal = await deployment.caller().refused(inA(past()));
      expect(refusal).toMatchObject({ status: 400, code: 'MALFORMED_REQUEST' });
      expect(refusal.error).toContain(`body.${names}`);
    },
  );

  it('characters of a path: at the bound it is only not there, one past it is malformed', async () => {
    const read = (length: number) => inA({ operation: 'read_file', path: path(length) });
    expect(path(limits.pathLength)).toHaveLength(4096);
    expect((await deployment.caller().refused(read(limits.pathLength))).code).toBe('NOT_FOUND');
    const refusal = await deployment.caller().refused(read(limits.pathLength + 1));
    expect(refusal).toMatchObject({ status: 400, code: 'MALFORMED_REQUEST' });
    expect(refusal.error).toContain('body.path: a path has at most 4096 characters');
  });

  it('characters of an id and of a worktree name: at the bound it is only not there, one past it is malformed', async () => {
    const caller = deployment.caller();
    const id = (length: number) => ({ operation: 'list_files', workspaceId: 'w'.repeat(length) });
    expect((await caller.refused(id(128))).code).toBe('WORKER_MISMATCH');
    expect((await caller.refused(id(129))).error).toContain('body.workspaceId');
    const lane = (length: number) => ({ operation: 'list_files', worktree: 'w'.repeat(length) });
    expect((await caller.refused(lane(128))).code).toBe('INVALID_REQUEST');
    expect((await caller.refused(lane(129))).error).toContain('body.worktree');
    const instance = (length: number) => ({
      operation: 'list_files',
      workspaceInstanceId: 'a'.repeat(length),
    });
    expect((await caller.refused(instance(64))).code).toBe('WORKER_MISMATCH');
    expect((await caller.refused(instance(65))).error).toContain('body.workspaceInstanceId');
  });

  it('characters of an action: at the bound it is only not offered, one past it is malformed', async () => {
    const action = (length: number) => ({
      operation: 'execute_command',
      command: 'true',
      environmentAction: { name: 'n'.repeat(length), fingerprint: 'a'.repeat(64) },
    });
    expect((await deployment.caller().refused(action(64))).code).toBe('WORKER_MISMATCH');
    expect((await deployment.caller().refused(action(65))).error).toContain('body.environmentAction.name');
  });

  it('time in the queue, by header', async () => {
    const list = inA({ operation: 'list_files' });
    await deployment.caller().succeed(list, { queueWaitMs: limits.queueWaitMs });
    for (const queueWaitMs of [0, limits.queueWaitMs + 1]) {
      expect((await deployment.caller().refused(list, { queueWaitMs })).code).toBe(
        'INVALID_WORKSPACE_QUEUE_WAIT',
      );
    }
  });
});

describe('a limit of what is given back', () => {
  it('1 MiB of a file is read whole, of more the lines that fit', async () => {
    const line = `${'x'.repeat(8191)}\n`;
    put('mib', line.repeat(128));
    put('mib-and-more', `${line.repeat(128)}y`);
    const read = (name: string) =>
      deployment.caller().succeed(inA({ operation: 'read_file', path: name, maxLines: 500 }));
    expect(await read('mib')).toMatchObject({ endLine: 128, truncated: false });
    expect(await read('mib-and-more')).toMatchObject({ endLine: 128, truncated: true, nextStartLine: 129 });
  });

  it('a line of 1 MiB is read, one of a byte more is refused', async () => {
    put('one-line', 'x'.repeat(mib));
    put('long-line', 'x'.repeat(mib + 1));
    const read = (name: string) => inA({ operation: 'read_file', path: name });
    expect(await deployment.caller().succeed(read('one-line'))).toMatchObject({ truncated: false });
    expect(await deployment.caller().refused(read('long-line'))).toMatchObject({
      status: 422,
      code: 'READ_LIMIT_EXCEEDED',
    });
  });

  it('an edited file may have 1 MiB, and not a byte more', async () => {
    put('grows', `a${'x'.repeat(mib - 2)}`);
    const edit = (newText: string) => inA({ operation: 'edit_file', path: 'grows', oldText: 'a', newText });
    expect(await deployment.caller().succeed(edit('aa'))).toMatchObject({ bytesWritten: mib });
    put('grows', `a${'x'.repeat(mib - 1)}`);
    const refusal = await deployment.caller().refused(edit('aa'));
    expect(refusal).toMatchObject({ status: 413, code: 'WRITE_LIMIT_EXCEEDED' });
  });

  it('a search shows at most as many matches as asked, and 2,000 characters of a line', async () => {
    put('many', 'needle\n'.repeat(250));
    put('wide', `${'x'.repeat(1000)}haystack${'x'.repeat(3000)}`);
    const many = await deployment
      .caller()
      .succeed(inA({ operation: 'search_text', query: 'needle', maxResults: 200 }));
    expect(many).toMatchObject({ truncated: true });
    expect(many.operation === 'search_text' && many.matches.length).toBe(200);
    const wide = await deployment.caller().succeed(inA({ operation: 'search_text', query: 'haystack' }));
    const [match] = wide.operation === 'search_text' ? wide.matches : [];
    expect(match?.text).toContain('haystack');
    expect(match?.text.length).toBeLessThanOrEqual(limits.searchTextLength);
  });

  it('a list shows at most 500 paths, and goes on after the last of them', async () => {
    await deployment.caller().run('mkdir many-files; cd many-files; touch $(seq 1000 1500)', 'a');
    const list = { operation: 'list_files', path: 'many-files', maxResults: 500 };
    const first = await deployment.caller().succeed(inA(list));
    expect(first).toMatchObject({ truncated: true, nextAfterPath: 'many-files/1499' });
    const second = await deployment.caller().succeed(inA({ ...list, afterPath: 'many-files/1499' }));
    expect(second).toMatchObject({ truncated: false, paths: ['many-files/1500'] });
  });

  it('a command gives 256 KiB unless told otherwise, and at most 1 MiB, of both streams together', async () => {
    const output = (bytes: number) =>
      `head -c ${bytes - 100} /dev/zero | tr '\\0' x; head -c 100 /dev/zero | tr '\\0' y >&2`;
    for (const [bound, more] of [
      [256 * 1024, {}],
      [mib, { maxOutputBytes: mib }],
    ] as const) {
      const fits = await deployment.caller().run(output(bound), 'a', { more });
      expect([fits.truncated, fits.stdout.length + fits.stderr.length]).toEqual([false, bound]);
      const exceeds = await deployment.caller().run(output(bound + 1), 'a', { more });
      expect(exceeds.truncated).toBe(true);
      expect(exceeds.stdout.length + exceeds.stderr.length).toBeLessThanOrEqual(bound);
    }
  });

  it('instructions are read whole up to 32 KiB, and cut there', async () => {
    const read = (bytes: number) => {
      const text = 'x'.repeat(bytes);
      put('AGENTS.md', text);
      const shown = text.slice(0, limits.instructionBytes);
      const instructionSha256 = createHash('sha256').update(shown).digest('hex');
      return deployment
        .caller()
        .succeed(inA({ operation: 'read_file', path: 'AGENTS.md', instructionSha256 }));
    };
    expect(await read(limits.instructionBytes)).toMatchObject({ truncated: false });
    expect(await read(limits.instructionBytes + 1)).toMatchObject({
      truncated: true,
      content: 'x'.repeat(limits.instructionBytes),
    });
  });

  it('an error has a short message, however long what it is about', async () => {
    const refusal = await deployment.caller().refused(inA({ operation: 'read_file', path: path(4096) }));
    expect(refusal.error.length).toBeLessThanOrEqual(limits.errorMessageLength);
  });
});

describe('a limit of a registration', () => {
  const workspace = { id: 'primary', name: 'n'.repeat(128) };
  const profile = { sandboxProfile: 'p'.repeat(128), runtimes: ['r'.repeat(64)] };
  const registration = (changes: {
    slots?: number;
    capabilities?: object;
    workspaces?: readonly object[];
  }) => ({
    version: 1,
    workerId: 'other',
    incarnationId: newCallId(),
    journalId: 'a'.repeat(32),
    slots: changes.slots ?? 1,
    holds: [],
    takeOver: false,
    capabilities: {
      ...{ statefulWorkspace: true, sharedReads: true, ...profile, ...changes.capabilities },
      workspaceTools: {
        protocolVersion: 1,
        operations: ['read_file'],
        workspaces: changes.workspaces ?? [workspace],
      },
    },
  });
  const workspaces = (number: number) => Array.from({ length: number }, (_, index) => ({ id: `w${index}` }));

  it.each([
    ['slots', { slots: 1 }, { slots: 0 }],
    ['slots', { slots: 8 }, { slots: 9 }],
    ['sandboxProfile', {}, { capabilities: { sandboxProfile: 'p'.repeat(129) } }],
    ['runtimes', {}, { capabilities: { runtimes: ['r'.repeat(65)] } }],
    [
      'runtimes',
      { capabilities: { runtimes: Array.from({ length: 32 }, () => 'r') } },
      { capabilities: { runtimes: Array.from({ length: 33 }, () => 'r') } },
    ],
    ['workspaces', { workspaces: workspaces(32) }, { workspaces: workspaces(33) }],
    ['name', {}, { workspaces: [{ ...workspace, name: 'n'.repeat(129) }] }],
  ])('holds at its bound, and one past it is refused by name: %s', async (names, at, past) => {
    const register = (changes: Parameters<typeof registration>[0]) =>
      deployment.caller().send('POST', '/v1/workers/other/register', registration(changes), {
        token: deployment.tokens.worker,
      });
    expect((await register(at)).status).toBe(200);
    const refused = await register(past);
    expect(refused).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect(refused.text).toMatch(new RegExp(`body\\.[a-zA-Z.0-9]*${names}`));
  });
});

it('the queue of a worker holds 1,000 waiting calls, and refuses the next one, which may be sent again', async () => {
  const caller = deployment.caller();
  const running = newCallId();
  const blocker = caller.run('while [ ! -e go ]; do sleep 0.05; done', 'a', {
    callId: running,
    more: { timeoutMs: 120_000 },
  });
  await caller.until(running, 'running');
  const leave = new AbortController();
  const waiting = Array.from({ length: limits.queueLength }, () =>
    caller.call(inA({ operation: 'execute_command', command: 'touch ran-from-queue' }), {
      signal: leave.signal,
      queueWaitMs: 60_000,
    }),
  );
  const left = Promise.allSettled(waiting);
  while ((await caller.lanes()).waiting.length < limits.queueLength) await sleep(50);
  const refusal = await caller.refused(inA({ operation: 'execute_command', command: 'true' }));
  expect(refusal).toMatchObject({ status: 429, code: 'WORKER_QUEUE_FULL' });
  leave.abort();
  await left;
  while ((await caller.lanes()).waiting.length > 0) await sleep(50);
  writeFileSync(repository.path('go', 'a'), '');
  await blocker;
  expect((await caller.run('ls ran-from-queue', 'a')).exitCode).not.toBe(0);
}, 60_000);

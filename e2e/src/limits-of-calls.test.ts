import { writeFileSync } from 'node:fs';
import { limits } from '@codelanes/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fields } from './rig/caller.js';
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

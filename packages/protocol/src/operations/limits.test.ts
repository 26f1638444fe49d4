import { describe, expect, it } from 'vitest';
import { workspaceToolRequestSchema, workspaceToolResultSchema } from '../operations.js';

const MiB = 1024 * 1024;
const request = (operation: string, fields: object) => ({
  protocolVersion: 1,
  workspaceId: 'primary',
  operation,
  ...fields,
});

interface Bound {
  readonly what: string;
  readonly at: object;
  readonly past: object;
}

const read = (fields: object) => request('read_file', { path: 'f', ...fields });
const search = (fields: object) => request('search_text', { query: 'q', ...fields });
const list = (fields: object) => request('list_files', fields);
const write = (content: string) => request('write_file', { path: 'f', content });
const edit = (fields: object) => request('edit_file', { path: 'f', ...fields });
const command = (fields: object) => request('execute_command', { command: 'true', ...fields });
const edits = (count: number) => Array.from({ length: count }, () => ({ oldText: 'a', newText: 'b' }));

const requestBounds: Bound[] = [
  { what: 'path length', at: read({ path: 'x'.repeat(4096) }), past: read({ path: 'x'.repeat(4097) }) },
  { what: 'least startLine', at: read({ startLine: 1 }), past: read({ startLine: 0 }) },
  { what: 'least maxLines', at: read({ maxLines: 1 }), past: read({ maxLines: 0 }) },
  { what: 'most maxLines', at: read({ maxLines: 500 }), past: read({ maxLines: 501 }) },
  { what: 'query bytes', at: search({ query: 'q'.repeat(2000) }), past: search({ query: 'q'.repeat(2001) }) },
  {
    what: 'query bytes of UTF-8',
    at: search({ query: 'ä'.repeat(1000) }),
    past: search({ query: `${'ä'.repeat(1000)}x` }),
  },
  { what: 'shortest query', at: search({ query: 'q' }), past: search({ query: '' }) },
  { what: 'most matches', at: search({ maxResults: 200 }), past: search({ maxResults: 201 }) },
  { what: 'fewest matches', at: search({ maxResults: 1 }), past: search({ maxResults: 0 }) },
  { what: 'most listed files', at: list({ maxResults: 500 }), past: list({ maxResults: 501 }) },
  { what: 'fewest listed files', at: list({ maxResults: 1 }), past: list({ maxResults: 0 }) },
  { what: 'written bytes', at: write('x'.repeat(MiB)), past: write('x'.repeat(MiB + 1)) },
  { what: 'written bytes of UTF-8', at: write('ä'.repeat(MiB / 2)), past: write(`${'ä'.repeat(MiB / 2)}x`) },
  { what: 'edits of a batch', at: edit({ edits: edits(100) }), past: edit({ edits: edits(101) }) },
  { what: 'fewest edits', at: edit({ edits: edits(1) }), past: edit({ edits: [] }) },
  {
    what: 'bytes of a batch',
    at: edit({ edits: [{ oldText: 'a'.repeat(MiB / 2), newText: 'b'.repeat(MiB / 2) }] }),
    past: edit({ edits: [{ oldText: 'a'.repeat(MiB / 2), newText: 'b'.repeat(MiB / 2 + 1) }] }),
  },
  {
    what: 'bytes of a single edit',
    at: edit({ oldText: 'a', newText: 'b'.repeat(MiB - 1) }),
    past: edit({ oldText: 'a', newText: 'b'.repeat(MiB) }),
  },
  { what: 'old text', at: edit({ oldText: 'a', newText: '' }), past: edit({ oldText: '', newText: '' }) },
  {
    what: 'command bytes',
    at: command({ command: 'x'.repeat(32_768) }),
    past: command({ command: 'x'.repeat(32_769) }),
  },
  {
    what: 'command bytes of UTF-8',
    at: command({ command: 'ä'.repeat(16_384) }),
    past: command({ command: `${'ä'.repeat(16_384)}x` }),
  },
  {
    what: 'longest command time',
    at: command({ timeoutMs: 300_000 }),
    past: command({ timeoutMs: 300_001 }),
  },
  { what: 'shortest command time', at: command({ timeoutMs: 1 }), past: command({ timeoutMs: 0 }) },
  { what: 'most output', at: command({ maxOutputBytes: MiB }), past: command({ maxOutputBytes: MiB + 1 }) },
  { what: 'least output', at: command({ maxOutputBytes: 1 }), past: command({ maxOutputBytes: 0 }) },
  {
    what: 'action name',
    at: command({ environmentAction: { name: 'x'.repeat(64), fingerprint: '0'.repeat(64) } }),
    past: command({ environmentAction: { name: 'x'.repeat(65), fingerprint: '0'.repeat(64) } }),
  },
];

describe('limits of requests', () => {
  it.each(requestBounds)('$what: holds at the bound and not past it', ({ at, past }) => {
    expect(workspaceToolRequestSchema.safeParse(at).error).toBeUndefined();
    expect(workspaceToolRequestSchema.safeParse(past).success).toBe(false);
  });
});

const commandResult = (fields: object) =>
  request('execute_command', {
    exitCode: 0,
    stdout: '',
    stderr: '',
    truncated: false,
    timedOut: false,
    ...fields,
  });
const searchResult = (matches: object[]) => request('search_text', { matches, truncated: false });
const match = (text: string) => ({ path: 'f', line: 1, column: 1, text });
const git = (laneGit: object) => commandResult({ laneGit });

const resultBounds: Bound[] = [
  { what: 'exit code', at: commandResult({ exitCode: 255 }), past: commandResult({ exitCode: 256 }) },
  { what: 'least exit code', at: commandResult({ exitCode: 0 }), past: commandResult({ exitCode: -1 }) },
  {
    what: 'signal length',
    at: commandResult({ exitCode: null, signal: `SIG${'X'.repeat(29)}` }),
    past: commandResult({ exitCode: null, signal: `SIG${'X'.repeat(30)}` }),
  },
  {
    what: 'signal form',
    at: commandResult({ exitCode: null, signal: 'SIGUSR1' }),
    past: commandResult({ exitCode: null, signal: 'sigusr1' }),
  },
  {
    what: 'match text',
    at: searchResult([match('x'.repeat(2000))]),
    past: searchResult([match('x'.repeat(2001))]),
  },
  {
    what: 'matches',
    at: searchResult(Array.from({ length: 200 }, () => match('x'))),
    past: searchResult(Array.from({ length: 201 }, () => match('x'))),
  },
  {
    what: 'listed paths',
    at: request('list_files', { paths: Array<string>(500).fill('f'), truncated: false }),
    past: request('list_files', { paths: Array<string>(501).fill('f'), truncated: false }),
  },
  {
    what: 'bytes written',
    at: request('write_file', { path: 'f', created: true, bytesWritten: MiB }),
    past: request('write_file', { path: 'f', created: true, bytesWritten: MiB + 1 }),
  },
  {
    what: 'branch length',
    at: git({ branch: 'x'.repeat(256), head: null }),
    past: git({ branch: 'x'.repeat(257), head: null }),
  },
  {
    what: 'commit id',
    at: git({ branch: null, head: 'a'.repeat(64) }),
    past: git({ branch: null, head: 'a'.repeat(63) }),
  },
];

describe('limits of results', () => {
  it.each(resultBounds)('$what: holds at the bound and not past it', ({ at, past }) => {
    expect(workspaceToolResultSchema.safeParse(at).error).toBeUndefined();
    expect(workspaceToolResultSchema.safeParse(past).success).toBe(false);
  });
});

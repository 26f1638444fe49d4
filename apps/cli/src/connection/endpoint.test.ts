import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectionFile, writeConnection } from './connection-file.js';
import { resolveEndpoint } from './endpoint.js';
import { defaultStateFolder } from './state-folder.js';
import { ensureTokens, tokenFiles } from './tokens.js';

const url = 'http://127.0.0.1:4180';

let state: string;
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'codelanes-state-'));
});
afterEach(async () => {
  await rm(state, { recursive: true });
});

async function startedHere() {
  const tokens = await ensureTokens(state);
  const { caller, admin } = tokenFiles(state);
  await writeConnection(state, {
    version: 1,
    url,
    workerId: 'local',
    workspaces: ['app'],
    tokenFiles: { caller, admin },
  });
  return tokens;
}

describe('resolveEndpoint', () => {
  it('finds what was started on this machine, with the token of the right kind', async () => {
    const tokens = await startedHere();
    const known = { url, workerId: 'local', workspaces: ['app'] };
    expect(await resolveEndpoint({ state }, 'caller', {})).toEqual({ ...known, token: tokens.caller });
    expect(await resolveEndpoint({ state }, 'admin', {})).toEqual({ ...known, token: tokens.admin });
  });

  it('lets flags win over variables, and variables over what was started here', async () => {
    await startedHere();
    const file = join(state, 'other-token');
    await writeFile(file, 'from-file\n');
    const variables = {
      CODELANES_URL: 'https://variable.example.org',
      CODELANES_TOKEN: 'from-variable',
      CODELANES_WORKER: 'w1',
    };
    expect(await resolveEndpoint({ state }, 'caller', variables)).toEqual({
      url: 'https://variable.example.org',
      token: 'from-variable',
      workerId: 'w1',
      workspaces: [],
    });
    const flags = { state, url: 'https://flag.example.org', tokenFile: file, worker: 'w2' };
    expect(await resolveEndpoint(flags, 'caller', variables)).toMatchObject({
      url: 'https://flag.example.org',
      token: 'from-file',
      workerId: 'w2',
    });
  });

  it('never sends a token of this machine to another address', async () => {
    await startedHere();
    const elsewhere = { state, url: 'https://elsewhere.example.org', worker: 'local' };
    await expect(resolveEndpoint(elsewhere, 'caller', {})).rejects.toThrow('No token');
  });

  it('says how to start one where nothing is known', async () => {
    await expect(resolveEndpoint({ state }, 'caller', {})).rejects.toMatchObject({
      next: expect.stringContaining('codelanes up') as string,
    });
  });

  it.each([
    ['is no address', { url: 'notaurl' }, 'no address'],
    ['is without a worker', { url: 'https://b.example.org' }, 'Which worker'],
  ])('names what is wrong first where the flag for the bridge %s', async (_, flags, what) => {
    await expect(resolveEndpoint({ state, ...flags }, 'caller', {})).rejects.toThrow(what);
  });

  it('says so where the facts cannot be understood', async () => {
    await writeFile(connectionFile(state), '{"version": 2}');
    await expect(resolveEndpoint({ state }, 'caller', {})).rejects.toThrow('cannot be understood');
  });
});

describe('tokens and facts', () => {
  it('are kept from one start to the next, different from each other, and readable by their owner only', async () => {
    const tokens = await startedHere();
    expect(await ensureTokens(state)).toEqual(tokens);
    expect(new Set(Object.values(tokens)).size).toBe(3);
    const files = [...Object.values(tokenFiles(state)), connectionFile(state)];
    const modes = await Promise.all(files.map(async (file) => (await stat(file)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
  });

  it('are the same for two processes that make them at once', async () => {
    const [one, other] = await Promise.all([ensureTokens(state), ensureTokens(state)]);
    expect(one).toEqual(other);
  });
});

describe('defaultStateFolder', () => {
  it('follows the XDG rules, which ignore a relative path', () => {
    expect(defaultStateFolder({ XDG_STATE_HOME: '/x', HOME: '/h' })).toBe('/x/codelanes');
    expect(defaultStateFolder({ XDG_STATE_HOME: 'x', HOME: '/h' })).toBe('/h/.local/state/codelanes');
  });
});

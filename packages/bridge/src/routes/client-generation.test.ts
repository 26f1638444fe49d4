import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandBody, commandIn, execute } from '../server/testing/requests.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

let bridge: TestBridge;
let worker: TestWorker;

beforeEach(async () => {
  bridge = await TestBridge.start();
  worker = await TestWorker.registered(bridge);
});

afterEach(async () => {
  await bridge.close();
});

describe('the generation of a client', () => {
  const laneGit = { branch: 'topic', head: 'a'.repeat(40) };

  it.each([
    { clientGeneration: 'A', own: false, told: false },
    { clientGeneration: 'B', own: false, told: true },
    { clientGeneration: 'A', own: true, told: true },
  ] as const)('decides what of a result is told: %o', async ({ clientGeneration, own, told }) => {
    const other = await TestBridge.start({ clientGeneration });
    try {
      const speaking = await TestWorker.registered(other);
      const headers = own ? { 'x-codelanes-client': '1' } : {};
      const answer = execute(other, commandIn('a'), { headers });
      const assignment = await speaking.next();
      await speaking.settle(assignment, {
        status: 'fulfilled',
        result: {
          protocolVersion: 1,
          operation: 'execute_command',
          workspaceId: 'primary',
          exitCode: 0,
          stdout: '',
          stderr: '',
          truncated: false,
          timedOut: false,
          laneGit,
        },
      });
      const { status, json } = await answer;
      expect(status).toBe(200);
      expect(json['laneGit']).toEqual(told ? laneGit : undefined);
    } finally {
      await other.close();
    }
  });

  it.each([
    ['A', {}, 'INVALID_PATH'],
    ['own', { 'x-codelanes-client': '1' }, 'NOT_FOUND'],
  ])('decides the code of an error: %s', async (_generation, headers, code) => {
    const answer = execute(bridge, commandBody(), { headers });
    const error = { code: 'NOT_FOUND' as const, message: 'There is no such folder.' };
    await worker.settle(await worker.next(), { status: 'rejected', error });
    expect(await answer).toMatchObject({ status: 422, json: { code } });
  });
});

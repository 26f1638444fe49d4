import { setTimeout as delay } from 'node:timers/promises';
import { lanesViewSchema } from '@codelanes/protocol';
import type { Answer, Sending, TestBridge } from './test-bridge.js';

/** The body of a command in the lane that the fields name. */
export function commandBody(fields: object = {}): object {
  return {
    protocolVersion: 1,
    operation: 'execute_command',
    workspaceId: 'primary',
    command: 'true',
    ...fields,
  };
}

/** A command in a worktree lane. */
export function commandIn(worktree: string, fields: object = {}): object {
  return commandBody({ worktree, ...fields });
}

/** Sends a call as LibreChat does. */
export function execute(bridge: TestBridge, body: unknown, sending: Sending = {}): Promise<Answer> {
  return bridge.send('/v1/workspace-tools/execute', { as: 'caller', body, ...sending });
}

export function waiting(ms: number): Readonly<Record<string, string>> {
  return { 'x-librechat-workspace-queue-wait-ms': String(ms) };
}

/** Resolves when that many calls wait at the worker. */
export async function untilQueued(bridge: TestBridge, count: number, workerId = 'worker-1'): Promise<void> {
  const until = performance.now() + 30_000;
  while (performance.now() < until) {
    const { json } = await bridge.send(`/v1/bridge/workers/${workerId}/lanes`, { as: 'admin' });
    if (lanesViewSchema.parse(json).waiting.length === count) return;
    await delay(5);
  }
  throw new Error(`There were never ${count} waiting calls.`);
}

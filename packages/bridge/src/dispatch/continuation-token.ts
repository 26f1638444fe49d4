import { createHash, timingSafeEqual } from 'node:crypto';
import type { PausedCall } from '../scheduler/store.js';

const tokenPattern = /^(?<callId>[0-9a-f]{32})\.[A-Za-z0-9_-]{43}$/u;

/**
 * Names one pause of one call of one principal. Every bridge of a store can tell it from what the store has of the pause;
 * tool calls are numbered through over all pauses of a script, so that no two pauses have the same.
 */
export function continuationTokenOf({ callId, principal, toolCalls }: PausedCall): string {
  const pause = JSON.stringify(['codelanes pause', callId, principal, ...toolCalls.map(({ id }) => id)]);
  return `${callId}.${createHash('sha256').update(pause).digest('base64url')}`;
}

/** The call that a token is for, or `undefined` where it is none. */
export function callIdOfToken(token: string): string | undefined {
  return tokenPattern.exec(token)?.groups?.['callId'];
}

/** Whether a token is the one of that pause. */
export function isTokenOf(token: string, pause: PausedCall): boolean {
  const [sent, known] = [token, continuationTokenOf(pause)].map((text) => Buffer.from(text));
  return sent !== undefined && known?.length === sent.length && timingSafeEqual(sent, known);
}

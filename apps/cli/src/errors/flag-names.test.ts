import { startBridge } from '@codelanes/bridge';
import { expect, it } from 'vitest';
import { withFlagNames } from './flag-names.js';

const tokens = { callers: ['c'.repeat(40)], admin: 'a'.repeat(40), worker: 'w'.repeat(40) };

async function refusal(options: object): Promise<string> {
  const error: unknown = await startBridge({ tokens, ...options }).catch((thrown: unknown) => thrown);
  return withFlagNames((error as Error).message);
}

it.each([
  ['--redis-url', { store: { kind: 'redis', url: 'http://127.0.0.1' } }],
  ['--redis-url', { store: { kind: 'redis', url: ['redis://127.0.0.1', 'http://127.0.0.1'] } }],
  ['--redis-prefix', { store: { kind: 'redis', url: 'redis://127.0.0.1', prefix: 'a{b}' } }],
  ['--jwt-keys', { jwt: { keys: { url: 'http://keys.example.org' } } }],
  ['option drainMs', { drainMs: -1 }],
])('a wrong %s is told by the name that the operator gave it', async (name, options) => {
  expect(await refusal(options)).toContain(`The bridge cannot start: ${name}: `);
});

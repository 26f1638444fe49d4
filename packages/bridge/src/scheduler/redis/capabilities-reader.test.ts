import { expect, it } from 'vitest';
import { testCapabilities } from '../../server/testing/test-worker.js';
import { CapabilitiesReader } from './capabilities-reader.js';

const capabilities = testCapabilities();
const text = JSON.stringify(capabilities);

it('parses the text of a worker once, and again when it has changed', () => {
  const reader = new CapabilitiesReader();
  const known = reader.read('a', text);
  expect(known.capabilities).toEqual(capabilities);
  expect(reader.read('a', text)).toBe(known);
  const changed = JSON.stringify({ ...capabilities, sandboxProfile: 'another' });
  expect(reader.read('a', changed).capabilitiesId).not.toBe(known.capabilitiesId);
});

it('keeps what the latest thousand workers can do', () => {
  const reader = new CapabilitiesReader();
  const [first, second] = [reader.read('first', text), reader.read('second', text)];
  for (let others = 0; others < 999; others += 1) reader.read(`other-${others}`, text);
  expect(reader.read('second', text)).toBe(second);
  expect(reader.read('first', text)).not.toBe(first);
});

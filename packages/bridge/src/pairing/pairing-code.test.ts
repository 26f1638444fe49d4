import { pairingCodeSchema } from '@codelanes/protocol';
import { expect, it } from 'vitest';
import { newPairingCode } from './pairing-code.js';

it('is a code that no command takes for a flag', () => {
  const codes = Array.from({ length: 2_000 }, newPairingCode);
  expect(codes.filter((code) => code.startsWith('-') || !pairingCodeSchema.safeParse(code).success)).toEqual(
    [],
  );
  expect(new Set(codes).size).toBe(codes.length);
});

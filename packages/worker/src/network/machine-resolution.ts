import { lookup } from 'node:dns/promises';
import type { Resolution } from './admission.js';
import { isPublicAddress } from './public-address.js';

/** Names as this machine resolves them, and public addresses only. */
export const machineResolution: Resolution = {
  lookup: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  permits: isPublicAddress,
};

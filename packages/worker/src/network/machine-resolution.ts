import { lookup } from 'node:dns/promises';
import type { Resolution } from './admission.js';
import { isPublicAddress } from './public-address.js';
import { TranslatedAddresses } from './translated-addresses.js';

const translated = new TranslatedAddresses();

/** Names as this machine resolves them, and public addresses only, whatever they are translated to on their way. */
export const machineResolution: Resolution = {
  lookup: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  permits: (address) => isPublic(address, translated),
};

/**
 * Whether an address is public, and so is the one that it carries to a translator of this network. Rejects where nobody
 * can say whether there is a translator.
 */
export async function isPublic(address: string, translator: TranslatedAddresses): Promise<boolean> {
  if (!isPublicAddress(address)) return false;
  const carried = await translator.carriedBy(address);
  return carried === undefined || isPublicAddress(carried);
}

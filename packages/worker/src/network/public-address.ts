import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Addresses that look public, but by which a cloud's machine talks to the host that it runs on. */
const cloudHosts: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Whether an address is one of the public internet, and none of this machine's own. It is a list of what is
 * allowed: loopback, private, link-local, shared, multicast, documentation and reserved ranges are not on it, nor is
 * any IPv6 form that carries an IPv4 address (mapped, translated, 6to4, Teredo), nor anything that is no address.
 */
export function isPublicAddress(address: string): boolean {
  return isOfPublicRange(address) && !cloudHosts.has(address) && !isOwnAddress(address);
}

function isOfPublicRange(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return ipaddr.IPv4.parse(address).range() === 'unicast';
    case 6: {
      if (!ipaddr.IPv6.isValid(address)) return false;
      const parsed = ipaddr.IPv6.parse(address);
      // Of all IPv6 only 2000::/3 is given out for the public internet.
      return parsed.range() === 'unicast' && parsed.match(ipaddr.IPv6.parse('2000::'), 3);
    }
    default:
      return false;
  }
}

/** What listens on every interface of this machine could be reached by its public address, too. */
function isOwnAddress(address: string): boolean {
  const sought = ipaddr.parse(address).toNormalizedString();
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .some((own) => isIP(own.address) !== 0 && ipaddr.parse(own.address).toNormalizedString() === sought);
}

import { defaultPorts, patternAllows, type OpenNetwork } from '../environment/network-policy.js';
import { NetworkRefusal } from './network-refusal.js';
import { nameOf, type Target } from './target.js';

/** All addresses of a name, in the order in which they should be tried. */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** How names become addresses, and which of them may be connected to. Replaced in tests only. */
export interface Resolution {
  readonly lookup: Lookup;
  /** Rejects where it cannot be told at the moment; the address is not connected to then. */
  readonly permits: (address: string) => boolean | Promise<boolean>;
}

/**
 * Decides about one connection: by name and port first, so that nobody is even asked about a name that is not
 * allowed; then it is resolved, once. What is returned are the addresses that may be connected to, at least one; to
 * connect to anything else, or to resolve the name again, would void the check.
 *
 * @throws {NetworkRefusal}
 */
export async function admit(
  target: Target,
  policy: OpenNetwork,
  { lookup, permits }: Resolution,
): Promise<readonly string[]> {
  refuseByName(target, policy);
  const addresses = target.isAddress ? [target.host] : await resolve(target, lookup);
  const judged = await Promise.allSettled(addresses.map(async (address) => permits(address)));
  const permitted = addresses.filter((_, index) => {
    const verdict = judged[index];
    return verdict?.status === 'fulfilled' && verdict.value;
  });
  if (permitted.length > 0) return permitted;
  if (judged.some(({ status }) => status === 'rejected')) {
    throw new NetworkRefusal(
      502,
      `${nameOf(target)} cannot be reached: the name service did not say whether this network translates IPv6 addresses, so none is connected to. Try again.`,
    );
  }
  throw new NetworkRefusal(
    403,
    `${nameOf(target)} is refused: it leads to an address that is not public (loopback, private, link-local or reserved). No setting opens these.`,
  );
}

function refuseByName(target: Target, policy: OpenNetwork): void {
  const name = nameOf(target);
  switch (policy.kind) {
    case 'allowed':
      if (target.isAddress) {
        throw new NetworkRefusal(403, `${name} is refused: an address cannot be allowed, only a domain can.`);
      }
      if (policy.domains.some((entry) => patternAllows(entry, target.host, target.port))) return;
      throw new NetworkRefusal(
        403,
        `${name} is not on the list of allowed domains. ${howToAllow(target, policy)}`,
      );
    case 'public':
      if (defaultPorts.includes(target.port)) return;
      throw new NetworkRefusal(
        403,
        `${name} is refused: a public network opens the ports ${defaultPorts.join(' and ')} only. ${howToAllow(target, policy)}`,
      );
  }
}

function howToAllow({ host, port, isAddress }: Target, { kind, repository }: OpenNetwork): string {
  if (isAddress) return 'An address cannot be allowed there, only a domain can.';
  if (!host.includes('.')) return 'A name without a dot cannot be allowed.';
  const entry = defaultPorts.includes(port) ? host : `${host}:${port}`;
  const owner = repository === undefined ? '' : ` of the repository "${repository}"`;
  const change = {
    allowed: `add "${entry}" to \`network: allow:\`${owner}`,
    public: `put \`network: allow:\` with "${entry}", and with every other domain that is needed, in place of \`network: public\`${owner}`,
  }[kind];
  return `The operator can allow it: ${change} in the environment's definition and restart the worker.`;
}

async function resolve(target: Target, lookup: Lookup): Promise<readonly string[]> {
  try {
    return await lookup(target.host);
  } catch {
    // The resolver's own words would tell about the host's network.
    throw new NetworkRefusal(502, `${nameOf(target)} cannot be reached: its name could not be resolved.`);
  }
}

import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A name that every translator answers for, and the IPv4 addresses that it has (RFC 7050). */
const wellKnownName = 'ipv4only.arpa';
const wellKnownAddresses: ReadonlySet<string> = new Set(['192.0.0.170', '192.0.0.171']);
/** What a resolver says of a name that has no such address, or does not exist: there is no translator. */
const meaningNone: ReadonlySet<string> = new Set(['ENODATA', 'ENOTFOUND']);
/** How long what was found counts, in milliseconds. */
const keptMs = 10 * 60_000;
/** Where the four bytes of the IPv4 address lie for each length of a prefix, in bytes; byte 8 is none of them (RFC 6052). */
const places: ReadonlyMap<number, readonly number[]> = new Map([
  [4, [4, 5, 6, 7]],
  [5, [5, 6, 7, 9]],
  [6, [6, 7, 9, 10]],
  [7, [7, 9, 10, 11]],
  [8, [9, 10, 11, 12]],
  [12, [12, 13, 14, 15]],
]);

interface Prefix {
  readonly bytes: readonly number[];
  readonly place: readonly number[];
}

/** All IPv6 addresses of a name; rejects with the code of the resolver where it has none or nobody answers. */
export type ResolveIPv6 = (name: string) => Promise<readonly string[]>;

/**
 * The IPv4 addresses that a translator (NAT64) of this machine's network carries in IPv6 ones. A prefix of the
 * network's own looks public, and leads to every IPv4 address that the translator reaches, private ones included.
 */
export class TranslatedAddresses {
  readonly #resolve: ResolveIPv6;
  readonly #now: () => number;
  #found: { readonly until: number; readonly prefixes: Promise<readonly Prefix[]> } | undefined;

  constructor(resolve: ResolveIPv6 = resolveQuickly, now: () => number = () => performance.now()) {
    this.#resolve = resolve;
    this.#now = now;
  }

  /**
   * The IPv4 address in an IPv6 one; `undefined` in every other address, and where there is no translator.
   *
   * @throws what the resolver answered where that leaves it open whether there is one; the next call asks again.
   */
  async carriedBy(address: string): Promise<string | undefined> {
    if (isIP(address) !== 6 || !ipaddr.IPv6.isValid(address)) return undefined;
    const bytes = ipaddr.IPv6.parse(address).toByteArray();
    for (const prefix of await this.#prefixes()) {
      if (prefix.bytes.every((byte, index) => bytes[index] === byte)) return carriedAt(bytes, prefix.place);
    }
    return undefined;
  }

  #prefixes(): Promise<readonly Prefix[]> {
    if (this.#found === undefined || this.#found.until < this.#now()) {
      const found = { until: this.#now() + keptMs, prefixes: this.#find() };
      found.prefixes.catch(() => {
        if (this.#found === found) this.#found = undefined;
      });
      this.#found = found;
    }
    return this.#found.prefixes;
  }

  async #find(): Promise<readonly Prefix[]> {
    try {
      return (await this.#resolve(wellKnownName)).flatMap(prefixesOf);
    } catch (error) {
      if (error instanceof Error && 'code' in error && meaningNone.has(String(error.code))) return [];
      throw error;
    }
  }
}

function prefixesOf(address: string): readonly Prefix[] {
  if (!ipaddr.IPv6.isValid(address)) return [];
  const bytes = ipaddr.IPv6.parse(address).toByteArray();
  return [...places]
    .filter(([, place]) => wellKnownAddresses.has(carriedAt(bytes, place)))
    .map(([length, place]) => ({ bytes: bytes.slice(0, length), place }));
}

function carriedAt(bytes: readonly number[], place: readonly number[]): string {
  return place.map((index) => bytes[index] ?? 0).join('.');
}

/** A connection waits for the answer. */
function resolveQuickly(name: string): Promise<readonly string[]> {
  return new Resolver({ timeout: 1_000, tries: 1 }).resolve6(name);
}

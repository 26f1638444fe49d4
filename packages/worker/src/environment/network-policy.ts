import { repositoryPathSchema } from '@codelanes/protocol';
import { z } from 'zod';
import { closed } from './fields.js';

/** The ports that a pattern without one opens: what `http:` and `https:` use by themselves. */
export const defaultPorts: readonly number[] = [80, 443];

/** One entry of an allow-list. */
export interface DomainPattern {
  /** Lower-case ASCII name of at least two labels, without `*.` and without a final dot; never an address. */
  readonly host: string;
  /** `*.host`: every name beneath the host, at any depth, and not the host itself. */
  readonly subdomains: boolean;
  /** The ports that the entry opens. */
  readonly ports: readonly number[];
}

/**
 * What the network of a call may reach. Whatever the kind, loopback, link-local, private and metadata addresses are
 * refused after resolution, and the host's network namespace is never shared.
 */
export type NetworkPolicy = { readonly kind: 'none' } | OpenNetwork;

/** A network that reaches something, and so has a proxy. */
export type OpenNetwork = (
  { readonly kind: 'allowed'; readonly domains: readonly DomainPattern[] } | { readonly kind: 'public' }
) & {
  /** The repository whose own `network` it is, for those who are refused; undefined: the environment's. */
  readonly repository?: string | undefined;
};

/** What a definition that says nothing about the network has. */
export const noNetwork: NetworkPolicy = { kind: 'none' };

const maxHostLength = 253;
const maxPort = 65_535;
const maxDomains = 256;
const allowForm = `expected a list of 1 to ${maxDomains} domains`;
const expected = 'a domain like example.org, *.example.org or example.org:8443';
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
// The last label begins with a letter, so that no form of an IPv4 address (1.2.3.4, 0x7f.1) can be meant.
const topLabel = '[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const pattern = new RegExp(`^(\\*\\.)?((?:${label}\\.)+${topLabel})(?::([1-9][0-9]{0,4}))?$`);

/** Reads one entry of an allow-list. */
export const domainPatternSchema = z
  .string(`expected ${expected}`)
  .regex(pattern, { error: ({ input }) => patternFault(String(input)) })
  .transform((text, context): DomainPattern => {
    const [, star, host = '', port] = pattern.exec(text) ?? [];
    if (host.length > maxHostLength) {
      context.addIssue(`expected a domain of at most ${maxHostLength} characters`);
    }
    if (port !== undefined && Number(port) > maxPort) {
      context.addIssue(`expected a port from 1 to ${maxPort} behind the colon`);
    }
    return {
      host: host.toLowerCase(),
      subdomains: star !== undefined,
      ports: port === undefined ? defaultPorts : [Number(port)],
    };
  });

function patternFault(text: string): string {
  if (text.includes('/')) return `expected ${expected}, without scheme and path`;
  if (/^[\d.]+(?::\d*)?$|[[\]]|:.*:/u.test(text)) return `expected ${expected}; an address cannot be allowed`;
  if (!text.includes('.')) return `expected ${expected}; a name without a dot is none`;
  return `expected ${expected}`;
}

/** Whether an entry opens a port of a host. `host` is a name as a client asked for it, not an address. */
export function patternAllows(entry: DomainPattern, host: string, port: number): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  const named = entry.subdomains ? name.endsWith(`.${entry.host}`) : name === entry.host;
  return named && entry.ports.includes(port);
}

/** Reads `network:` of an environment or a repository: `none`, `public`, or `allow:` with a list of domains. */
export const networkPolicySchema = z
  .union(
    [
      z.enum(['none', 'public']),
      closed(
        {
          allow: z
            .array(domainPatternSchema, allowForm)
            .min(1, allowForm)
            .max(maxDomains, allowForm)
            .describe(
              'example.org, *.example.org (all beneath it), example.org:8443; ports 80 and 443 by default.',
            ),
        },
        'an allow-list',
      ),
    ],
    {
      error: ({ input }) =>
        input === 'trusted-vm'
          ? 'expected public, which is what the preset trusted-vm is called here'
          : 'expected none, public, or allow: with a list of domains',
    },
  )
  .transform((written): NetworkPolicy => {
    if (typeof written !== 'string') return { kind: 'allowed', domains: written.allow };
    return { kind: written };
  });

const port = z.int().min(1).max(65_535);

/** A policy as `networkPolicySchema` made it, when it is handed on as data. */
export const loadedNetworkPolicySchema: z.ZodType<NetworkPolicy> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({ kind: z.literal('public'), repository: repositoryPathSchema.optional() }),
  z.strictObject({
    kind: z.literal('allowed'),
    repository: repositoryPathSchema.optional(),
    domains: z.array(
      z.strictObject({ host: z.string().min(1), subdomains: z.boolean(), ports: z.array(port).min(1) }),
    ),
  }),
]);

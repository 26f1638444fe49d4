import { join } from 'node:path';
import { isLoopbackHost } from '@codelanes/protocol';
import { CliError } from '../errors/cli-error.js';

export interface SecurityFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly jwtKeys?: string;
  readonly jwtIssuer?: string;
  readonly jwtAudience?: string;
  readonly requireBinding?: boolean;
}

/**
 * Whom a bridge lets in, and over what, as its options have it.
 *
 * @throws CliError where flags contradict each other.
 */
export function securityOf(flags: SecurityFlags, store: 'memory' | 'redis', stateFolder: string) {
  const { requireBinding = false } = flags;
  return {
    ...tlsOf(flags),
    ...jwtOf(flags),
    // With Redis they are kept there, where every bridge finds them.
    pairing:
      store === 'redis' ? { requireBinding } : { requireBinding, file: join(stateFolder, 'pairings.json') },
  };
}

/** @throws CliError where tokens would cross a network in clear text and nobody asked for that. */
export function refuseClearText({
  host,
  tlsCert,
  insecureHttp = false,
}: {
  readonly host: string;
  readonly tlsCert?: string;
  readonly insecureHttp?: boolean;
}): void {
  if (insecureHttp || tlsCert !== undefined || isLoopbackHost(host)) return;
  throw new CliError(
    `A bridge at ${host} would take tokens in clear text over a network.`,
    'Give --tls-cert and --tls-key, or let a TLS proxy stand before it; or say --insecure-http where the network is trusted.',
  );
}

function tlsOf({ tlsCert: cert, tlsKey: key }: SecurityFlags) {
  if (cert === undefined && key === undefined) return {};
  if (cert !== undefined && key !== undefined) return { tls: { cert, key } };
  throw new CliError('A certificate is of no use without its key.', 'Give both --tls-cert and --tls-key.');
}

function jwtOf({ jwtKeys, jwtIssuer: issuer, jwtAudience: audience }: SecurityFlags) {
  if (jwtKeys === undefined) {
    if (issuer === undefined && audience === undefined) return {};
    throw new CliError('Without keys no signed token is taken.', 'Add --jwt-keys FILE or URL.');
  }
  const keys = /^https?:/.test(jwtKeys) ? { url: jwtKeys } : { file: jwtKeys };
  return {
    jwt: {
      keys,
      ...(issuer === undefined ? {} : { issuer }),
      ...(audience === undefined ? {} : { audience }),
    },
  };
}

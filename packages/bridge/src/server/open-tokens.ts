import type { FastifyBaseLogger } from 'fastify';
import { SignedCallers } from '../auth/jwt/signed-callers.js';
import { StaticTokens } from '../auth/static-tokens.js';
import { Tokens } from '../auth/tokens.js';
import type { CompiledBridgeOptions } from './bridge-options.js';
import { openKeys } from './open-keys.js';

/**
 * The tokens that the operator lets in.
 *
 * @param closed Aborted when the bridge has ended.
 * @throws Error where a file of keys cannot be used.
 */
export async function openTokens(
  { tokens, jwt }: Pick<CompiledBridgeOptions, 'tokens' | 'jwt'>,
  log: FastifyBaseLogger,
  closed: AbortSignal,
): Promise<Tokens> {
  const fixed = new StaticTokens(tokens);
  if (jwt === undefined) return new Tokens(fixed);
  return new Tokens(fixed, new SignedCallers(await openKeys(jwt, log, closed), jwt));
}

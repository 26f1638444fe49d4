import type { FastifyBaseLogger } from 'fastify';
import { openKeySource } from '../auth/jwt/key-source.js';
import { SignedCallers } from '../auth/jwt/signed-callers.js';
import { StaticTokens } from '../auth/static-tokens.js';
import { Tokens } from '../auth/tokens.js';
import type { CompiledBridgeOptions } from './bridge-options.js';

/**
 * The tokens that the operator lets in.
 *
 * @throws Error where a file of keys cannot be used.
 */
export async function openTokens(
  { tokens, jwt }: Pick<CompiledBridgeOptions, 'tokens' | 'jwt'>,
  log: FastifyBaseLogger,
): Promise<Tokens> {
  const fixed = new StaticTokens(tokens);
  if (jwt === undefined) return new Tokens(fixed);
  const keys = await openKeySource(jwt.keys, (error) => {
    log.warn({ err: error }, 'callers with a signed token are not let in until their keys can be loaded');
  });
  return new Tokens(fixed, new SignedCallers(keys, jwt));
}

import { createHash, timingSafeEqual } from 'node:crypto';
import { workerIdSchema } from '@codelanes/protocol';
import { z } from 'zod';

const textSchema = z.string().min(1).max(256);

/** What LibreChat says of a caller; what it says beside that is left out. */
export const callerClaimsSchema = z.object({
  sub: textSchema,
  tenant_id: textSchema,
  role: z.string().max(256),
  principal_source: z.enum(['librechat_jwt', 'openid_reuse']),
  jti: textSchema,
  iat: z.number(),
  nbf: z.number(),
  exp: z.number(),
  org_id: z.string().max(256).optional(),
  service_id: z.string().max(256).optional(),
  chc_user_id: z.string().max(256).optional(),
  auth_context_hash: z.string().regex(/^[0-9a-f]{64}$/),
  code_worker_id: workerIdSchema.optional(),
});
export type CallerClaims = z.infer<typeof callerClaimsSchema>;

type Context = Pick<
  CallerClaims,
  'chc_user_id' | 'org_id' | 'principal_source' | 'role' | 'service_id' | 'sub' | 'tenant_id'
>;

/** SHA-256 of the JSON of who the caller is: these keys in this order, and what is left out as an empty text. */
export function authContextHash(context: Context): string {
  const { chc_user_id = '', org_id = '', principal_source, role, service_id = '', sub, tenant_id } = context;
  const canonical = { chc_user_id, org_id, principal_source, role, service_id, sub, tenant_id };
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex');
}

/** Whether the claims are those that the hash among them was made of. */
export function hasOwnHash(claims: CallerClaims): boolean {
  return timingSafeEqual(Buffer.from(authContextHash(claims)), Buffer.from(claims.auth_context_hash));
}

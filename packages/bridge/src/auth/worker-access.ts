import type { Binding } from '@codelanes/protocol';
import type { Standing } from '../pairing/pairing-record.js';
import type { Identity } from './identity.js';

/**
 * Whether a caller may use a worker. A worker without a binding works for everybody whom the bridge lets in, one that
 * was revoked for nobody.
 */
export function mayUse(identity: Identity, workerId: string, standing: Standing | undefined): boolean {
  if (identity.kind === 'admin') return true;
  if (identity.user !== undefined && isElsewhere(identity.user.workerId, workerId)) return false;
  if (standing === undefined) return true;
  if (standing.kind === 'revoked') return false;
  return standing.binding === undefined || isWithin(identity, workerId, standing.binding);
}

/** A token that names a worker is for that worker. */
function isElsewhere(named: string | undefined, workerId: string): boolean {
  return named !== undefined && named !== workerId;
}

/** A static token is of no tenant. Tokens tell no groups: there LibreChat has looked, and names the worker. */
function isWithin({ user }: Identity, workerId: string, { tenantId, principal }: Binding): boolean {
  if (user?.tenantId !== tenantId) return false;
  switch (principal.type) {
    case 'deployment':
    case 'tenant':
      return true;
    case 'user':
      return user.userId === principal.id;
    case 'role':
      return user.role === principal.id;
    case 'group':
      return user.workerId === workerId;
  }
}

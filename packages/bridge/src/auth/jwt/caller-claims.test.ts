import { describe, expect, it } from 'vitest';
import { authContextHash } from './caller-claims.js';

describe('auth_context_hash', () => {
  it('is SHA-256 of the JSON with sorted keys and empty texts for what is missing', () => {
    // echo -n '{"chc_user_id":"","org_id":"","principal_source":"librechat_jwt","role":"USER","service_id":"","sub":"u","tenant_id":"t"}' | sha256sum
    expect(
      authContextHash({ tenant_id: 't', sub: 'u', role: 'USER', principal_source: 'librechat_jwt' }),
    ).toBe('a6570139ec3da9a340f44eb35159c86f5872f48945ea152d267c839bf0d38821');
  });

  it.each(['sub', 'tenant_id', 'role', 'org_id', 'service_id', 'chc_user_id'])('depends on %s', (claim) => {
    const context = { tenant_id: 't', sub: 'u', role: 'USER', principal_source: 'librechat_jwt' } as const;
    expect(authContextHash({ ...context, [claim]: 'other' })).not.toBe(authContextHash(context));
  });
});

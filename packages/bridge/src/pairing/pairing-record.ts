import { bindingSchema, CodelanesError, sha256Schema } from '@codelanes/protocol';
import { z } from 'zod';

/** Milliseconds since 1970. */
const instant = z.int().min(0);

const offerSchema = z.strictObject({
  codeDigest: sha256Schema,
  binding: bindingSchema.optional(),
  expiresAt: instant,
});

const credentialRecordSchema = z.strictObject({ digest: sha256Schema, expiresAt: instant });

const enrolmentSchema = z.strictObject({
  kind: z.literal('enrolled'),
  /** Another one after every pairing. */
  id: z.string(),
  /** When it was paired; 0 in records of bridges that did not note it. */
  at: instant.default(0),
  /** Ed25519, as PEM. */
  publicKey: z.string(),
  binding: bindingSchema.optional(),
  /** The newest last. The one before it stays, as the reply with the newest may have been lost. */
  credentials: z.array(credentialRecordSchema).min(1).max(2),
});
export type Enrolment = z.infer<typeof enrolmentSchema>;

/** A worker that was sent away: its id comes back by a new pairing only. */
const revokedSchema = z.strictObject({ kind: z.literal('revoked'), at: instant });

const standingSchema = z.discriminatedUnion('kind', [enrolmentSchema, revokedSchema]);
export type Standing = z.infer<typeof standingSchema>;

const recordSchema = z.strictObject({
  offer: offerSchema.optional(),
  standing: standingSchema.optional(),
});
/** What is stored of a worker's pairing; of secrets only digests. */
export type PairingRecord = z.infer<typeof recordSchema>;

export function textOfRecord(record: PairingRecord): string {
  return JSON.stringify(record);
}

/** @throws CodelanesError `STORE_UNAVAILABLE` where the store holds something else. */
export function recordOfText(text: string | undefined): PairingRecord {
  if (text === undefined) return {};
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new CodelanesError('STORE_UNAVAILABLE', 'The record of a pairing cannot be understood.', {
      cause: error,
    });
  }
}

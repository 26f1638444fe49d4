import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Directory } from '../files/directory.js';
import { writeAtomically } from '../files/write.js';
import { auditCheckout, type AuditResult } from '../sandbox/audit/audit.js';
import { snapshotSchema, takeSnapshot } from '../sandbox/audit/snapshot.js';
import type { CheckoutLane } from '../sandbox/lane-facts.js';

const fileName = 'checkout-snapshot.json';

/** The audit of one call at a checkout; its snapshot is on disk for as long as the call may run. */
export interface CheckoutAudit {
  /** Only when nothing of the call runs any more. */
  finish: () => AuditResult;
}

/** Takes the snapshot and syncs it, before anything of the call starts. */
export async function beginAudit(stateDir: string, lane: CheckoutLane): Promise<CheckoutAudit> {
  const snapshot = takeSnapshot(lane);
  const folder = Directory.open(stateDir);
  try {
    const bytes = Buffer.from(JSON.stringify(snapshot));
    await writeAtomically(folder, fileName, bytes, { create: 'either', mode: 0o600 });
  } finally {
    folder.close();
  }
  return {
    finish: () => {
      const result = auditCheckout(snapshot);
      rmSync(join(stateDir, fileName), { force: true });
      return result;
    },
  };
}

/** The audit of a call that a crash cut short, or `undefined` where none was. */
export function finishInterruptedAudit(stateDir: string): AuditResult | undefined {
  const file = join(stateDir, fileName);
  if (!existsSync(file)) return undefined;
  const result = auditCheckout(snapshotSchema.parse(JSON.parse(readFileSync(file, 'utf8'))));
  rmSync(file, { force: true });
  return result;
}

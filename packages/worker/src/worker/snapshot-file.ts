import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Directory } from '../files/directory.js';
import { writeAtomically } from '../files/write.js';
import { snapshotSchema, type Snapshot } from '../sandbox/audit/snapshot.js';

/*
 * How a checkout stood before the call that may run in it now, in the state folder of its tree: for as long as the
 * file is there, an audit is owed. A checkout runs one call at a time.
 */
const fileName = 'checkout-snapshot.json';

/** Resolves when the snapshot is on disk. */
export async function keepSnapshot(stateDir: string, snapshot: Snapshot): Promise<void> {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const folder = Directory.open(stateDir);
  try {
    const bytes = Buffer.from(JSON.stringify(snapshot));
    await writeAtomically(folder, fileName, bytes, { create: 'either', mode: 0o600 });
  } finally {
    folder.close();
  }
}

/** The snapshot of a call whose audit is still owed. */
export function keptSnapshot(stateDir: string): Snapshot | undefined {
  const file = join(stateDir, fileName);
  return existsSync(file) ? snapshotSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

/** The audit was done, or nothing ran. */
export function forgetSnapshot(stateDir: string): void {
  rmSync(join(stateDir, fileName), { force: true });
}

import { statSync } from 'node:fs';
import type { LoadedDefinition } from '../environment/load-definition.js';
import { defaultLifecycle } from '../environment/setup.js';
import { preparationFolder, readReceipt } from '../preparation/receipt.js';
import { pruneStore, type StoreReport } from '../preparation/snapshots/prune-store.js';
import { rootStateDir } from './served-root.js';

export interface PruneOptions {
  /** State folder of the worker that serves the definitions: what its roots are set up with now stays. */
  readonly stateDir: string;
  /** Without it, it is only said what would go. */
  readonly apply: boolean;
}

/**
 * Prunes the stores of snapshots that definitions name, each by the lifecycle of the definition that names it.
 *
 * @throws {PreparationError} for a receipt that somebody else could have written.
 * @throws {SnapshotRefusal} for a store that cannot be used.
 */
export async function pruneSnapshots(
  definitions: readonly LoadedDefinition[],
  { stateDir, apply }: PruneOptions,
): Promise<readonly StoreReport[]> {
  const inUse = new Set(definitions.flatMap(({ root }) => currentSnapshot(root, stateDir)));
  const reports: StoreReport[] = [];
  const { signal } = new AbortController();
  for (const { setup } of definitions) {
    const snapshot = setup?.reuse?.snapshot;
    if (snapshot === undefined) continue;
    const { store: path, lifecycle = defaultLifecycle } = snapshot;
    reports.push(await pruneStore({ path, lifecycle, inUse }, { apply, signal }));
  }
  return reports;
}

/** What a root was set up with last. */
function currentSnapshot(root: string, stateDir: string): string[] {
  const folder = preparationFolder(rootStateDir(stateDir, statSync(root, { bigint: true })));
  const key = readReceipt(folder)?.snapshot;
  return key === undefined ? [] : [key];
}

import { constants, copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedDefinition } from '../environment/load-definition.js';
import type { Storage } from '../environment/storage.js';
import { freeSpace } from '../preparation/free-space.js';
import type { Finding } from './finding.js';

/** Looks at the disk for what the setup of an environment asks of it. */
export function examineStorage({ root, setup, storage }: LoadedDefinition): readonly Finding[] {
  const store = setup?.reuse?.snapshot?.store;
  return [
    ...(store === undefined ? [] : [examineCloning(store, root)]),
    ...(storage === undefined ? [] : [examineFreeBytes(root, storage)]),
  ];
}

/** Snapshots are clones that share their blocks, which not every file system can make. */
function examineCloning(store: string, root: string): Finding {
  const subject = 'snapshots';
  const full = 'setup runs in full each time, and no snapshot is kept';
  if (statSync(store).dev !== statSync(root).dev) {
    return {
      subject,
      verdict: 'limited',
      sentence: `The store "${store}" is on another file system than the root: ${full}.`,
    };
  }
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(store, '.clone-test-'));
    writeFileSync(join(folder, 'one'), 'a file to clone');
    copyFileSync(join(folder, 'one'), join(folder, 'other'), constants.COPYFILE_FICLONE_FORCE);
    return {
      subject,
      verdict: 'limited',
      sentence: `Files can be cloned in "${store}", but this version makes no snapshots: ${full}.`,
    };
  } catch {
    return {
      subject,
      verdict: 'limited',
      sentence: `Files cannot be cloned in "${store}": ${full}. Btrfs and XFS can.`,
    };
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function examineFreeBytes(root: string, storage: Storage): Finding {
  const subject = 'disk';
  const { free, wanted } = freeSpace(root, storage);
  const numbers = `${free} bytes are free and ${wanted} wanted`;
  return free >= wanted
    ? { subject, verdict: 'ok', sentence: `${numbers}.` }
    : { subject, verdict: 'limited', sentence: `${numbers}: setup is put off until there is room.` };
}

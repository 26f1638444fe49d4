import type { LoadedDefinition } from '../environment/load-definition.js';
import type { EnvironmentSetup } from '../environment/setup.js';
import type { Storage } from '../environment/storage.js';
import { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import { freeSpace } from '../preparation/free-space.js';
import { tryCloning } from '../preparation/snapshots/cloning.js';
import type { Finding } from './finding.js';

/** Looks at the disk for what the setup of an environment asks of it. */
export function examineStorage({ root, setup, storage }: LoadedDefinition): readonly Finding[] {
  const reuse = setup?.reuse;
  return [
    ...(reuse?.snapshot === undefined ? [] : [examineCloning(root, reuse, reuse.snapshot.store)]),
    ...(storage === undefined ? [] : [examineFreeBytes(root, storage)]),
  ];
}

type Reuse = NonNullable<EnvironmentSetup['reuse']>;

/** Snapshots are clones that share their blocks, which not every file system can make. */
function examineCloning(root: string, { inputs }: Reuse, store: string): Finding {
  const subject = 'snapshots';
  const opened: Directory[] = [];
  const open = (path: string): Directory => {
    const folder = Directory.open(path);
    opened.push(folder);
    return folder;
  };
  try {
    const trial = tryCloning(open(root), inputs[0] ?? '', open(store));
    if (trial.can) {
      const sentence = `What setup installs is kept in "${store}", and restored where it is missing.`;
      return { subject, verdict: 'ok', sentence };
    }
    const sentence = `${trial.sentence} Until then setup runs in full, and no snapshot is kept.`;
    return { subject, verdict: 'limited', sentence };
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    const sentence = `Whether files can be cloned is tried with the first input of setup, which cannot be used. ${error.message}`;
    return { subject, verdict: 'limited', sentence };
  } finally {
    for (const folder of opened) folder.close();
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

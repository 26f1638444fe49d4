import { CodelanesError } from '@codelanes/protocol';
import { sameFile } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import { openPlaces, type OpenedPlaces } from '../sandbox/audit/opened-places.js';
import type { CheckoutLane } from '../sandbox/lane-facts.js';
import type { ServedRepository } from './served-tree.js';

/** A repository's checkout as the worker found it when it started. The caller closes it. */
export interface PinnedCheckout {
  readonly facts: CheckoutLane;
  close(): void;
}

/**
 * Opens the checkout with which the worker started, in whatever state it is. One that does not verify can be put right
 * again by the next command, together with what that changed there meanwhile, so that it is to be watched as well.
 *
 * @throws {CodelanesError} `COMMAND_UNAVAILABLE` where it is not there: a command could bring it back changed.
 */
export function openPinned(tree: ServedRepository): PinnedCheckout {
  const { repository, path, layout } = tree;
  const { root, rootIdentity, gitIdentity, alternates } = layout.pin;
  const gitDir = `${root}/.git`;
  const opened = openedPlaces(path, gitDir);
  const close = (): void => {
    opened?.git.close();
    opened?.root.close();
  };
  const isPinned =
    opened !== undefined &&
    sameFile(opened.root.stats, rootIdentity) &&
    sameFile(opened.git.stats, gitIdentity);
  if (isPinned) {
    const descriptors = { root: opened.root.fd, git: opened.git.fd };
    return { facts: { kind: 'checkout', root, gitDir, alternates, descriptors }, close };
  }
  close();
  throw new CodelanesError(
    'COMMAND_UNAVAILABLE',
    `The repository "${repository}" is not where it was when the worker started, so no command is run that could bring it back changed: put it back, or restart the worker without it.`,
  );
}

function openedPlaces(path: string, gitDir: string): OpenedPlaces | undefined {
  try {
    return openPlaces(path, gitDir);
  } catch (error) {
    if (error instanceof FileRefusal) return undefined;
    throw error;
  }
}

import type { Directory } from '../../files/directory.js';
import { isSoundSubmodule, listGitlinks, placeOfGitlink, type Gitlink } from './gitlinks.js';
import { baseOf, openPlaces, type OpenedPlaces, type PlaceName } from './opened-places.js';
import { readPlace, removePlace, restorePlace, gotNames, samePlace, textOf, type Place } from './place.js';
import { isRebaseTodo, withoutNewCommands } from './planned-commands.js';
import { identitiesOf, keyOf, nameOf, type Snapshot } from './snapshot.js';
import { watchedNames } from './watched-places.js';
import { isSoundPointer } from './worktree-pointers.js';

export interface AuditResult {
  /** What was put back or removed, each a sentence for the agent and the operator. */
  readonly notices: readonly string[];
  /**
   * New submodules in an index whose repository is of the command's own making: Git would run its settings. They
   * are to be taken out of the index by a walled Git.
   */
  readonly strayGitlinks: readonly Gitlink[];
  /** Why the lane may not be used until somebody has looked: what happened cannot be undone. */
  readonly quarantine?: string | undefined;
}

/**
 * Compares a checkout with the snapshot from before a call, and undoes every change by which Git could be made
 * to run code or to look elsewhere. Worktrees that were added, moved or removed as Git does it stay so. Call
 * it only when every process of the call is gone, and after a crash before anything else. Follows no link.
 */
export function auditCheckout(snapshot: Snapshot): AuditResult {
  let opened: OpenedPlaces | undefined;
  try {
    opened = openPlaces(snapshot.root, snapshot.gitDir);
    const replaced = replacedDirectory(opened.git, snapshot);
    return replaced === undefined ? undoChanges(opened, snapshot) : { ...nothing, quarantine: replaced };
  } catch (error) {
    // Whatever cannot be looked at or put back, a person has to look at; a crash here would only hide it.
    const why = error instanceof Error ? error.message : String(error);
    return { ...nothing, quarantine: `The checkout cannot be looked through after the command: ${why}` };
  } finally {
    opened?.git.close();
    opened?.root.close();
  }
}

const nothing = { notices: [], strayGitlinks: [] } as const;

function replacedDirectory(git: Directory, snapshot: Snapshot): string | undefined {
  const now = identitiesOf(git);
  if (now.git !== snapshot.identities.git)
    return 'The Git directory of the checkout is not the one from before the call.';
  if (snapshot.identities.hooks !== null && now.hooks !== snapshot.identities.hooks) {
    return 'The hooks folder of the checkout is not the one from before the call.';
  }
  return undefined;
}

function undoChanges(opened: OpenedPlaces, snapshot: Snapshot): AuditResult {
  const keys = new Set([
    ...Object.keys(snapshot.places),
    ...watchedNames(opened, snapshot.gitlinks).map(keyOf),
  ]);
  const notices: string[] = [];
  // Folders come before what is in them, so that a link in a folder's place is seen first.
  for (const key of [...keys].sort()) {
    const name = nameOf(key);
    const verdict = undo(opened, name, snapshot.places[key]);
    if (verdict.kind === 'said') notices.push(verdict.sentence);
    if (verdict.kind === 'beyond') return { notices, strayGitlinks: [], quarantine: verdict.sentence };
  }
  const { strays, unreadable } = newGitlinks(opened, new Set(snapshot.gitlinks));
  const result = { notices, strayGitlinks: strays };
  if (unreadable.length === 0) return result;
  const shown = unreadable.map((repository) => `"${repository === '' ? '.' : repository}"`).join(', ');
  return { ...result, quarantine: `The Git index of ${shown} cannot be looked through after the command.` };
}

function newGitlinks(
  opened: OpenedPlaces,
  known: ReadonlySet<string>,
): { strays: readonly Gitlink[]; unreadable: readonly string[] } {
  const isKnown = (place: string): boolean => known.has(place) || isSoundSubmodule(opened, place);
  const { links, unreadable } = listGitlinks(opened, isKnown);
  return { strays: links.filter((link) => !isKnown(placeOfGitlink(link))), unreadable };
}

type Verdict = { readonly kind: 'fine' } | { readonly kind: 'said' | 'beyond'; readonly sentence: string };

function undo(opened: OpenedPlaces, name: PlaceName, before: Place | undefined): Verdict {
  const base = baseOf(opened, name);
  const after = readPlace(base, name.segments);
  const shown = `"${name.base === 'git' ? '.git/' : ''}${name.segments.join('/')}"`;
  if (samePlace(before, after) || isHarmless(opened, name, before, after)) {
    if (after === undefined || !gotNames(before, after)) return { kind: 'fine' };
    restorePlace(base, name.segments, after);
    return {
      kind: 'said',
      sentence: `${shown} was given a second name by the command (a hard link) and is a file of its own again: it could be changed unseen.`,
    };
  }
  if (after !== undefined && isRebaseTodo(name)) {
    dropCommands(base, name, before, after);
    return {
      kind: 'said',
      sentence: `What the command put into ${shown} to be run has been taken out: whoever goes on with the rebase would run it outside of the wall.`,
    };
  }
  if (before === undefined) {
    removePlace(base, name.segments);
    return {
      kind: 'said',
      sentence: `${shown} was made by the command and has been removed: it could make Git run code or look elsewhere.`,
    };
  }
  if (restorePlace(base, name.segments, before)) {
    return {
      kind: 'said',
      sentence: `${shown} was changed by the command and has been put back: it could make Git run code or look elsewhere.`,
    };
  }
  return { kind: 'beyond', sentence: `${shown} was changed by the command and cannot be put back.` };
}

/** A rebase may wait when a command ends; only what it would run is taken from it. */
function dropCommands(
  base: Directory,
  { segments }: PlaceName,
  before: Place | undefined,
  after: Place,
): void {
  const kept = withoutNewCommands(before, after);
  if (kept === undefined) removePlace(base, segments);
  else restorePlace(base, segments, kept);
}

function isHarmless(
  opened: OpenedPlaces,
  name: PlaceName,
  before: Place | undefined,
  after: Place | undefined,
): boolean {
  if (isPointerOfSubmodule(name)) return isSoundSubmodule(opened, name.segments.slice(0, -1).join('/'));
  // A folder is looked at for what is in it; only a link or a file in its place is a change of its own.
  const isFolder = (place: Place | undefined): boolean => place === undefined || place.kind === 'directory';
  if (isFolder(before) && isFolder(after)) return true;
  if (isSoundPointer(opened, name)) return true;
  if (isRebaseTodo(name)) return after === undefined || withoutNewCommands(before, after) === after;
  const metadata =
    name.base === 'git' && name.segments[0] === 'worktrees' ? name.segments.slice(0, 2) : undefined;
  if (after === undefined) return isRemoved(opened, name, metadata);
  return (
    metadata !== undefined &&
    name.segments[2] === 'config.worktree' &&
    before === undefined &&
    textOf(after) === ''
  );
}

function isPointerOfSubmodule({ base, segments }: PlaceName): boolean {
  return base === 'root' && segments.length > 1 && segments[0] !== '.worktrees' && segments.at(-1) === '.git';
}

/** What went away together with its worktree, submodule or folder, or says nothing by being away. */
function isRemoved(opened: OpenedPlaces, name: PlaceName, metadata: readonly string[] | undefined): boolean {
  if (metadata?.length === 2) return readPlace(opened.git, metadata) === undefined;
  if (name.base === 'root') {
    const repository = name.segments.slice(0, name.segments.lastIndexOf('.git') + 1);
    return name.segments[0] === '.worktrees' || readPlace(opened.root, repository) === undefined;
  }
  return name.segments[0] === 'modules' && readPlace(opened.git, name.segments.slice(0, -1)) === undefined;
}

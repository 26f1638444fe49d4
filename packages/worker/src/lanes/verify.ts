import { worktreeNameSchema } from '@codelanes/protocol';
import { identityOf, sameFile, type Directory, type FileIdentity } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import { openCheckout, type CheckoutPin, type OpenedCheckout } from './checkout.js';
import { pointerTarget, readPointer, type PointerFile } from './git-pointer.js';
import { FolderFault, openLaneFolder } from './lane-folder.js';
import { LaneRefusal, type LaneCheck } from './lane-refusal.js';
import { metadataFault } from './metadata-entries.js';

/** Which folder, pointer and metadata a worktree is made of; a second verification is held against the first. */
export interface WorktreeIdentity {
  readonly worktree: FileIdentity;
  readonly pointer: FileIdentity;
  readonly metadata: FileIdentity;
  /** When Git wrote the pointer: a worktree that is made anew may be given the numbers of the one before. */
  readonly madeNs: bigint;
}

/**
 * A linked worktree that has just verified. Paths are canonical; the descriptors hold what was verified,
 * whatever the paths lead to later. The caller calls `close`.
 */
export interface OpenedWorktree {
  readonly kind: 'worktree';
  readonly name: string;
  readonly root: string;
  readonly lanePath: string;
  /** The repository's common Git directory. */
  readonly commonDir: string;
  /** The worktree's own folder in `<commonDir>/worktrees`; it may bear another name than the worktree. */
  readonly metadataDir: string;
  readonly checkout: OpenedCheckout;
  readonly directory: Directory;
  readonly metadata: Directory;
  readonly descriptors: { readonly worktree: number; readonly metadata: number };
  readonly identity: WorktreeIdentity;
  close(): void;
}

/**
 * Verifies `<root>/.worktrees/<name>` and opens it. It must be a real folder whose `.git` points to a real
 * folder of `<root>/.git/worktrees`, which points back to it, belongs to this repository and is claimed by
 * nobody else. Works by descriptors, follows no link, starts no process. Called at admission and, with the
 * identity that was found then, again right before use.
 *
 * @throws {LaneRefusal} naming the check that failed.
 */
export function openWorktree(pin: CheckoutPin, name: string, expected?: WorktreeIdentity): OpenedWorktree {
  if (!worktreeNameSchema.safeParse(name).success) {
    throw new LaneRefusal(
      'worktree',
      'name',
      `"${name}" is not the name of a worktree: use one path segment of letters, digits, ".", "_" and "-".`,
    );
  }
  const checkout = openCheckout(pin.root, pin);
  const opened: { close(): void }[] = [checkout];
  try {
    return new Verification(checkout, name, opened).run(expected);
  } catch (error) {
    for (const one of opened.reverse()) one.close();
    if (error instanceof FileRefusal) throw closedMetadata(name, error);
    throw error;
  }
}

/** What Git keeps of the worktree, or of its siblings, was taken from the worker by whoever may change it. */
function closedMetadata(name: string, cause: FileRefusal): LaneRefusal {
  return new LaneRefusal(
    'worktree',
    'metadata',
    `The worktree "${name}" is refused: a folder beneath ".git/worktrees" cannot be looked through. To use it, let the worker's user read and enter it again (chmod -R u+rwX).`,
    { cause },
  );
}

class Verification {
  private readonly checkout: OpenedCheckout;
  private readonly name: string;
  private readonly lanePath: string;
  private readonly opened: { close(): void }[];

  constructor(checkout: OpenedCheckout, name: string, opened: { close(): void }[]) {
    this.checkout = checkout;
    this.name = name;
    this.lanePath = `${checkout.root}/.worktrees/${name}`;
    this.opened = opened;
  }

  run(expected: WorktreeIdentity | undefined): OpenedWorktree {
    const { checkout, name, lanePath } = this;
    const directory = this.openFolder();
    const pointer = this.readPointer('pointer', directory, '.git');
    const id = this.metadataName(pointer);
    const registry = this.openOwned('metadata', checkout.git, 'worktrees', '.git/worktrees');
    const metadata = this.openOwned('metadata', registry, id, `.git/worktrees/${id}`);
    const metadataDir = `${checkout.gitDir}/worktrees/${id}`;
    this.checkCommonDir(metadata, metadataDir);
    this.checkBackPointer(metadata, metadataDir);
    this.checkClaims(registry, id);
    this.checkContents(metadata, id);
    const identity: WorktreeIdentity = {
      worktree: identityOf(directory.stats),
      pointer: pointer.identity,
      metadata: identityOf(metadata.stats),
      madeNs: pointer.writtenNs,
    };
    if (expected !== undefined) this.checkIdentity(identity, expected);
    return {
      kind: 'worktree',
      name,
      root: checkout.root,
      lanePath,
      commonDir: checkout.gitDir,
      metadataDir,
      checkout,
      directory,
      metadata,
      descriptors: { worktree: directory.fd, metadata: metadata.fd },
      identity,
      close: () => {
        for (const one of [...this.opened].reverse()) one.close();
      },
    };
  }

  private openFolder(): Directory {
    const folder = this.openOwned('worktree_folder', this.checkout.directory, '.worktrees', '.worktrees');
    return this.openOwned('worktree_folder', folder, this.name, `.worktrees/${this.name}`);
  }

  private openOwned(check: LaneCheck, parent: Directory, name: string, shown: string): Directory {
    try {
      const directory = openLaneFolder(this.checkout.directory, parent, name);
      this.opened.push(directory);
      return directory;
    } catch (error) {
      if (!(error instanceof FolderFault)) throw error;
      const remedy = error.missing
        ? `make it with "git worktree add .worktrees/${this.name}" in the checkout`
        : error.remedy;
      throw this.refuse(check, `"${shown}" ${error.message}`, remedy, error);
    }
  }

  private readPointer(check: LaneCheck, directory: Directory, name: string): PointerFile {
    try {
      return readPointer(directory, name);
    } catch (error) {
      if (!(error instanceof FileRefusal)) throw error;
      const fault =
        check === 'pointer'
          ? `its pointer to the repository is broken: ${error.message.replace(/\.$/u, '')}`
          : `its metadata is broken: ${error.message.replace(/\.$/u, '')}`;
      throw this.refuse(check, fault, this.remake(), error);
    }
  }

  private metadataName(pointer: PointerFile): string {
    const text = /^gitdir: (.+)$/u.exec(pointer.text)?.[1];
    const target = text === undefined ? undefined : pointerTarget(text, this.lanePath);
    const registry = `${this.checkout.gitDir}/worktrees/`;
    const id = target?.startsWith(registry) === true ? target.slice(registry.length) : '';
    if (id !== '' && !id.includes('/')) return id;
    throw this.refuse(
      'pointer',
      `its ".git" does not point to a folder directly in "${registry.slice(0, -1)}"`,
      this.repair(),
    );
  }

  private checkCommonDir(metadata: Directory, metadataDir: string): void {
    const { text } = this.readPointer('commondir', metadata, 'commondir');
    if (pointerTarget(text, metadataDir) === this.checkout.gitDir) return;
    throw this.refuse(
      'commondir',
      `"commondir" of its metadata does not lead to "${this.checkout.gitDir}"`,
      this.remake(),
    );
  }

  private checkBackPointer(metadata: Directory, metadataDir: string): void {
    const { text } = this.readPointer('back_pointer', metadata, 'gitdir');
    if (pointerTarget(text, metadataDir) === `${this.lanePath}/.git`) return;
    throw this.refuse(
      'back_pointer',
      `its metadata "${metadataDir}" does not point back to it`,
      this.repair(),
    );
  }

  private checkClaims(registry: Directory, id: string): void {
    const other = registry
      .list()
      .filter(({ name, kind }) => name !== id && kind === 'directory')
      .find(({ name }) => this.isClaimedBy(registry, name));
    if (other === undefined) return;
    throw this.refuse(
      'claim',
      `"${id}" and "${other.name}" in ".git/worktrees" both claim it`,
      'remove the stale one with "git worktree prune" after a look at both',
    );
  }

  private isClaimedBy(registry: Directory, id: string): boolean {
    let metadata: Directory | undefined;
    try {
      metadata = registry.child(id);
      const { text } = readPointer(metadata, 'gitdir');
      return pointerTarget(text, `${this.checkout.gitDir}/worktrees/${id}`) === `${this.lanePath}/.git`;
    } catch (error) {
      // A sibling that is half made, half removed or broken claims nothing.
      if (error instanceof FileRefusal) return false;
      throw error;
    } finally {
      metadata?.close();
    }
  }

  private checkContents(metadata: Directory, id: string): void {
    const { text } = this.readPointer('head', metadata, 'HEAD');
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(text) && !isBranch(text)) {
      throw this.refuse(
        'head',
        'its HEAD is neither a branch nor a commit',
        'check out a branch there by hand',
      );
    }
    const fault = metadataFault(metadata);
    if (fault === undefined) return;
    throw this.refuse(
      'metadata',
      `"${fault.path}" in ".git/worktrees/${id}" ${fault.what}`,
      'remove it there',
    );
  }

  private checkIdentity(found: WorktreeIdentity, expected: WorktreeIdentity): void {
    if (
      sameFile(found.worktree, expected.worktree) &&
      sameFile(found.pointer, expected.pointer) &&
      sameFile(found.metadata, expected.metadata)
    ) {
      return;
    }
    throw this.refuse('identity', 'it was replaced by another while the call waited', 'send the call again');
  }

  private repair(): string {
    return `run "git worktree repair .worktrees/${this.name}" in the checkout if it was moved there, or add it anew`;
  }

  private remake(): string {
    return `remove and add it again with "git worktree" in the checkout`;
  }

  private refuse(check: LaneCheck, fault: string, remedy: string, cause?: unknown): LaneRefusal {
    return new LaneRefusal(
      'worktree',
      check,
      `The worktree "${this.name}" is refused: ${fault}. To use it, ${remedy}.`,
      { cause },
    );
  }
}

/** A ref beneath refs/heads, by the rules of git-check-ref-format that concern where its file lies. */
function isBranch(text: string): boolean {
  const branch = /^ref: refs\/heads\/(.+)$/u.exec(text)?.[1];
  return (
    branch
      ?.split('/')
      .every((part) => /^[^.]/u.test(part) && !part.includes('..') && !part.endsWith('.lock')) === true
  );
}

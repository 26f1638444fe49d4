import type { Directory } from '../files/directory.js';

/** A write that is about to begin; after a crash `temporary`, beside the file, is all that may be left of it. */
export interface PlannedWrite {
  /** After links, relative to the lane. */
  readonly path: string;
  /** Name of the temporary file in the same directory. */
  readonly temporary: string;
}

/** What a file tool gets beside its request: one call in one verified lane. */
export interface ToolContext {
  /** The lane's top, opened and verified. The caller closes it. */
  readonly directory: Directory;
  /** The lane as people read it, for messages: `primary/.worktrees/a`. Never a host path. */
  readonly lane: string;
  /**
   * Names at the lane's top that a walk from there leaves out, `.worktrees` at a checkout. A path that names
   * one is served: a call on a checkout has every lane beneath it.
   */
  readonly hidden: readonly string[];
  /** Absolute path of ripgrep, or `undefined` where the machine has none. */
  readonly ripgrep: string | undefined;
  readonly signal: AbortSignal;
  /** Resolves when the journal has the write on disk; nothing is written before. */
  readonly beforeWrite: (write: PlannedWrite) => Promise<void>;
}

import type { Caller } from './caller.js';

export interface ServeOptions {
  /** An empty folder for what the processes keep. */
  readonly state: string;
  readonly roots: readonly string[];
  readonly slots: number;
}

/** What rows that ask for calls need of whatever serves them. */
export interface Serving {
  /** A caller of one workspace, the first by default, with connections of its own. */
  readonly caller: (workspaceId?: string) => Caller;
}

/** Serves these roots for as long as the work takes. */
export type Serve = <T>(options: ServeOptions, work: (serving: Serving) => Promise<T>) => Promise<T>;

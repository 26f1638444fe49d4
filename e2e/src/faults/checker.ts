import type { Run } from './event-log.js';

/**
 * What a caller was told of a call. `done`: a result. `never ran`: a refusal that says so. `unknown`: nobody can
 * say whether it ran. `stopped`: it ran, and was stopped. `odd`: an answer that no fault excuses.
 */
export type Outcome = 'done' | 'never ran' | 'unknown' | 'stopped' | 'odd';

/** One answer to one call id. */
export interface Told {
  readonly callId: string;
  readonly outcome: Outcome;
  /** The code or the words that were told. */
  readonly words: string;
}

/** What was seen from outside; nothing in it comes from a bridge's own account of itself. */
export interface Evidence {
  /** Every call id that was ever sent. */
  readonly sent: ReadonlySet<string>;
  readonly told: readonly Told[];
  readonly runs: readonly Run[];
  /** What a worker may run at once. */
  readonly pools: { readonly commands: number; readonly files: number };
  /** Lanes that did not serve a call at the very end. */
  readonly stuckLanes: readonly string[];
  /** Keys in Redis that never go away. */
  readonly lastingKeys: readonly string[];
}

export interface Violation {
  readonly kind:
    | 'met a rival'
    | 'pool exceeded'
    | 'ran twice'
    | 'never ended'
    | 'nobody sent it'
    | 'no answer'
    | 'several answers'
    | 'odd answer'
    | 'told done, did not run to its end'
    | 'told that it never ran, but it did'
    | 'stuck lane'
    | 'lasting key';
  readonly what: string;
}

/**
 * Everything in the evidence that must not be. The rules are written here anew, in plain words, and share nothing
 * with the code that schedules: the checkout meets everything of its worker, a worktree meets itself; only reads
 * stand each other; commands take one pool and everything else the other.
 */
export function violationsOf(evidence: Evidence): Violation[] {
  return [
    ...meetings(evidence.runs),
    ...crowds(evidence),
    ...faultsOfRuns(evidence),
    ...faultsOfAnswers(evidence),
    ...evidence.stuckLanes.map((what) => ({ kind: 'stuck lane' as const, what })),
    ...evidence.lastingKeys.map((what) => ({ kind: 'lasting key' as const, what })),
  ];
}

function isRead({ operation }: Run): boolean {
  return operation === 'read_file';
}

function areRivals(one: Run, other: Run): boolean {
  if (one.worker !== other.worker || (isRead(one) && isRead(other))) return false;
  return one.worktree === undefined || other.worktree === undefined || one.worktree === other.worktree;
}

/** Calls `visit` with each run and those that had begun before it and still ran when it began. */
function sweep(runs: readonly Run[], visit: (run: Run, present: readonly Run[]) => void): void {
  const inOrder = [...runs].sort((one, other) => (one.begin < other.begin ? -1 : 1));
  let present: Run[] = [];
  for (const run of inOrder) {
    present = present.filter(({ end }) => end === undefined || end > run.begin);
    visit(run, present);
    present.push(run);
  }
}

function meetings(runs: readonly Run[]): Violation[] {
  const found: Violation[] = [];
  sweep(runs, (run, present) => {
    for (const other of present) {
      if (areRivals(run, other))
        found.push({ kind: 'met a rival', what: `${named(run)} met ${named(other)}` });
    }
  });
  return found;
}

function crowds({ runs, pools }: Evidence): Violation[] {
  const found: Violation[] = [];
  sweep(runs, (run, present) => {
    const isCommand = run.operation === 'execute_command';
    const beside = present.filter(
      ({ worker, operation }) => worker === run.worker && (operation === 'execute_command') === isCommand,
    );
    const most = isCommand ? pools.commands : pools.files;
    if (beside.length < most) return;
    found.push({
      kind: 'pool exceeded',
      what: `${named(run)} began beside ${beside.length} of at most ${most}`,
    });
  });
  return found;
}

function faultsOfRuns({ runs, sent }: Evidence): Violation[] {
  const counts = countsOf(runs);
  return [
    ...[...counts].filter(([, count]) => count > 1).map(([what]) => ({ kind: 'ran twice' as const, what })),
    ...runs
      .filter(({ end }) => end === undefined)
      .map((run) => ({ kind: 'never ended' as const, what: named(run) })),
    ...runs
      .filter(({ callId }) => !sent.has(callId))
      .map((run) => ({ kind: 'nobody sent it' as const, what: named(run) })),
  ];
}

function faultsOfAnswers({ sent, told, runs }: Evidence): Violation[] {
  const answers = countsOf(told);
  const began = new Set(runs.map(({ callId }) => callId));
  const whole = new Set(runs.filter(({ isWhole }) => isWhole).map(({ callId }) => callId));
  return [
    ...[...sent].filter((what) => !answers.has(what)).map((what) => ({ kind: 'no answer' as const, what })),
    ...[...answers]
      .filter(([, count]) => count > 1)
      .map(([what]) => ({ kind: 'several answers' as const, what })),
    ...told.flatMap((answer): Violation[] => {
      const what = `${answer.callId}: ${answer.words}`;
      if (answer.outcome === 'odd') return [{ kind: 'odd answer', what }];
      if (answer.outcome === 'done' && !whole.has(answer.callId))
        return [{ kind: 'told done, did not run to its end', what }];
      if (answer.outcome === 'never ran' && began.has(answer.callId))
        return [{ kind: 'told that it never ran, but it did', what }];
      return [];
    }),
  ];
}

function countsOf(entries: readonly { readonly callId: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { callId } of entries) counts.set(callId, (counts.get(callId) ?? 0) + 1);
  return counts;
}

function named({ worker, callId, operation, worktree }: Run): string {
  return `${callId} (${operation} in ${worktree ?? 'the checkout'} of ${worker})`;
}

import { describe, expect, it } from 'vitest';
import { violationsOf, type Evidence, type Outcome } from './checker.js';
import type { Run } from './event-log.js';

/** A run of one worker from one moment to another; by default a write, which ended by itself. */
function run(callId: string, begin: number, end: number | undefined, changes: Partial<Run> = {}): Run {
  return {
    worker: 'w',
    callId,
    operation: 'write_file',
    worktree: 'a',
    begin: BigInt(begin),
    end: end === undefined ? undefined : BigInt(end),
    isWhole: end !== undefined,
    ...changes,
  };
}

/** What was seen where nothing is wrong: every call that ran was sent, and its caller has the result. */
function seen(runs: readonly Run[], changes: Partial<Evidence> = {}): Evidence {
  const ids = [...new Set(runs.map(({ callId }) => callId))];
  const told = ids.map((callId) => ({ callId, outcome: 'done' as const, words: 'a result' }));
  const pools = { commands: 2, files: 4 };
  return { sent: new Set(ids), told, runs, pools, stuckLanes: [], lastingKeys: [], ...changes };
}

const kindsOf = (evidence: Evidence) => violationsOf(evidence).map(({ kind }) => kind);

const read = { operation: 'read_file' };
const command = { operation: 'execute_command' };
const checkout = { worktree: undefined };

describe('the checker finds nothing', () => {
  it.each<[string, readonly Run[]]>([
    ['one after the other in one lane', [run('1', 0, 5), run('2', 5, 9)]],
    ['side by side in two worktrees', [run('1', 0, 5), run('2', 1, 4, { worktree: 'b' })]],
    [
      'reads side by side, above and in a worktree',
      [run('1', 0, 5, { ...read, ...checkout }), run('2', 1, 4, read)],
    ],
    ['the same lane of two workers', [run('1', 0, 5), run('2', 1, 4, { worker: 'v' })]],
  ])('in calls that ran %s', (_, runs) => {
    expect(violationsOf(seen(runs))).toEqual([]);
  });

  it('in a call that nobody knows the outcome of, whether it ran or not', () => {
    const told = ['1', '2'].map((callId) => ({ callId, outcome: 'unknown' as const, words: 'cut' }));
    expect(violationsOf(seen([run('1', 0, 5)], { sent: new Set(['1', '2']), told }))).toEqual([]);
  });
});

describe('the checker finds', () => {
  it.each<[string, readonly Run[]]>([
    ['two writes in one worktree', [run('1', 0, 5), run('2', 4, 9)]],
    ['a read beside a write', [run('1', 0, 5), run('2', 4, 9, read)]],
    ['a checkout call beside one of a worktree', [run('1', 0, 5), run('2', 4, 9, checkout)]],
    ['a worktree call beside one of the checkout', [run('1', 0, 5, checkout), run('2', 4, 9)]],
    ['a checkout write beside a read of a worktree', [run('1', 0, 5, read), run('2', 4, 9, checkout)]],
    ['a command beside a read, whatever their pools', [run('1', 0, 5, command), run('2', 4, 9, read)]],
    ['one within the other', [run('1', 0, 9), run('2', 4, 5)]],
    ['one that begins at the same moment', [run('1', 4, 9), run('2', 4, 5)]],
    ['a meeting behind a third call', [run('1', 0, 9), run('2', 1, 2, { worktree: 'b' }), run('3', 8, 9)]],
  ])('a meeting: %s', (_, runs) => {
    expect(kindsOf(seen(runs))).toEqual(['met a rival']);
  });

  it('a call that never ended, and whoever meets it however much later', () => {
    const unknown = {
      told: [{ callId: '1', outcome: 'unknown' as const, words: 'cut' }, toldOf('2', 'done')],
    };
    const kinds = kindsOf(seen([run('1', 0, undefined), run('2', 999, 1_000)], unknown));
    expect(kinds).toEqual(['met a rival', 'never ended']);
  });

  it('more commands, and more of everything else, than their pools hold', () => {
    const lanes = ['a', 'b', 'c', 'd', 'e'];
    const commands = lanes.slice(0, 3).map((worktree) => run(worktree, 0, 9, { ...command, worktree }));
    expect(kindsOf(seen(commands))).toEqual(['pool exceeded']);
    const files = lanes.map((worktree) => run(worktree, 0, 9, { worktree }));
    expect(kindsOf(seen(files))).toEqual(['pool exceeded']);
    const both = [...commands.slice(0, 2), ...files.slice(2)];
    expect(kindsOf(seen(both))).toEqual([]);
  });

  it('a call that ran twice, even one after the other', () => {
    expect(kindsOf(seen([run('1', 0, 5), run('1', 6, 9)]))).toEqual(['ran twice']);
  });

  it('a call that nobody sent', () => {
    expect(kindsOf(seen([run('1', 0, 5)], { sent: new Set(), told: [] }))).toEqual(['nobody sent it']);
  });

  it('a call without an answer, one with several, and one with an answer that nothing excuses', () => {
    const sent = new Set(['1', '2', '3']);
    const told = [toldOf('2', 'never ran'), toldOf('2', 'never ran'), toldOf('3', 'odd')];
    expect(kindsOf(seen([], { sent, told }))).toEqual(['no answer', 'several answers', 'odd answer']);
  });

  it('a result of a call that did not run, or was stopped', () => {
    const isStopped = { isWhole: false };
    const evidence = seen([run('2', 0, 5, isStopped)], {
      sent: new Set(['1', '2']),
      told: [toldOf('1', 'done'), toldOf('2', 'done')],
    });
    const kind = 'told done, did not run to its end';
    expect(kindsOf(evidence)).toEqual([kind, kind]);
  });

  it('a call that ran although its caller was told that it never did', () => {
    const evidence = seen([run('1', 0, 5)], { told: [toldOf('1', 'never ran')] });
    expect(kindsOf(evidence)).toEqual(['told that it never ran, but it did']);
  });

  it('lanes that are stuck and keys that stay', () => {
    const evidence = seen([], { stuckLanes: ['w a'], lastingKeys: ['codelanes:leftover'] });
    expect(kindsOf(evidence)).toEqual(['stuck lane', 'lasting key']);
  });
});

function toldOf(callId: string, outcome: Outcome) {
  return { callId, outcome, words: outcome };
}

import { describe, expect, it } from 'vitest';
import { laneFindings, oneLineFinding, speedUpLine, wallFinding } from './findings.js';
import { ranFrom } from './stamps.js';

const played = (...ran: readonly (readonly [number, number])[]) => ({
  ran: ran.map(([fromMs, toMs]) => ({ fromMs, toMs })),
  tookMs: 8_000,
});
const asPromised = [
  [0, 3],
  [0, 2],
  [3, 4],
  [4, 7],
  [4, 7],
] as const;
const truthsOf = (findings: readonly { readonly isTrue: boolean }[]) => findings.map(({ isTrue }) => isTrue);

const result = {
  protocolVersion: 1,
  workspaceId: 'sample',
  operation: 'execute_command',
  exitCode: 1,
  stdout: '',
  stderr: 'refused',
  truncated: false,
  timedOut: false,
} as const;

describe('what the demo claims', () => {
  it('holds for calls that ran as promised', () => {
    expect(truthsOf(laneFindings(played(...asPromised)))).toEqual([true, true, true, true]);
  });

  it.each([
    [
      'the worktrees ran one after another',
      [
        [0, 1],
        [2, 3],
        [3, 4],
        [4, 7],
        [4, 7],
      ],
      0,
    ],
    [
      'the checkout began too early',
      [
        [0, 3],
        [0, 2],
        [2, 4],
        [4, 7],
        [4, 7],
      ],
      1,
    ],
    [
      'a newer call overtook',
      [
        [0, 3],
        [0, 2],
        [3, 4],
        [4, 7],
        [2, 5],
      ],
      2,
    ],
    [
      'lane b was not free before the checkout was',
      [
        [0, 3],
        [0, 3],
        [3, 4],
        [4, 7],
        [4, 7],
      ],
      2,
    ],
    [
      'the later ones ran one after another',
      [
        [0, 3],
        [0, 2],
        [3, 4],
        [4, 7],
        [7, 9],
      ],
      3,
    ],
  ] as const)('is found out where %s', (_, ran, claim) => {
    expect(laneFindings(played(...ran))[claim]?.isTrue).toBe(false);
  });

  it('is found out where a command did not tell when it ran', () => {
    expect(truthsOf(laneFindings(played([0, 3])))).toEqual([false]);
  });

  it('takes a wall for true only where the command failed by itself and nothing was written', () => {
    expect(wallFinding(result, false).isTrue).toBe(true);
    expect(wallFinding(result, true).isTrue).toBe(false);
    expect(wallFinding({ ...result, exitCode: 0 }, false).isTrue).toBe(false);
    expect(wallFinding({ ...result, exitCode: null, timedOut: true }, false).isTrue).toBe(false);
  });

  it('takes one line for true only where no two commands met', () => {
    expect(oneLineFinding(played([5, 6], [0, 3], [3, 4])).isTrue).toBe(true);
    expect(oneLineFinding(played(...asPromised)).isTrue).toBe(false);
  });

  it('tells the speed-up from what was measured', () => {
    const lanes = { ran: [], tookMs: 8_000 };
    expect(speedUpLine(lanes, { ran: [], tookMs: 12_000 })).toContain('8.0 s in lanes, 12.0 s in one line');
    expect(speedUpLine(lanes, { ran: [], tookMs: 12_000 })).toContain('1.50 times');
  });
});

describe('ranFrom', () => {
  it('reads the first and the last line, and nothing else for a stamp', () => {
    expect(ranFrom('1.5\nnoise\n2.5\n')).toEqual({ fromMs: 1_500, toMs: 2_500 });
    expect(ranFrom('1.5\n')).toBeUndefined();
    expect(ranFrom('1.5\nerror')).toBeUndefined();
  });
});

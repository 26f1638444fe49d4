import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallTrack } from './call-track.js';
import { drawTimeline } from './timeline.js';

const plain = { width: 84, colour: false };

describe('drawTimeline', () => {
  it('draws waiting and running over one axis, a line for each call', () => {
    const lines = drawTimeline(
      [
        { label: 'a', spans: [{ state: 'runs', fromMs: 0, toMs: 4_000 }] },
        {
          label: 'b',
          spans: [
            { state: 'waits', fromMs: 0, toMs: 4_000 },
            { state: 'runs', fromMs: 4_000 },
          ],
        },
      ],
      8_000,
      plain,
    );
    expect(lines).toEqual([
      `a  ${'█'.repeat(40)}${' '.repeat(41)}`.trimEnd(),
      `b  ${'·'.repeat(40)}${'█'.repeat(41)}`,
      expect.stringMatching(/^ {3}0s +1s +2s +3s +4s +5s +6s +7s/),
    ]);
  });

  it('draws nothing of the future', () => {
    const [line] = drawTimeline([{ label: 'a', spans: [{ state: 'runs', fromMs: 0 }] }], 2_000, plain);
    expect(line).toBe(`a  ${'█'.repeat(20)}`);
  });

  it('never leaves its width or loses its lines, whatever it is given', () => {
    const span = fc.record({
      state: fc.constantFrom('waits' as const, 'runs' as const),
      fromMs: fc.nat(100_000),
      toMs: fc.option(fc.nat(100_000), { nil: undefined }),
    });
    const row = fc.record({ label: fc.string({ maxLength: 12 }), spans: fc.array(span, { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(row), fc.nat(100_000), fc.integer({ min: 5, max: 200 }), (rows, nowMs, width) => {
        const lines = drawTimeline(rows, nowMs, { width, colour: false });
        expect(lines).toHaveLength(rows.length + 1);
        expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('ends every colour that it begins', () => {
    const [line] = drawTimeline([{ label: 'a', spans: [{ state: 'runs', fromMs: 0 }] }], 20_000, {
      width: 40,
      colour: true,
    });
    expect(line?.endsWith('\u001b[0m')).toBe(true);
  });
});

describe('CallTrack', () => {
  it('turns the states of a call into what is shown of it', () => {
    const track = new CallTrack('a');
    const changes = (['waiting', 'reserved', 'running', 'cancelling', 'settled'] as const).map(
      (state, index) => track.enter(state, index * 10),
    );
    expect(changes).toEqual([true, false, true, false, true]);
    expect(track.spans).toEqual([
      { state: 'waits', fromMs: 0, toMs: 20 },
      { state: 'runs', fromMs: 20, toMs: 40 },
    ]);
  });
});

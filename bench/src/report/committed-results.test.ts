import { describe, expect, it } from 'vitest';
import { median } from '../measure/quantile.js';
import { allRows } from '../rows/all-rows.js';
import { bindingRounds, metBy } from './result.js';
import { readResult } from './result-files.js';

/** The gates bind what is committed, never the machine that runs this test. */
describe.each(allRows)('the committed result of $name', ({ name, what, unit, gate, goal, better }) => {
  it('was measured as the row measures now, in five rounds', () => {
    expect(readResult(name)).toMatchObject({ row: name, what, unit, gate, goal });
    expect(readResult(name)?.rounds).toHaveLength(bindingRounds);
  });

  it('meets its gate by the median of its rounds', () => {
    const met = metBy(median(readResult(name)?.rounds ?? []), { gate, goal, better });
    expect(met).not.toBe('nothing');
    expect(readResult(name)?.met).toBe(met);
  });
});

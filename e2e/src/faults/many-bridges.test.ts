import { describe, expect, it } from 'vitest';
import { campaign } from './campaign.js';
import { faultNames } from './fault.js';

/** `node e2e/dist/faults/main.js --seed N` repeats a seed, as long as one likes. */
describe.each([
  { bridges: 2, seed: 1_902, calls: 2_000 },
  { bridges: 3, seed: 1_903, calls: 2_000 },
])('$bridges bridges on one Redis under faults (seed $seed)', ({ bridges, seed, calls }) => {
  it('[L7] [T71] [T74] let no two calls meet, run none twice, lose none, and leave nothing behind', async () => {
    const findings = await campaign({ bridges, seed, calls, rounds: 1 });
    expect(findings.violations).toEqual([]);
    expect(findings.works).toBeGreaterThanOrEqual(calls);
    expect(Object.keys(findings.faults).sort()).toEqual([...faultNames].sort());
  }, 300_000);
});

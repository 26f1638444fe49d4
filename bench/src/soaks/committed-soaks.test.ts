import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { soakNames } from './soak.js';
import { soakFile, soakResultSchema } from './soak-result.js';

describe.each(soakNames)('the committed soak of %s', (name) => {
  it('was of full length, met every fault many times, and found nothing wrong', () => {
    const text = readFileSync(new URL(`../../results/${soakFile(name)}`, import.meta.url), 'utf8');
    const { findings } = soakResultSchema.parse(JSON.parse(text));
    expect(findings.violations).toEqual([]);
    expect(findings.works).toBeGreaterThanOrEqual(20_000);
    expect(Object.keys(findings.faults)).toHaveLength(6);
    expect(Math.min(...Object.values(findings.faults))).toBeGreaterThanOrEqual(10);
  });
});

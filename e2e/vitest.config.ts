import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import shared from '../vitest.shared.ts';

/**
 * vitest begins with the largest files where it knows no durations, as on a fresh clone. The thousands of calls of this
 * one are few lines: begun last, it would be left over for one core alone.
 */
class LongBeforeLarge extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith('/faults/many-bridges.test.ts');
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default mergeConfig(
  shared,
  defineConfig({
    test: {
      // A test starts a whole deployment, some many: their bounds are for what hangs.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
      // Two files at once fill two cores.
      maxWorkers: 2,
      sequence: { sequencer: LongBeforeLarge },
    },
  }),
);

import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import shared from '../vitest.shared.ts';

/**
 * vitest begins with the largest files where it knows no durations, as on a fresh clone. These are few lines that take
 * long: begun last, they would be left over while nothing else runs.
 */
const long = ['faults/many-bridges', 'worker-death', 'demo'].map((name) => `/${name}.test.ts`);

class LongBeforeLarge extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => long.some((ending) => moduleId.endsWith(ending));
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
      // Much of a test is waiting for leases and setups: three files at once fill two cores.
      maxWorkers: 3,
      sequence: { sequencer: LongBeforeLarge },
    },
  }),
);

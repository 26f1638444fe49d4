import { mergeConfig } from 'vitest/config';
import shared from '../vitest.shared.ts';

export default mergeConfig(shared, {
  test: {
    // Real processes on a busy machine take their time, and mostly wait: two files at once fit on two cores.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});

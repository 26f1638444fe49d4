import { defineConfig } from 'vitest/config';

/** What every package's tests share; sources are tested without a build. */
export default defineConfig({
  resolve: { conditions: ['@codelanes/source'] },
  ssr: { resolve: { conditions: ['@codelanes/source'] } },
  test: {
    include: ['src/**/*.test.ts'],
    restoreMocks: true,
    unstubEnvs: true,
    // Bounds for what hangs, not for what is slow: a busy machine may stop any process for seconds.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // `npm test` counts from these reports; turbo keeps them, so that a cached green still counts.
    ...(process.env['CODELANES_TEST_REPORTS'] === '1' && {
      reporters: ['default', 'json'],
      outputFile: { json: '.reports/vitest.json' },
    }),
  },
});

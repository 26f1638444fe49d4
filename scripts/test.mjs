/**
 * Every check of the repository, and last of all one line: `N passed, N failed`. It counts single tests; a
 * check that is no test counts as one failure where it fails, so that "0 failed" always means green.
 */
import { rmSync } from 'node:fs';
import { findReports, readReports, testedFolders } from './test/reports.mjs';
import { runInSight } from './setup/run.mjs';

const turbo = (/** @type {string[]} */ ...args) => [
  'turbo',
  'run',
  ...args,
  '--output-logs=errors-only',
  '--log-order=grouped',
];

const scriptTests = { name: 'tests of scripts', args: ['exec', 'vitest', 'run', '--root', 'scripts'] };
/** Two packages at once: on two cores vitest gives each of them one process. */
const unitTests = {
  name: 'tests of packages',
  args: turbo('test', '--filter=!codelanes-e2e', '--continue', '--concurrency=2'),
};
/** By themselves, as they start whole deployments, two at once. */
const endToEndTests = { name: 'tests end to end', args: turbo('test', '--filter=codelanes-e2e') };

/**
 * Checks in rounds, one after the other. The sides of a round run at the same time, the checks of a side in their
 * order: each of these takes about one core, and the two sides about as long as each other.
 *
 * @type {readonly (readonly (readonly { name: string, args: readonly string[] }[])[])[]}
 */
const rounds = [
  [[{ name: 'build', args: turbo('build') }]],
  [
    [{ name: 'lint', args: ['run', 'lint'] }],
    [
      { name: 'types', args: ['run', 'typecheck'] },
      { name: 'format', args: ['run', 'format:check'] },
      { name: 'unused code (knip)', args: ['run', 'knip'] },
      scriptTests,
      { name: 'packing (publint, attw)', args: turbo('check:pack', '--continue', '--concurrency=1') },
    ],
  ],
  [[unitTests]],
  [[endToEndTests]],
];

for (const report of findReports()) rmSync(report);

/** @type {string[]} */
const failedChecks = [];
for (const sides of rounds) {
  await Promise.all(
    sides.map(async (checks) => {
      for (const { name, args } of checks) {
        const from = Date.now();
        const good = await runInSight('pnpm', args, { CODELANES_TEST_REPORTS: '1' });
        console.log(`${good ? '✓' : '✗'} ${name} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
        if (!good) failedChecks.push(name);
      }
    }),
  );
}

const { passed, failed, silent } = readReports(testedFolders());
for (const failure of failed) console.log(`✗ ${failure}`);
for (const folder of silent) console.log(`✗ ${folder}: its tests left no report`);
for (const name of failedChecks) console.log(`✗ check: ${name}`);

const isOfTests = (/** @type {string} */ check) =>
  [scriptTests, unitTests, endToEndTests].some(({ name }) => name === check);
const otherChecks = failedChecks.filter((name) => !isOfTests(name)).length;
const unexplained = failedChecks.some(isOfTests) && failed.length + silent.length === 0 ? 1 : 0;
const failures = failed.length + silent.length + otherChecks + unexplained;
if (failures > 0) process.exitCode = 1;
console.log(`${passed} passed, ${failures} failed`);

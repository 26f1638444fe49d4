/**
 * Every check of the repository, and last of all one line: `N passed, N failed`. It counts single tests; a
 * check that is no test counts as one failure where it fails, so that "0 failed" always means green.
 */
import { rmSync } from 'node:fs';
import { findReports, readReports, testedPackages } from './test/reports.mjs';
import { runInSight } from './setup/run.mjs';

const turbo = (/** @type {string[]} */ ...args) => [
  'turbo',
  'run',
  ...args,
  '--output-logs=errors-only',
  '--log-order=grouped',
];

/** Tests run one package at a time: they start real processes, and vitest already uses every core. */
const checks = [
  { name: 'build', args: turbo('build') },
  { name: 'types', args: turbo('typecheck', '//#typecheck:root', '--continue') },
  { name: 'lint', args: turbo('lint', '//#lint:root', '--continue', '--concurrency=2') },
  { name: 'format', args: ['run', 'format:check'] },
  { name: 'unused code (knip)', args: ['run', 'knip'] },
  { name: 'packing (publint, attw)', args: turbo('check:pack', '--continue', '--concurrency=2') },
  { name: 'tests', args: turbo('test', '--continue', '--concurrency=1') },
];

for (const report of findReports()) rmSync(report);

const failedChecks = [];
for (const { name, args } of checks) {
  const from = Date.now();
  const good = runInSight('pnpm', args, { CODELANES_TEST_REPORTS: '1' });
  console.log(`${good ? '✓' : '✗'} ${name} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
  if (!good) failedChecks.push(name);
}

const { passed, failed, silent } = readReports(testedPackages());
for (const failure of failed) console.log(`✗ ${failure}`);
for (const folder of silent) console.log(`✗ ${folder}: its tests left no report`);
for (const name of failedChecks) console.log(`✗ check: ${name}`);

const otherChecks = failedChecks.filter((name) => name !== 'tests').length;
const unexplained = failedChecks.includes('tests') && failed.length + silent.length === 0 ? 1 : 0;
const failures = failed.length + silent.length + otherChecks + unexplained;
if (failures > 0) process.exitCode = 1;
console.log(`${passed} passed, ${failures} failed`);

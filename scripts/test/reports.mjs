import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { repositoryRoot } from '../setup/run.mjs';

/**
 * What we read of vitest's JSON report.
 *
 * @typedef {{ fullName: string, status: string, failureMessages?: string[] | null }} TestOutcome
 * @typedef {{ name: string, status: string, message: string, assertionResults: TestOutcome[] }} FileOutcome
 */

/** @returns {string[]} The folders that have tests: packages, and that of these scripts. */
export function testedFolders() {
  const groups = ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(repositoryRoot, group)).map((name) => join(group, name)),
  );
  return [...groups, 'e2e', 'bench', 'scripts']
    .filter((folder) => existsSync(join(repositoryRoot, folder, 'vitest.config.ts')))
    .map((folder) => join(repositoryRoot, folder));
}

/** @param {string} folder */
const reportOf = (folder) => join(folder, '.reports', 'vitest.json');

/** @returns {string[]} The reports that stand there now. */
export function findReports() {
  return testedFolders().map(reportOf).filter(existsSync);
}

/**
 * Sums up the reports of these folders. A file that failed with no failed test in it (it could not be loaded)
 * counts as one failure.
 *
 * @param {readonly string[]} folders
 * @returns {{ passed: number, failed: string[], silent: string[] }} `silent`: folders with no report.
 */
export function readReports(folders) {
  let passed = 0;
  const failed = [];
  const silent = [];
  for (const folder of folders) {
    if (!existsSync(reportOf(folder))) {
      silent.push(relative(repositoryRoot, folder));
      continue;
    }
    /** @type {{ testResults: FileOutcome[] }} */
    const report = JSON.parse(readFileSync(reportOf(folder), 'utf8'));
    for (const file of report.testResults) {
      const name = relative(repositoryRoot, file.name);
      const bad = file.assertionResults.filter((test) => test.status === 'failed');
      passed += file.assertionResults.filter((test) => test.status === 'passed').length;
      failed.push(...bad.map((test) => `${name}: ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`));
      if (file.status === 'failed' && bad.length === 0) failed.push(`${name}: ${firstLine(file.message)}`);
    }
  }
  return { passed, failed, silent };
}

/** @param {string | undefined} text */
function firstLine(text) {
  return text?.split('\n', 1)[0] ?? 'no message';
}

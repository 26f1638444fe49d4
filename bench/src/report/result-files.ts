import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resultSchema, type Result } from './result.js';

/** Where everything that is measured is kept. */
export const resultsFolder = fileURLToPath(new URL('../../results', import.meta.url));

export function writeResult(result: Result): void {
  mkdirSync(resultsFolder, { recursive: true });
  writeFileSync(fileOf(result.row), `${JSON.stringify(result, null, 2)}\n`);
}

/** Puts the picture of a row beside its result. */
export function writePlot(row: string, svg: string): void {
  writeFileSync(join(resultsFolder, `${row}.svg`), svg);
}

/** The committed result of a row, or `undefined` where there is none. */
export function readResult(row: string): Result | undefined {
  const file = fileOf(row);
  return existsSync(file) ? resultSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

function fileOf(row: string): string {
  return join(resultsFolder, `${row}.json`);
}

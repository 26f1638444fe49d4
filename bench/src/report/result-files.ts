import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resultSchema, type Result } from './result.js';

const folder = fileURLToPath(new URL('../../results', import.meta.url));

export function writeResult(result: Result): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(result.row), `${JSON.stringify(result, null, 2)}\n`);
}

/** The committed result of a row, or `undefined` where there is none. */
export function readResult(row: string): Result | undefined {
  const file = fileOf(row);
  return existsSync(file) ? resultSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

function fileOf(row: string): string {
  return join(folder, `${row}.json`);
}

#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { definitionJsonSchema } from './json-schema.js';

/** Writes the published JSON schema; with `--check` says whether what is committed is what the code means. */
const file = fileURLToPath(new URL('../../schema/environment.schema.json', import.meta.url));
const schema = definitionJsonSchema();
if (!process.argv.includes('--check')) {
  writeFileSync(file, schema);
} else if (readFileSync(file, 'utf8') !== schema) {
  console.error(`${file} is not what the code means; run "pnpm schema" in packages/worker.`);
  process.exitCode = 1;
}

import { parseArgs } from 'node:util';
import { bindingRounds, resultOf, type Result } from './report/result.js';
import { writeResult } from './report/result-files.js';
import { tableOf } from './report/table.js';
import type { Row } from './row.js';
import { allRows } from './rows/all-rows.js';

const usage = `Usage: pnpm bench [ROW...] [--rounds N] [--check]
  Rows: ${allRows.map(({ name }) => name).join(', ')}; all of them by default.
  Only a run of ${bindingRounds} rounds is written to bench/results.
  --check: exit status 1 where a gate is missed.`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const asked = read(args);
  if (asked === undefined) {
    console.error(usage);
    return 2;
  }
  const results: Result[] = [];
  for (const row of asked.rows) {
    console.error(`${row.name}: ${row.what}`);
    const result = resultOf(row, await row.measure(asked.rounds));
    if (asked.rounds === bindingRounds) writeResult(result);
    results.push(result);
    for (const [name, figure] of Object.entries(result.also ?? {})) console.error(`  ${name}: ${figure}`);
    console.error(`  ${result.median} ${result.unit}`);
  }
  console.log(tableOf(results));
  return asked.check && results.some(({ met }) => met === 'nothing') ? 1 : 0;
}

function read(args: string[]): { rows: readonly Row[]; rounds: number; check: boolean } | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        rounds: { type: 'string', default: String(bindingRounds) },
        check: { type: 'boolean', default: false },
      },
    });
    const rows = allRows.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
    const unknown = positionals.filter((name) => !allRows.some((row) => row.name === name));
    const rounds = Number(values.rounds);
    if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) return undefined;
    return { rows, rounds, check: values.check };
  } catch {
    return undefined;
  }
}

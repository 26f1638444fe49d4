import { parseArgs } from 'node:util';
import { bindingRounds, resultOf, type Result } from './report/result.js';
import { resultsFolder, writePlot, writeResult } from './report/result-files.js';
import { aligned, tableOf } from './report/table.js';
import type { Row } from './row.js';
import { allRows } from './rows/all-rows.js';
import { soak, soakNames } from './soaks/soak.js';

const usage = `Usage: pnpm bench [ROW...] [--rounds N] [--check], or pnpm bench --soak ${soakNames.join('|')}
  Rows: ${allRows.map(({ name }) => name).join(', ')}; all of them by default.
  Only a run of ${bindingRounds} rounds is written to bench/results.
  --check: exit status 1 where a gate is missed.`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const [first, second = ''] = args;
  if (first === '--soak' && soakNames.includes(second)) return soak(second, resultsFolder);
  const asked = read(args);
  if (asked === undefined) {
    console.error(usage);
    return 2;
  }
  const results: Result[] = [];
  for (const row of asked.rows) {
    console.error(`${row.name}: ${row.what}`);
    const measured = await row.measure(asked.rounds);
    const result = resultOf(row, measured);
    if (asked.rounds === bindingRounds) {
      writeResult(result);
      if (measured.plot !== undefined) writePlot(row.name, measured.plot);
    }
    results.push(result);
    if (measured.table !== undefined) console.log(`${aligned(measured.table)}\n`);
    else
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

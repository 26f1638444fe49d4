#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { replayFile, ReplayFailure } from './replay-file.js';
import { storeNames } from './store-by-name.js';

const usage = `usage: pnpm -s vectors FILE... [--store ${storeNames.join('|')}]`;

/** Exit status: 0 where every line gives what it expects, 1 at the first that does not, 2 for a wrong usage. */
async function main(args: readonly string[]): Promise<number> {
  const { positionals: files, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { store: { type: 'string', default: 'memory' } },
  });
  if (files.length === 0) throw new RangeError('no file is named');
  for (const file of files) {
    const { scheduling, routing } = await replayFile(file, values.store);
    const parts = [
      ...(scheduling > 0 ? [`${scheduling} scheduling traces through the ${values.store} store`] : []),
      ...(routing > 0 ? [`${routing} routing cases`] : []),
    ];
    console.log(`${file}: ${parts.join(', ')}, all as expected`);
  }
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof RangeError || error instanceof TypeError;
  console.error(error instanceof Error ? error.message : String(error));
  if (isUsage) console.error(usage);
  process.exitCode = isUsage && !(error instanceof ReplayFailure) ? 2 : 1;
}

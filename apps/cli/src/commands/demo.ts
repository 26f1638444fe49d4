import type { Command } from 'commander';
import { runDemo } from '../demo/run-demo.js';
import { exitStatus } from '../errors/cli-error.js';
import { onInterruption } from '../exec/interruption.js';
import { wholeNumber } from '../options/numbers.js';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('show on a sample repository in a temporary folder what lanes are for')
    .option('--pace <times>', 'how many times as long all of it takes', wholeNumber(1, 5), 1)
    .action(showDemo);
}

async function showDemo({ pace }: { readonly pace: number }): Promise<void> {
  const interruption = new AbortController();
  const stopListening = onInterruption(() => {
    interruption.abort();
  });
  try {
    const isTrue = await runDemo(process.stdout, pace, interruption.signal);
    process.exitCode = isTrue ? exitStatus.ok : exitStatus.failed;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    console.error('codelanes: Stopped; nothing was left behind.');
    process.exitCode = exitStatus.cancelled;
  } finally {
    stopListening();
  }
}

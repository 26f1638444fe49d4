import type { Command } from 'commander';
import { runDemo } from '../demo/run-demo.js';
import { exitStatus } from '../errors/cli-error.js';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('show on a sample repository in a temporary folder what lanes are for')
    .action(async () => {
      const isTrue = await runDemo(process.stdout);
      process.exitCode = isTrue ? exitStatus.ok : exitStatus.failed;
    });
}

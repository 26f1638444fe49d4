import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { z } from 'zod';
import { addBridgeCommand } from './commands/bridge.js';
import { addCancelCommand } from './commands/cancel.js';
import { addDemoCommand } from './commands/demo.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addExecCommand } from './commands/exec.js';
import { addLanesCommand } from './commands/lanes.js';
import { addPairCommand } from './commands/pair.js';
import { addSetupCommand } from './commands/setup.js';
import { addSnapshotsCommand } from './commands/snapshots.js';
import { addUpCommand } from './commands/up.js';
import { addWorkerCommand } from './commands/worker.js';

/** The whole command line. Failures are thrown, never printed here. */
export function createProgram(): Command {
  const program = new Command('codelanes')
    .description('Coding agents side by side, each in a lane of its own.')
    .version(ownVersion(), '--version', 'print the version')
    .enablePositionalOptions()
    .showHelpAfterError('(add --help to see what is taken)')
    .exitOverride();
  addUpCommand(program);
  addExecCommand(program);
  addLanesCommand(program);
  addCancelCommand(program);
  addSetupCommand(program);
  addSnapshotsCommand(program);
  addBridgeCommand(program);
  addWorkerCommand(program);
  addPairCommand(program);
  addDoctorCommand(program);
  addDemoCommand(program);
  return program;
}

/** That of the package, which lies one folder above both the source and what is built of it. */
function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return z.object({ version: z.string() }).parse(manifest).version;
}

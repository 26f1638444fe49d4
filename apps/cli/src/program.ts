import { Command } from 'commander';
import { addBridgeCommand } from './commands/bridge.js';
import { addCancelCommand } from './commands/cancel.js';
import { addDemoCommand } from './commands/demo.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addExecCommand } from './commands/exec.js';
import { addLanesCommand } from './commands/lanes.js';
import { addUpCommand } from './commands/up.js';
import { addWorkerCommand } from './commands/worker.js';

/** The whole command line. Failures are thrown, never printed here. */
export function createProgram(): Command {
  const program = new Command('codelanes')
    .description('Coding agents side by side, each in a lane of its own.')
    .enablePositionalOptions()
    .showHelpAfterError('(add --help to see what is taken)')
    .exitOverride();
  addUpCommand(program);
  addExecCommand(program);
  addLanesCommand(program);
  addCancelCommand(program);
  addBridgeCommand(program);
  addWorkerCommand(program);
  addDoctorCommand(program);
  addDemoCommand(program);
  return program;
}

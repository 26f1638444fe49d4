#!/usr/bin/env node
import { CommanderError } from 'commander';
import { exitStatus } from './errors/cli-error.js';
import { printError } from './errors/print-error.js';
import { createProgram } from './program.js';

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // commander has said it already; asking for help is no failure.
    process.exitCode = error.exitCode === 0 ? exitStatus.ok : exitStatus.usage;
  } else {
    printError(error);
    process.exitCode = exitStatus.failed;
  }
}

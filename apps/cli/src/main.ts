#!/usr/bin/env node
import { CommanderError } from 'commander';
import { isErrno } from './connection/private-file.js';
import { AlreadyTold, exitStatus } from './errors/cli-error.js';
import { printError } from './errors/print-error.js';
import { createProgram } from './program.js';

// Whoever reads the output may have seen enough, as in `codelanes lanes | head`; what is cleaned up at the end still is.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (!isErrno(error, 'EPIPE')) throw error;
  });
}

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // commander has said it already; asking for help is no failure.
    process.exitCode = error.exitCode === 0 ? exitStatus.ok : exitStatus.usage;
  } else {
    if (!(error instanceof AlreadyTold)) printError(error);
    process.exitCode = exitStatus.failed;
  }
}

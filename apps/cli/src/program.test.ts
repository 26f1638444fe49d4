import { CommanderError } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from './program.js';

it('tells its version, with status 0', async () => {
  const printed: string[] = [];
  const program = createProgram().configureOutput({ writeOut: (text) => printed.push(text) });
  const end = await program.parseAsync(['node', 'codelanes', '--version']).catch((error: unknown) => error);
  expect(end).toBeInstanceOf(CommanderError);
  expect(end).toMatchObject({ exitCode: 0 });
  expect(printed.join('')).toMatch(/^\d+\.\d+\.\d+\n$/);
});

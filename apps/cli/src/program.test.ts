import { CommanderError, type Command } from 'commander';
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

it.each([
  [
    ['lanes', 'relase', 'x'],
    'unknown command \'codelanes lanes relase\'. Did you mean "codelanes lanes release"?',
  ],
  [['up', 'src'], '"src" says nothing by itself. Did you mean --root src?'],
  [['worker', 'src'], '"src" says nothing by itself. Did you mean --root src?'],
  [
    ['bridge', 'paring'],
    'unknown command \'codelanes bridge paring\'. Did you mean "codelanes bridge pairing"?',
  ],
  [['pair', 'http://127.0.0.1:1', 'xyz'], 'codelanes bridge pairing create'],
])('says of %j what was meant, with the status of a wrong argument', async (words, told) => {
  const printed: string[] = [];
  const program = createProgram();
  const silenced = (command: Command) => {
    command.configureOutput({ writeErr: (text) => printed.push(text) });
    command.commands.forEach(silenced);
  };
  silenced(program);
  const end = await program.parseAsync(['node', 'codelanes', ...words]).catch((error: unknown) => error);
  expect(end).toBeInstanceOf(CommanderError);
  expect(printed.join('')).toContain(told);
});

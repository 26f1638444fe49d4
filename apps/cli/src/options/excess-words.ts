import type { Command } from 'commander';

/**
 * Ends a command that takes no words of its own where it got one: most likely the name of a command beneath it,
 * misspelt, or the value of a flag that was left out.
 */
export function refuseExcessWords(command: Command, flag?: string): void {
  const [word] = command.args;
  if (word === undefined) return;
  const beneath = command.commands.map((each) => `"${pathOf(each)}"`);
  if (flag !== undefined)
    command.error(`error: "${word}" says nothing by itself. Did you mean ${flag} ${word}?`);
  command.error(`error: unknown command '${pathOf(command)} ${word}'. Did you mean ${beneath.join(' or ')}?`);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

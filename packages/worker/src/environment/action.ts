import { limits } from '@codelanes/protocol';
import { z } from 'zod';
import { closed, command, wholeNumber } from './fields.js';

const most = 32;
const listError = `expected a list of at most ${most} actions`;

/** Letters and digits of environment and action names. */
export const shortName = (what: string) => {
  const error = `expected ${what} of 1 to ${limits.actionNameLength} of A-Z a-z 0-9 _ -, starting with a letter or digit`;
  return z.string(error).regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/u, error);
};

const actionSchema = closed(
  {
    name: shortName('a name').describe('What a caller asks for.'),
    command: command('a command for the shell').describe('What runs; callers never see it.'),
    timeoutMs: wholeNumber(
      'milliseconds',
      1,
      limits.commandTimeoutMs,
      limits.commandDefaultTimeoutMs,
    ).describe('Time for command.'),
  },
  'an action',
);
/** A command of the operator's that callers choose by name and fingerprint. */
export type Action = z.output<typeof actionSchema>;

export const actionsSchema = z
  .array(actionSchema, listError)
  .max(most, listError)
  .superRefine((actions, context) => {
    actions.forEach(({ name }, index) => {
      if (actions.findIndex((other) => other.name === name) === index) return;
      context.addIssue({
        code: 'custom',
        path: [index, 'name'],
        message: `"${name}" is the name of an earlier action; expected another`,
      });
    });
  });

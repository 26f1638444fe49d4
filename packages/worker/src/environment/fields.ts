import { isAbsolute } from 'node:path';
import { isWellFormed, limits, pathFault, utf8Length } from '@codelanes/protocol';
import { z } from 'zod';
import { isGitSegment } from '../files/git-path.js';

/** A mapping with these keys and no others. */
export function closed<Shape extends z.core.$ZodShape>(shape: Shape, what: string) {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys'
        ? `is not a key of ${what}; expected one of ${keys}`
        : `expected ${what}, a mapping of ${keys}`,
  });
}

/** A whole number within bounds; `null`, a key with nothing behind it, is what today's worker takes for absent. */
export function wholeNumber(what: string, minimum: number, maximum: number, absent: number) {
  const range =
    maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  const error = `expected a whole number of ${what} ${range}`;
  return z
    .int(error)
    .min(minimum, error)
    .max(maximum, error)
    .nullish()
    .meta({ default: absent })
    .transform((value) => value ?? absent);
}

/** Text of some characters, not all of them blank, without NUL. */
export function text(what: string, maximum: number) {
  const error = `expected ${what}, of 1 to ${maximum} characters`;
  return z
    .string(error)
    .max(maximum, error)
    .refine((value) => value.trim() !== '' && !value.includes('\0') && isWellFormed(value), error);
}

const commandLength = 16_384;

/** A line or script for the shell. */
export function command(what: string) {
  return text(what, commandLength).refine(
    (value) => utf8Length(value) <= limits.commandBytes,
    `expected ${what}, of at most ${limits.commandBytes} bytes`,
  );
}

/** An absolute path of this machine, on one line. */
export function absolutePath(what: string) {
  const error = `expected ${what} as an absolute path on one line`;
  return z
    .string(error)
    .max(limits.pathLength, `expected ${what}, of at most ${limits.pathLength} characters`)
    .refine((path) => isAbsolute(path) && !/[\0\r\n]/u.test(path), error);
}

/** A portable path beneath a folder. */
export function relativePath(what: string) {
  return z.string(`expected ${what}`).superRefine((path, context) => {
    const fault = pathFault(path);
    if (fault !== undefined) context.addIssue(`expected ${what}: ${fault}`);
  });
}

/** A portable path that leads neither into Git's storage nor into the folder of the worktrees. */
export function treePath(what: string) {
  return relativePath(what).superRefine((path, context) => {
    const odd = path.split('/').find((segment) => isGitSegment(segment) || segment === '.worktrees');
    if (odd !== undefined) context.addIssue(`expected ${what}: it may not lie in "${odd}"`);
  });
}

/** A list whose entries differ. */
export function distinct<Entry extends z.ZodType<string>>(entry: Entry, what: string, maximum: number) {
  const error = `expected a list of 1 to ${maximum} ${what}`;
  return z
    .array(entry, error)
    .min(1, error)
    .max(maximum, error)
    .superRefine((entries, context) => {
      entries.forEach((each, index) => {
        if (entries.indexOf(each) === index) return;
        context.addIssue({
          code: 'custom',
          path: [index],
          message: `stands twice; expected each of the ${what} once`,
        });
      });
    });
}

import { z } from 'zod';
import { absolutePath, closed, wholeNumber } from './fields.js';

const gibibyte = 1024 ** 3;
const kinds = ['npm-cache', 'uv-cache', 'playwright-browsers'] as const;
const listError = `expected a list of 1 to ${kinds.length} resources`;

export const resourceSchema = closed(
  {
    kind: z.enum(kinds, `expected one of ${kinds.join(', ')}`).describe('Which tool finds it.'),
    path: absolutePath('a folder of this machine').describe(
      'The folder, outside of every root, yours alone (mode 0700).',
    ),
    access: z
      .enum(['read-only', 'read-write'], 'expected read-only or read-write')
      .describe('What commands may do there.'),
  },
  'a resource',
);
/** A folder of the machine that the commands of an environment share. */
export type Resource = z.output<typeof resourceSchema>;

export const resourcesSchema = z
  .array(resourceSchema, listError)
  .min(1, listError)
  .max(kinds.length, listError)
  .superRefine((resources, context) => {
    resources.forEach(({ kind }, index) => {
      if (resources.findIndex((other) => other.kind === kind) === index) return;
      context.addIssue({
        code: 'custom',
        path: [index, 'kind'],
        message: `"${kind}" is the kind of an earlier resource; expected each once`,
      });
    });
  });

/** How much of the disk has to be free before setup is started. */
export const storageSchema = closed(
  {
    minFreeBytes: wholeNumber('bytes', 0, Number.MAX_SAFE_INTEGER, 5 * gibibyte).describe(
      'Bytes that stay free.',
    ),
    setupReserveBytes: wholeNumber('bytes', 0, Number.MAX_SAFE_INTEGER, 2 * gibibyte).describe(
      'Bytes that a setup may need.',
    ),
  },
  'limits of storage',
).refine(
  ({ minFreeBytes, setupReserveBytes }) => Number.isSafeInteger(minFreeBytes + setupReserveBytes),
  'expected limits whose sum is a whole number that can be counted',
);
export type Storage = z.output<typeof storageSchema>;

import { limits } from '@codelanes/protocol';
import { z } from 'zod';
import { actionsSchema } from './action.js';
import { credentialsSchema, remoteSchema } from './credentials.js';
import { closed, treePath } from './fields.js';
import { networkPolicySchema } from './network-policy.js';
import { repositorySetupSchema } from './setup.js';

const idForm = 'an id of 1 to 128 of A-Z a-z 0-9 . _ -, starting with a letter or digit';
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/u;
const slotsForm = `expected a number of commands from 1 to ${limits.slots}`;

/** One checkout beneath the root of an environment. */
export const repositorySchema = closed(
  {
    path: treePath('the relative path of a checkout').describe(
      'The checkout, relative to the root; also its name on the wire.',
    ),
    id: z
      .string(`expected ${idForm}`)
      .regex(idPattern, `expected ${idForm}`)
      .optional()
      .describe('Second half of its workspace id; by default the path with . for /.'),
    setup: repositorySetupSchema.optional().describe('Runs once in each new worktree.'),
    slots: z
      .int(slotsForm)
      .min(1, slotsForm)
      .max(limits.slots, slotsForm)
      .optional()
      .describe('Commands of this repository that may run at once.'),
    actions: actionsSchema.optional().describe('Commands that callers choose by name.'),
    network: networkPolicySchema
      .optional()
      .describe('What its commands may reach; by default what the environment says.'),
    remote: remoteSchema.optional().describe('Where it is fetched from and pushed to.'),
    credentials: credentialsSchema.optional().describe('A secret for the remote.'),
  },
  'a repository',
)
  .superRefine(({ path, id, remote, credentials }, context) => {
    if (id === undefined && !idPattern.test(defaultId(path))) {
      context.addIssue({
        code: 'custom',
        path: ['path'],
        message: `no id can be made of this path; expected id: beside it with ${idForm}`,
      });
    }
    if (credentials !== undefined && remote === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['credentials'],
        message: 'there is no remote that they are for; expected remote: beside them',
      });
    }
  })
  .transform((repository) => ({ ...repository, id: repository.id ?? defaultId(repository.path) }));
export type RepositoryDefinition = z.output<typeof repositorySchema>;

function defaultId(path: string): string {
  return path.replaceAll('/', '.');
}

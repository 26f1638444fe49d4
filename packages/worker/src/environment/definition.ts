import { laneRoutingSchema, limits, workspaceIdSchema } from '@codelanes/protocol';
import { z } from 'zod';
import { liesIn } from '../files/lies-in.js';
import { actionsSchema, shortName } from './action.js';
import { absolutePath, closed, text } from './fields.js';
import { networkPolicySchema } from './network-policy.js';
import { repositorySchema } from './repository.js';
import { environmentSetupSchema } from './setup.js';
import { resourcesSchema, storageSchema } from './storage.js';

/** Repositories of one environment: its root is a workspace too. */
const mostRepositories = limits.workspacesPerWorker - 1;
const repositoriesForm = `expected a list of 1 to ${mostRepositories} repositories, as a worker offers at most ${limits.workspacesPerWorker} workspaces, roots included`;

const repoForm = 'expected owner/name, which is a label and no address';
const refForm = 'expected a label of one line';

/** What an operator writes about one root, in a YAML file. */
export const environmentSchema = closed(
  {
    name: shortName('a name').describe("The workspace's id and the name that people see."),
    root: text('the folder to serve, absolute or relative to this file', limits.pathLength).describe(
      'The folder to serve, absolute or relative to this file.',
    ),
    repo: text('a label', 256)
      .regex(/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/u, repoForm)
      .optional()
      .describe('A label for people, owner/name; nothing is cloned.'),
    ref: text('a label', 256)
      .regex(/^[^\r\n]*$/u, refForm)
      .optional()
      .describe('A label for people; nothing is checked out.'),
    linkedWorktreeLanes: z
      .boolean('expected true or false')
      .optional()
      .describe(
        'Whether each linked worktree beneath .worktrees is a lane; the command line can say it for all.',
      ),
    laneRouting: z
      .literal(laneRoutingSchema.value, 'expected by-path, or no such key')
      .optional()
      .describe(
        'by-path: the bridge sends calls that name no lane to the one in which their path or cwd lies.',
      ),
    setup: environmentSetupSchema.optional().describe('Runs at the root at each start of the worker.'),
    actions: actionsSchema.optional().describe('Commands that callers choose by name; they run at the root.'),
    resources: resourcesSchema.optional().describe('Caches of the machine that commands share.'),
    storage: storageSchema.optional().describe('Free disk that setup needs.'),
    network: networkPolicySchema
      .optional()
      .describe('What commands may reach: nothing, if this is not given.'),
    sandbox: closed(
      {
        read: z
          .array(absolutePath('a path of this machine'), 'expected a list of absolute paths')
          .max(64, 'expected at most 64 paths')
          .optional()
          .describe('Further paths that commands may read.'),
      },
      'the sandbox',
    )
      .optional()
      .describe('What commands see of this machine.'),
    repositories: z
      .array(repositorySchema, repositoriesForm)
      .min(1, repositoriesForm)
      .max(mostRepositories, repositoriesForm)
      .optional()
      .describe('Checkouts beneath the root, each with a lane of its own.'),
  },
  'an environment',
).superRefine(({ name, repositories = [] }, context) => {
  repositories.forEach(({ path, id }, index) => {
    const earlier = repositories.slice(0, index);
    const fault = (key: string, message: string) => {
      context.addIssue({ code: 'custom', path: ['repositories', index, key], message });
    };
    const overlapping = earlier.find((other) => liesIn(path, other.path) || liesIn(other.path, path));
    if (overlapping !== undefined) {
      fault(
        'path',
        `overlaps the repository "${overlapping.path}"; expected paths of which none lies in another`,
      );
    }
    const namesake = earlier.find((other) => other.id === id);
    if (namesake !== undefined && overlapping === undefined) {
      fault('id', `"${id}" is the id of the repository "${namesake.path}" too; expected another`);
    }
    if (!workspaceIdSchema.safeParse(aliasOf(name, id)).success) {
      fault(
        'id',
        `"${aliasOf(name, id)}" is too long for a workspace; expected at most ${limits.idLength} characters with the environment's name`,
      );
    }
  });
});
export type EnvironmentDefinition = z.output<typeof environmentSchema>;

/** The workspace by which a client that knows no repositories picks one. */
export function aliasOf(environment: string, repositoryId: string): string {
  return `${environment}:${repositoryId}`;
}

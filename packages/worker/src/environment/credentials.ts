import { z } from 'zod';
import { absolutePath, closed, command, wholeNumber } from './fields.js';

const remoteForm = 'the address of a remote like https://github.com/owner/name';

/** Where a repository is fetched from and pushed to, as the operator names it; never what its own config says. */
export interface Remote {
  /** As written. */
  readonly url: string;
  /** Host and port. */
  readonly host: string;
  /** Without the first `/` and a last `.git`. */
  readonly path: string;
}

export const remoteSchema = z
  .string(`expected ${remoteForm}`)
  .max(2048, `expected ${remoteForm}`)
  .transform((written, context): Remote => {
    const fault = remoteFault(written);
    if (fault !== undefined) {
      context.addIssue(fault);
      return z.NEVER;
    }
    const { host, pathname } = new URL(written);
    return { url: written, host, path: pathname.slice(1).replace(/\.git$/u, '') };
  });

function remoteFault(written: string): string | undefined {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url?.protocol !== 'https:') {
    return `expected ${remoteForm}; a checkout that uses ssh is reached by https with these credentials`;
  }
  if (url.username !== '' || url.password !== '') {
    return `expected ${remoteForm}; a user or a secret belongs to credentials:`;
  }
  const segments = url.pathname.slice(1).split('/');
  const plain = !/[\s\\?#%]/u.test(written) && written.endsWith(url.pathname);
  return plain && segments.every((segment) => segment !== '') ? undefined : `expected ${remoteForm}`;
}

const githubAppSchema = closed(
  {
    kind: z.literal('github-app'),
    appId: z
      .int('expected the number of a GitHub App')
      .min(1, 'expected the number of a GitHub App')
      .describe('Number of the App.'),
    installationId: z
      .int('expected the number of an installation')
      .min(1, 'expected the number of an installation')
      .optional()
      .describe('Number of its installation; looked up by the remote where it is not given.'),
    privateKeyFile: absolutePath('the file with the private key of the App').describe(
      'Its private key (PEM), readable by you alone.',
    ),
    apiUrl: z
      .url({ protocol: /^https$/u, error: 'expected the https address of a GitHub API' })
      .default('https://api.github.com')
      .describe('Address of the API of a GitHub Enterprise server.'),
  },
  'credentials of a GitHub App',
);
const tokenFileSchema = closed(
  {
    kind: z.literal('token-file'),
    path: absolutePath('the file with the token').describe('File with one token, readable by you alone.'),
    username: z
      .string('expected a user name')
      .regex(/^[^\s:@/]{1,128}$/u, 'expected a user name of 1 to 128 characters without blanks, :, @ and /')
      .default('x-access-token')
      .describe('User name that goes with the token.'),
  },
  'credentials of a token file',
);
const commandSchema = closed(
  {
    kind: z.literal('command'),
    command: command('a command that prints a token').describe(
      'Prints one token; runs as you, outside of every wall.',
    ),
    username: tokenFileSchema.shape.username,
    timeoutMs: wholeNumber('milliseconds', 1, 60_000, 10_000).describe('Time for command.'),
  },
  'credentials by a command',
);

/** How the worker comes by a secret for the remote of one repository. */
export const credentialsSchema = z.discriminatedUnion(
  'kind',
  [githubAppSchema, tokenFileSchema, commandSchema],
  {
    error: ({ input }) =>
      typeof input === 'object'
        ? 'expected one of github-app, token-file, command'
        : 'expected credentials, beginning with their kind',
  },
);
export type Credentials = z.output<typeof credentialsSchema>;

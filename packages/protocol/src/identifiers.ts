import { z } from 'zod';
import { limits } from './limits.js';
import { isWellFormed } from './text.js';

/** Worker ids and workspace ids; `:` is legal, so nothing may use it as a separator of keys. */
export const workspaceIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
    'expected 1 to 128 of A-Z a-z 0-9 . _ : -, starting with a letter or digit',
  );
export const workerIdSchema = workspaceIdSchema;

/** An independent clone for one conversation. */
export const workspaceInstanceIdSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits');

/** One path segment beneath `.worktrees`; Git cannot have names that end in `.lock`. */
export const worktreeNameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    'expected one path segment of 1 to 128 of A-Z a-z 0-9 . _ -, starting with a letter or digit',
  )
  .refine((name) => !name.endsWith('.lock'), 'a worktree name may not end in .lock');

/** Why a path is not portable, or `undefined` where it is. */
export function pathFault(path: string): string | undefined {
  if (path.length === 0) return 'a path may not be empty';
  if (path.length > limits.pathLength) return `a path has at most ${limits.pathLength} characters`;
  // eslint-disable-next-line no-control-regex -- these three are what the rule is about
  if (/[\u0000\r\n]/.test(path)) return 'a path may not hold NUL, CR or LF';
  if (path.includes('\\')) return 'a path uses / and no backslash';
  if (path.startsWith('/')) return 'a path is relative to its lane and may not start with /';
  if (/^[A-Za-z]:/.test(path)) return 'a path may not start with a drive';
  if (!isWellFormed(path)) return 'a path must be well-formed Unicode';
  const odd = path.split('/').find((segment) => segment === '' || segment === '.' || segment === '..');
  if (odd !== undefined) return `a path may not hold the segment "${odd}"`;
  return undefined;
}

/** A portable path relative to its lane; source: `isSafePath` of LibreChat's client. */
export const relativePathSchema = z.string().superRefine((path, context) => {
  const fault = pathFault(path);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

/** A repository is named by its declared path, verbatim. */
export const repositoryPathSchema = relativePathSchema;

/** 128 random bits in hex, made by the bridge or proposed by the caller. */
export const callIdSchema = z.string().regex(/^[0-9a-f]{32}$/, 'expected 32 lower-case hex digits');
export const incarnationIdSchema = callIdSchema;
export const registrationIdSchema = callIdSchema;
export const journalIdSchema = callIdSchema;
/** 256 random bits in hex: the fence of one lease. */
export const leaseTokenSchema = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits');
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in lower-case hex');

import { join } from 'node:path';
import { worktreeNameSchema } from '@codelanes/protocol';
import { z } from 'zod';
import { leaveRequest, watchRequests, type RequestTaker } from '../files/request-folder.js';

/** An operator's word that a worktree is to be set up again. */
const retrySchema = z.strictObject({ version: z.literal(1), worktree: worktreeNameSchema });

/** A setup that can be run again. */
export interface RetriedSetup {
  /** State folder of the repository. */
  readonly treeState: string;
  readonly worktree: string;
}

/** Asks the worker of a repository to set a worktree of it up again. */
export function requestRetry({ treeState, worktree }: RetriedSetup): void {
  leaveRequest(folderOf(treeState), worktree, { version: 1, worktree });
}

/** Hands over the name of every worktree that is to be set up again, as `watchRequests` does. */
export function watchRetries(
  treeState: string,
  { take, onError }: Pick<RequestTaker<string>, 'take' | 'onError'>,
): () => void {
  return watchRequests(folderOf(treeState), {
    schema: retrySchema,
    take: ({ worktree }) => {
      take(worktree);
    },
    onError,
  });
}

function folderOf(treeState: string): string {
  return join(treeState, 'setup-retries');
}

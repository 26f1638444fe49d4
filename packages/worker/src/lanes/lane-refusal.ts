import { CodelanesError } from '@codelanes/protocol';

/** Which check of a lane failed; a newcomer finds each by this word in `checkout.ts` and `verify.ts`. */
export type LaneCheck =
  | 'name'
  | 'checkout_folder'
  | 'git_directory'
  | 'git_storage'
  | 'identity'
  | 'worktree_folder'
  | 'pointer'
  | 'metadata'
  | 'commondir'
  | 'back_pointer'
  | 'claim'
  | 'head';

/**
 * A lane that did not verify. The message is a sentence that names the failed check and one that says what to
 * do. Of a worktree it is `INVALID_REQUEST`, of the registered checkout `REGISTRATION_INVALID`; it never
 * quarantines anything.
 */
export class LaneRefusal extends CodelanesError {
  readonly check: LaneCheck;

  constructor(subject: 'worktree' | 'checkout', check: LaneCheck, message: string, options?: ErrorOptions) {
    super(subject === 'worktree' ? 'INVALID_REQUEST' : 'REGISTRATION_INVALID', message, options);
    this.check = check;
  }
}

import { assertActionAdvertised, CodelanesError } from '@codelanes/protocol';
import type { Assignment, Capabilities } from '@codelanes/protocol';
import type { ServedTree } from './served-tree.js';

/**
 * The call with the operator's own command in place of the caller's, where it asks for an action of the tree that it
 * is in: at the top of its lane, and for no longer than both the caller and the definition say. Any other call as it is.
 *
 * @throws {CodelanesError} as `assertActionAdvertised`: the definition may have changed since the call was taken in.
 */
export function withAction(
  told: Assignment,
  capabilities: Capabilities,
  { definition }: Pick<ServedTree, 'definition'>,
): Assignment {
  const { request } = told;
  if (request.operation !== 'execute_command' || request.environmentAction === undefined) return told;
  assertActionAdvertised(capabilities, request);
  const { environmentAction, cwd: _, ...rest } = request;
  const action = definition?.actions.find(({ name }) => name === environmentAction.name);
  if (action === undefined) {
    throw new CodelanesError('INVALID_REQUEST', `There is no action "${environmentAction.name}" here.`);
  }
  return {
    ...told,
    executionMs: Math.min(told.executionMs, action.timeoutMs),
    request: { ...rest, command: action.command },
  };
}

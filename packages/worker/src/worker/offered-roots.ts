import {
  assertLaneAdvertised,
  CodelanesError,
  isInstructionRead,
  laneKey,
  laneOf,
  modeOf,
  operationKinds,
  withoutAlias,
} from '@codelanes/protocol';
import type { Assignment, Capabilities } from '@codelanes/protocol';
import { withAction } from './environment-action.js';
import { capabilitiesOf, sharedReads } from './offer.js';
import type { ServedRoot } from './served-root.js';
import { treeOf } from './served-tree.js';

/** A call that names what is offered here. */
export interface Requested {
  readonly root: ServedRoot;
  /** What it occupies is as its request says. */
  readonly assignment: Assignment;
}

/** The roots that a worker offers, by which its calls are read. */
export class OfferedRoots {
  readonly #roots: ReadonlyMap<string, ServedRoot>;
  readonly #capabilities: Capabilities;
  readonly #slots: ReadonlyMap<string, number | undefined>;

  constructor(roots: readonly ServedRoot[], canRunCommands: boolean) {
    this.#roots = new Map(roots.map((root) => [root.id, root]));
    this.#capabilities = capabilitiesOf(roots, canRunCommands);
    const repositories = roots.flatMap((root) => root.repositories);
    this.#slots = new Map(repositories.map(({ lane, slots }) => [laneKey(lane), slots]));
  }

  /** How many commands may run at once in a repository that bounds them, by the key of its lane. */
  slotsOf(key: string): number | undefined {
    return this.#slots.get(key);
  }

  /**
   * What a call occupies follows from its request; the wire's word for it is never relied on.
   *
   * @throws {CodelanesError} `WORKER_MISMATCH` for a lane that is not offered here; as `withAction`.
   */
  asRequested(told: Assignment): Requested {
    const { request } = told;
    assertLaneAdvertised(this.#capabilities, request);
    const fields = withoutAlias(this.#capabilities, request);
    const root = this.#roots.get(fields.workspaceId);
    if (root === undefined) {
      throw new CodelanesError('WORKER_MISMATCH', 'This worker does not serve that workspace.');
    }
    const lane = laneOf(fields);
    const assignment = {
      ...withAction(told, this.#capabilities, treeOf(root, lane)),
      lane,
      mode: modeOf(request.operation, sharedReads),
      pool: isInstructionRead(request) ? 'none' : operationKinds[request.operation].pool,
    } as const;
    return { root, assignment };
  }
}

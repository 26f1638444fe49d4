import { workspaceIdSchema } from '@codelanes/protocol';

/** Which workspace a conversation works in. `checkout` is known to LibreChat's generation B. */
export interface WorkspaceSelection {
  readonly environmentId: string;
  readonly workspaceId: string;
  readonly checkout?: 'source' | 'isolated' | undefined;
}

/** The reasons that LibreChat gives; source: `CODE_WORKSPACE_SELECTION_ERROR_REASONS`. */
export type SelectionErrorReason =
  'required' | 'invalid' | 'worker_unavailable' | 'unsupported' | 'missing' | 'locked';

const sentences: Readonly<Record<SelectionErrorReason, string>> = {
  required: 'No workspace is selected for this environment: select one.',
  invalid: 'The selected workspace has not the form of a selection.',
  worker_unavailable: 'The worker of this environment is not ready: start it, or see why it is away.',
  unsupported: 'The worker of this environment does not offer what is selected.',
  missing: 'The selected workspace is no longer offered: offer it again, or begin a new conversation.',
  locked: 'This conversation has selected another workspace already.',
};

/** A selection that cannot be used; code and status are those of LibreChat's reply. */
export class WorkspaceSelectionError extends Error {
  override readonly name = 'WorkspaceSelectionError';
  readonly code = 'code_workspace_unavailable';
  readonly status = 409;
  readonly reason: SelectionErrorReason;

  constructor(reason: SelectionErrorReason) {
    super(sentences[reason]);
    this.reason = reason;
  }
}

/**
 * The selection of one environment. What the conversation holds already wins over what a request asks for, and the two
 * may not differ.
 *
 * @throws WorkspaceSelectionError `required`, `invalid` or `locked`.
 */
export function selectionOf(
  environmentId: string,
  { requested, persisted }: { readonly requested?: unknown; readonly persisted?: unknown },
): WorkspaceSelection {
  if (persisted !== undefined && requested !== undefined && !sameSelections(persisted, requested)) {
    throw new WorkspaceSelectionError('locked');
  }
  const given = persisted ?? requested;
  if (given === undefined || given === null) throw new WorkspaceSelectionError('required');
  const selections = selectionsIn(given);
  if (selections === undefined) throw new WorkspaceSelectionError('invalid');
  const selection = selections.find((each) => each.environmentId === environmentId);
  if (selection === undefined) throw new WorkspaceSelectionError('required');
  return selection;
}

function sameSelections(one: unknown, other: unknown): boolean {
  const [first, second] = [selectionsIn(one), selectionsIn(other)];
  return first !== undefined && second !== undefined && inOrder(first) === inOrder(second);
}

function inOrder(selections: readonly WorkspaceSelection[]): string {
  const each = selections.map((selection) => JSON.stringify(Object.entries(selection).sort()));
  return each.sort().join();
}

/** The selections of a list with one of each environment at most, or `undefined` where it is none. */
function selectionsIn(value: unknown): WorkspaceSelection[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const selections = value.map(selectionIn).filter((selection) => selection !== undefined);
  const environments = new Set(selections.map(({ environmentId }) => environmentId));
  return environments.size === value.length ? selections : undefined;
}

const knownKeys = ['environmentId', 'workspaceId', 'checkout', 'agentIds'];

function selectionIn(value: unknown): WorkspaceSelection | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  if ([...fields.keys()].some((key) => !knownKeys.includes(key))) return undefined;
  const environmentId = workspaceIdSchema.safeParse(fields.get('environmentId')).data;
  const workspaceId = workspaceIdSchema.safeParse(fields.get('workspaceId')).data;
  if (environmentId === undefined || workspaceId === undefined) return undefined;
  const checkout = fields.get('checkout');
  if (checkout === undefined) return { environmentId, workspaceId };
  if (checkout !== 'source' && checkout !== 'isolated') return undefined;
  return { environmentId, workspaceId, checkout };
}

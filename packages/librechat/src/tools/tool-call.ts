import { workspaceToolRequestSchema, type WorkspaceToolRequest } from '@codelanes/protocol';
import { cleanPath, shownPrefix } from '../routing/clean-path.js';
import type { AdvertisedLanes } from '../routing/lane-locator.js';
import type { ResolvedWorkspace } from '../workspace/resolve-workspace.js';
import { operationOfTool, type WorkspaceToolName } from './definitions.js';

/** A request, or why the arguments of the model make none, as a sentence for it. */
export type ToolCallRequest = { readonly request: WorkspaceToolRequest } | { readonly fault: string };

type Arguments = Readonly<Record<string, unknown>>;

const noLanes: AdvertisedLanes = { repositories: [], worktrees: [] };

/**
 * The request that a model's tool call stands for, not yet routed. Paths are cleaned as lenient routing does it; those
 * of files come with `workspace/` before them and lose it, folders come without.
 */
export function requestOfToolCall(
  tool: WorkspaceToolName,
  given: unknown,
  { workspaceId, routing }: Pick<ResolvedWorkspace, 'workspaceId' | 'routing'>,
): ToolCallRequest {
  const args: Arguments = typeof given === 'object' && given !== null ? { ...given } : {};
  const lanes = routing.kind === 'lanes' ? routing.lanes : noLanes;
  const instance = routing.kind === 'instance' ? { workspaceInstanceId: routing.workspaceInstanceId } : {};
  const fields = Object.entries(fieldsOf[tool](args, lanes)).filter(([, value]) => value !== undefined);
  const parsed = workspaceToolRequestSchema.safeParse({
    protocolVersion: 1,
    operation: operationOfTool[tool],
    workspaceId,
    ...instance,
    ...Object.fromEntries(fields),
  });
  if (parsed.success) return { request: parsed.data };
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  return { fault: `The arguments of ${tool} cannot be sent: ${field}: ${issue?.message ?? 'unknown'}.` };
}

type FieldsOf = (args: Arguments, lanes: AdvertisedLanes) => Arguments;

const fieldsOf: Readonly<Record<WorkspaceToolName, FieldsOf>> = {
  read_file: ({ path, start_line, max_lines }, lanes) => ({
    path: filePath(path, lanes),
    startLine: start_line ?? undefined,
    maxLines: max_lines ?? undefined,
  }),
  search_workspace: ({ query, path, max_results }, lanes) => ({
    query,
    path: folder(path, lanes),
    maxResults: max_results ?? undefined,
  }),
  list_workspace_files: ({ path, max_results, after_path }, lanes) => ({
    path: folder(path, lanes),
    maxResults: max_results ?? undefined,
    afterPath: folder(after_path, lanes),
  }),
  // What already is there is replaced on request only, whatever the protocol's own default is.
  create_file: ({ path, content, overwrite }, lanes) => ({
    path: filePath(path, lanes),
    content,
    overwrite: overwrite === true,
  }),
  edit_file: ({ path, edits }, lanes) => ({
    path: filePath(path, lanes),
    edits: Array.isArray(edits) ? edits.map(edit) : edits,
  }),
  bash_tool: ({ command, cwd, timeout_ms }, lanes) => ({
    command,
    cwd: folder(cwd, lanes),
    timeoutMs: timeout_ms ?? undefined,
  }),
};

function edit(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const { old_text, new_text, replace_all }: Arguments = { ...given };
  const replaceAll = replace_all ?? undefined;
  return { oldText: old_text, newText: new_text, ...(replaceAll === undefined ? {} : { replaceAll }) };
}

function filePath(path: unknown, lanes: AdvertisedLanes): unknown {
  if (typeof path !== 'string') return path;
  return cleanPath(path.startsWith(shownPrefix) ? path.slice(shownPrefix.length) : path, lanes);
}

/** The workspace itself is named by leaving the folder out. */
function folder(path: unknown, lanes: AdvertisedLanes): unknown {
  if (typeof path !== 'string') return path ?? undefined;
  const clean = cleanPath(path, lanes);
  return clean === '' ? undefined : clean;
}

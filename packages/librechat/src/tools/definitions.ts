import { limits, type Operation } from '@codelanes/protocol';
import type { ResolvedWorkspace } from '../workspace/resolve-workspace.js';

/** A tool as models are offered it; `parameters` is a JSON schema. */
export interface ToolDefinition {
  readonly name: WorkspaceToolName;
  readonly description: string;
  readonly parameters: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
}

/** The names are LibreChat's, so that prompts and approvals that know them hold here too. */
export const workspaceToolNames = [
  'read_file',
  'search_workspace',
  'list_workspace_files',
  'create_file',
  'edit_file',
  'bash_tool',
] as const;
export type WorkspaceToolName = (typeof workspaceToolNames)[number];

/** The operation that each tool needs, and is turned into. */
export const operationOfTool: Readonly<Record<WorkspaceToolName, Operation>> = {
  read_file: 'read_file',
  search_workspace: 'search_text',
  list_workspace_files: 'list_files',
  create_file: 'write_file',
  edit_file: 'edit_file',
  bash_tool: 'execute_command',
};

/** The tools that a workspace offers, for a host that has none of its own. */
export function workspaceToolDefinitions(workspace: ResolvedWorkspace): ToolDefinition[] {
  return workspaceToolNames
    .filter((name) => workspace.operations.includes(operationOfTool[name]))
    .map((name) => ({ name, ...makers[name](workspace) }));
}

type Maker = (workspace: ResolvedWorkspace) => Omit<ToolDefinition, 'name'>;

const makers: Readonly<Record<WorkspaceToolName, Maker>> = {
  read_file: () => ({
    description: `Reads lines of a text file of the workspace, ${limits.readFileDefaultLines} at most unless max_lines says otherwise.`,
    parameters: object(
      {
        path: filePath,
        start_line: { type: 'integer', minimum: 1, description: 'The first line, counted from 1.' },
        max_lines: { type: 'integer', minimum: 1, maximum: limits.readFileLines },
      },
      'path',
    ),
  }),
  search_workspace: (workspace) => ({
    description: 'Finds a literal text, no pattern, in the files of the workspace.',
    parameters: object(
      {
        query: { type: 'string', minLength: 1, maxLength: limits.searchQueryLength },
        path: scope(workspace),
        max_results: resultCount(limits.searchResults, limits.searchDefaultResults),
      },
      'query',
    ),
  }),
  list_workspace_files: (workspace) => ({
    description: 'Lists the files of the workspace in the order of their paths.',
    parameters: object({
      path: scope(workspace),
      max_results: resultCount(limits.listResults, limits.listDefaultResults),
      after_path: {
        type: 'string',
        description: 'Goes on after this path, the last one of the list before.',
      },
    }),
  }),
  create_file: () => ({
    description: 'Writes a whole file. It must not exist yet, unless overwrite is true.',
    parameters: object(
      {
        path: filePath,
        content: { type: 'string' },
        overwrite: { type: 'boolean', default: false },
      },
      'path',
      'content',
    ),
  }),
  edit_file: ({ editFileFeatures }) => ({
    description: 'Replaces texts in a file. Each old_text must be in it, and once only.',
    parameters: object(
      {
        path: filePath,
        edits: {
          type: 'array',
          minItems: 1,
          maxItems: limits.editBatch,
          items: object(
            {
              old_text: { type: 'string', minLength: 1 },
              new_text: { type: 'string' },
              ...(editFileFeatures.includes('replace_all')
                ? { replace_all: { type: 'boolean', description: 'Replaces every place where old_text is.' } }
                : {}),
            },
            'old_text',
            'new_text',
          ),
        },
      },
      'path',
      'edits',
    ),
  }),
  bash_tool: (workspace) => ({
    description:
      `Runs a bash command in the workspace. Every call is a process of its own: what it exports, and where it changes to, ends with it. ${laneAdvice(workspace)}`.trim(),
    parameters: object(
      {
        command: { type: 'string' },
        cwd: scope(workspace),
        timeout_ms: {
          type: 'integer',
          minimum: 1,
          maximum: workspace.maxCommandTimeoutMs ?? limits.commandTimeoutMs,
          description: `How long it may run, in milliseconds; ${limits.commandDefaultTimeoutMs} by default.`,
        },
      },
      'command',
    ),
  }),
};

const filePath = {
  type: 'string',
  maxLength: limits.pathLength,
  description: 'The file, as workspace/ and its path, for example workspace/src/main.ts.',
};

function scope(workspace: ResolvedWorkspace): object {
  const description = `A folder of the workspace, without workspace/ before it, for example src. ${laneAdvice(workspace)}`;
  return { type: 'string', maxLength: limits.pathLength, description: description.trim() };
}

function laneAdvice({ routing }: ResolvedWorkspace): string {
  if (routing.kind !== 'lanes') return '';
  const { repositories, worktrees } = routing.lanes;
  const lanes = [
    ...(worktrees.length > 0 ? ['each worktree, such as .worktrees/fix-login,'] : []),
    ...(repositories.length > 0 ? [`each repository (${repositories.join(', ')})`] : []),
  ];
  return `Calls for ${lanes.join(' and ')} run beside those for others; "cd" selects none of them.`;
}

function resultCount(most: number, usual: number): object {
  return { type: 'integer', minimum: 1, maximum: most, default: usual };
}

function object(
  properties: Readonly<Record<string, object>>,
  ...required: readonly string[]
): ToolDefinition['parameters'] {
  return { type: 'object', properties, required, additionalProperties: false };
}

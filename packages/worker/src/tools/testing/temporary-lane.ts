import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ErrorCode, WorkspaceToolResult } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import { Directory } from '../../files/directory.js';
import { findProgram } from '../../files/find-program.js';
import { runTool, type FileToolRequest } from '../run-tool.js';
import type { PlannedWrite, ToolContext } from '../tool-context.js';

type Unenveloped<R> = R extends FileToolRequest ? Omit<R, 'protocolVersion' | 'workspaceId'> : never;
export type ToolFields = Unenveloped<FileToolRequest>;
type ResultOf<F extends ToolFields> = Extract<WorkspaceToolResult, { operation: F['operation'] }>;

/** A lane in a temporary folder, `lane` in it, with whatever a test puts beside it. */
export class TemporaryLane {
  readonly folder = mkdtempSync(join(tmpdir(), 'codelanes-tools-'));
  readonly path = join(this.folder, 'lane');
  readonly planned: PlannedWrite[] = [];
  readonly #directory: Directory;

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    mkdirSync(this.path);
    for (const [name, content] of Object.entries(files)) this.put(name, content);
    this.#directory = Directory.open(this.path);
  }

  put(name: string, content: string | Uint8Array = ''): void {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  get(name: string): string {
    return readFileSync(join(this.path, name), 'utf8');
  }

  context(changes: Partial<ToolContext> = {}): ToolContext {
    return {
      directory: this.#directory,
      lane: 'primary/.worktrees/a',
      hidden: [],
      ripgrep: findProgram('rg', process.env['PATH'] ?? ''),
      signal: new AbortController().signal,
      beforeWrite: (write) => {
        this.planned.push(write);
        return Promise.resolve();
      },
      ...changes,
    };
  }

  /** Runs a tool, every check of its result included. */
  async run<F extends ToolFields>(fields: F, changes: Partial<ToolContext> = {}): Promise<ResultOf<F>> {
    const request = { protocolVersion: 1, workspaceId: 'primary', ...fields } as const;
    const result: WorkspaceToolResult = await runTool(this.context(changes), request);
    if (!isOf<F>(result, fields.operation)) throw new Error(`a result of ${result.operation}`);
    return result;
  }

  /** What a tool that must fail said. */
  async refusal(
    fields: ToolFields,
    changes: Partial<ToolContext> = {},
  ): Promise<{ readonly code: ErrorCode; readonly message: string }> {
    try {
      await this.run(fields, changes);
    } catch (error) {
      if (CodelanesError.is(error)) return { code: error.code, message: error.message };
      throw error;
    }
    throw new Error(`${fields.operation} was not refused`);
  }

  remove(): void {
    this.#directory.close();
    rmSync(this.folder, { recursive: true });
  }
}

function isOf<F extends ToolFields>(
  result: WorkspaceToolResult,
  operation: F['operation'],
): result is ResultOf<F> {
  return result.operation === operation;
}

import { workspaceIdSchema } from '@codelanes/protocol';
import { parseDocument } from 'yaml';
import { z } from 'zod';

/** What an operator writes about one root, in a YAML file. */
export const environmentSchema = z.strictObject({
  name: workspaceIdSchema,
  /** Relative to the file. */
  root: z.string().min(1).max(4096),
  /** Offers each linked worktree of the root as a lane; the command line can say it for all. */
  linkedWorktreeLanes: z.boolean().optional(),
  sandbox: z
    .strictObject({
      /** Absolute paths that every sandbox of this environment may read. */
      read: z.array(z.string().startsWith('/', 'expected an absolute path')).max(64).optional(),
    })
    .optional(),
});
export type EnvironmentDefinition = z.infer<typeof environmentSchema>;

/** A definition that cannot be used; the message names file, line and key, and what was expected there. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
}

/**
 * Reads a definition from YAML: core schema, unique keys, no aliases, no unknown keys.
 *
 * @throws {DefinitionError}
 */
export function parseDefinition(text: string, file: string): EnvironmentDefinition {
  const document = parseDocument(text, { schema: 'core', uniqueKeys: true });
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const [summary] = problem.message.split('\n');
    throw new DefinitionError(`${file}:${lineOf(problem.pos[0])}: ${summary ?? 'is not YAML'}`);
  }
  const parsed = environmentSchema.safeParse(withoutAliases(document, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String) ?? [];
  const key = path.join('.') || 'the document';
  throw new DefinitionError(
    `${file}${lineOfPath(document, path, lineOf)}: ${key}: ${issue?.message ?? 'is not valid'}`,
  );
}

type Document = ReturnType<typeof parseDocument>;

function withoutAliases(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new DefinitionError(`${file}: a definition may not use YAML aliases; write the value out.`);
  }
}

function lineOfPath(document: Document, path: string[], lineOf: (offset: number) => number): string {
  const node: unknown = document.getIn(path, true);
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range))
    return '';
  const range: readonly unknown[] = node.range;
  const [start] = range;
  return typeof start === 'number' ? `:${lineOf(start)}` : '';
}

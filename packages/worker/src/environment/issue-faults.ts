import type { z } from 'zod';
import type { DefinitionFault } from './definition-error.js';
import type { YamlSource } from './yaml-source.js';

type Issue = z.core.$ZodIssue;

/** Says each issue of a schema in one sentence and shows it in the text, in the order of the text. */
export function faultsOf(issues: readonly Issue[], source: YamlSource): readonly DefinitionFault[] {
  return issues.flatMap((issue) => said(issue, source)).sort((one, other) => orderOf(one) - orderOf(other));
}

function said(issue: Issue, source: YamlSource, above: readonly PropertyKey[] = []): DefinitionFault[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => source.faultAt([...path, key], sentence(issue.message), 'key'));
  }
  if (issue.code === 'invalid_union') {
    const meant = closest(issue.errors);
    if (meant !== undefined) return meant.flatMap((inner) => said(inner, source, path));
  }
  // A rule of several values says by itself which of them it means.
  if (issue.code === 'custom') return [source.faultAt(path, sentence(issue.message))];
  const words = source.has(path)
    ? `${issue.message}${foundText(source.valueAt(path))}`
    : `is missing; ${issue.message}`;
  return [source.faultAt(path, sentence(words))];
}

/** Of the forms that a value may have, the one that fits it as far as the value as such. */
function closest(forms: readonly Issue[][]): Issue[] | undefined {
  return forms.find((issues) =>
    issues.every((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys'),
  );
}

/** Text is never repeated: it may be a secret in the wrong place. */
function foundText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return `, found ${String(value)}`;
  if (value === null) return ', found nothing';
  if (Array.isArray(value)) return `, found a list of ${value.length}`;
  return typeof value === 'object' ? ', found a mapping' : '';
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

function orderOf({ position }: DefinitionFault): number {
  // No line of a definition is as long as the whole definition may be.
  return position === undefined ? 0 : position.line * 100_000 + position.column;
}

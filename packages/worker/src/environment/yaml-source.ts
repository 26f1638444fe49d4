import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, ErrorCode, Node, Pair } from 'yaml';
import { DefinitionError, type DefinitionFault, type Position } from './definition-error.js';

/** The keys and indexes that lead to a value. */
export type KeyPath = readonly PropertyKey[];

/**
 * The text of one definition as YAML: one document of the core schema, with unique keys and without aliases. It
 * knows where each key and value stands, so that a fault found later can still be shown in the text.
 */
export class YamlSource {
  readonly file: string;
  /** The document as plain values. */
  readonly value: unknown;
  readonly #document: Document;
  readonly #lines: LineCounter;

  /** @throws {DefinitionError} for text that is no such YAML. */
  constructor(text: string, file: string) {
    this.file = file;
    this.#lines = new LineCounter();
    this.#document = parseDocument(text, {
      schema: 'core',
      uniqueKeys: true,
      prettyErrors: false,
      lineCounter: this.#lines,
    });
    const faults = this.#faultsOfText();
    if (faults.length > 0) throw DefinitionError.of(file, faults);
    this.value = this.#document.toJS({ maxAliasCount: 0 });
  }

  /** Whether something is written at this path. */
  has(path: KeyPath): boolean {
    return this.#find(path).rest.length === 0;
  }

  /** What is written at a path, as a plain value; `null` where nothing is. */
  valueAt(path: KeyPath): unknown {
    const { value, rest } = this.#find(path);
    return rest.length === 0 ? (value?.toJS(this.#document) ?? null) : null;
  }

  /**
   * The fault of the value at a path; where nothing is written there, of what would have to hold it. With `at` the
   * fault is shown at the key's name instead of its value.
   */
  faultAt(path: KeyPath, sentence: string, at: 'value' | 'key' = 'value'): DefinitionFault {
    const { key, value } = this.#find(path);
    const node = at === 'key' ? (key ?? value) : (value ?? key);
    return {
      position: this.#positionOf(node?.range?.[0] ?? 0),
      key: path.length === 0 ? undefined : path.map(String).join('.'),
      sentence,
    };
  }

  #find(path: KeyPath): Found {
    let found: Found = { key: undefined, value: this.#document.contents ?? undefined, rest: path };
    for (;;) {
      const [segment, ...rest] = found.rest;
      const next = segment === undefined ? undefined : childOf(found.value, segment);
      if (next === undefined) return found;
      found = { ...next, rest };
    }
  }

  #faultsOfText(): DefinitionFault[] {
    const all = [...this.#document.errors, ...this.#document.warnings];
    if (all.length === 0) return this.#aliases();
    // What is no YAML makes nonsense of what follows it; a key that stands twice does not.
    const told = all.every(({ code }) => code === 'DUPLICATE_KEY') ? all : all.slice(0, 1);
    return told.map(({ code, message, pos: [offset] }) => ({
      position: this.#positionOf(offset),
      sentence: yamlSentences[code] ?? `is not YAML that can be read: ${message}.`,
    }));
  }

  #aliases(): DefinitionFault[] {
    const faults: DefinitionFault[] = [];
    visit(this.#document, (_, node) => {
      if (!isAlias(node)) return;
      faults.push({
        position: this.#positionOf(node.range?.[0] ?? 0),
        sentence: `uses the YAML alias "*${node.source}"; write the value out instead.`,
      });
    });
    return faults;
  }

  #positionOf(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    // An empty text has no line of its own.
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

interface Found {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
  /** What of the path is not written. */
  readonly rest: KeyPath;
}

function childOf(node: Node | undefined, segment: PropertyKey): Omit<Found, 'rest'> | undefined {
  if (isMap<Node, Node | null>(node)) {
    const pair: Pair<Node, Node | null> | undefined = node.items.find(
      ({ key }) => isScalar(key) && String(key.value) === String(segment),
    );
    return pair && { key: pair.key, value: pair.value ?? undefined };
  }
  if (isSeq<Node>(node)) {
    const item = node.items[Number(segment)];
    return item && { key: undefined, value: item };
  }
  return undefined;
}

/** What people read in place of the words of the YAML library, which are for programmers. */
const yamlSentences: Partial<Record<ErrorCode, string>> = {
  DUPLICATE_KEY: 'is a key that stands twice; expected each key once.',
  MULTIPLE_DOCS: 'begins a second YAML document; expected one definition in a file.',
  TAB_AS_INDENT: 'is indented by a tab; expected spaces.',
};

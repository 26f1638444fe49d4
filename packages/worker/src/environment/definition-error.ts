/** A place in a file; lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong with a definition. */
export interface DefinitionFault {
  /** Where it stands; undefined where the file as such is at fault. */
  readonly position?: Position | undefined;
  /** The path of the key, like `repositories.0.setup.timeoutMs`; undefined where no key is at fault. */
  readonly key?: string | undefined;
  /** What is wrong and which form is expected. */
  readonly sentence: string;
}

/** A definition that cannot be used. The message has a line for each fault: file, line, column, key, sentence. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly file: string;
  readonly faults: readonly DefinitionFault[];

  constructor(file: string, faults: readonly DefinitionFault[], options?: ErrorOptions) {
    super(faults.map((fault) => faultLine(file, fault)).join('\n'), options);
    this.file = file;
    this.faults = faults;
  }
}

function faultLine(file: string, { position, key, sentence }: DefinitionFault): string {
  const place = position === undefined ? file : `${file}:${position.line}:${position.column}`;
  return key === undefined ? `${place}: ${sentence}` : `${place}: ${key}: ${sentence}`;
}

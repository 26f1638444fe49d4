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

/** A fault and the file in which it is. */
export interface FaultOfFile extends DefinitionFault {
  readonly file: string;
}

/** Definitions that cannot be used. The message has a line for each fault: file, line, column, key, sentence. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly faults: readonly FaultOfFile[];

  constructor(faults: readonly FaultOfFile[], options?: ErrorOptions) {
    super(faults.map((fault) => faultLine(fault.file, fault)).join('\n'), options);
    this.faults = faults;
  }

  /** The faults of one file. */
  static of(file: string, faults: readonly DefinitionFault[], options?: ErrorOptions): DefinitionError {
    return new DefinitionError(
      faults.map((fault) => ({ file, ...fault })),
      options,
    );
  }
}

/** One fault as people read it: file, line, column, key, sentence. */
export function faultLine(file: string, { position, key, sentence }: DefinitionFault): string {
  const place = position === undefined ? file : `${file}:${position.line}:${position.column}`;
  return key === undefined ? `${place}: ${sentence}` : `${place}: ${key}: ${sentence}`;
}

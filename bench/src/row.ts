/** What one run of a row found: one value per round, and what else is worth knowing. */
export interface Measured {
  readonly rounds: readonly number[];
  /** Further figures by name, in the row's unit unless the name says another; no gate binds them. */
  readonly also?: Readonly<Record<string, number>> | undefined;
  /** What says more than figures in a line: cells of a table, printed with the head first. */
  readonly table?: readonly (readonly string[])[] | undefined;
  /** A picture of it, as SVG. */
  readonly plot?: string | undefined;
}

export type Unit = 'ms' | 's' | '%' | '×' | 'calls' | 'commands/s';

/** One row of the table of numbers. Its value is the median of its rounds. */
export interface Row {
  readonly name: string;
  /** What is measured and how, in full: whoever doubts the number reads this. */
  readonly what: string;
  readonly unit: Unit;
  /** Which values are better: less of it where it is left out. */
  readonly better?: 'more' | undefined;
  /** The median must not be worse; `null` for a row that is only reported. */
  readonly gate: number | null;
  /** What we want; `null` where the gate is all that we want. */
  readonly goal: number | null;
  readonly measure: (rounds: number) => Promise<Measured>;
}

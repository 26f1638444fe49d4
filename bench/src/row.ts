/** What one run of a row found: one value per round, and what else is worth knowing. */
export interface Measured {
  readonly rounds: readonly number[];
  /** Further figures by name, in the row's unit unless the name says another; no gate binds them. */
  readonly also?: Readonly<Record<string, number>> | undefined;
}

/** One row of the table of numbers. Its value is the median of its rounds; less is better. */
export interface Row {
  readonly name: string;
  /** What is measured and how, in full: whoever doubts the number reads this. */
  readonly what: string;
  readonly unit: 'ms' | 's' | '%' | '×';
  /** The median must not exceed it; `null` for a row that is only reported. */
  readonly gate: number | null;
  /** What we want; `null` where the gate is all that we want. */
  readonly goal: number | null;
  readonly measure: (rounds: number) => Promise<Measured>;
}

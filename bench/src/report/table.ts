import type { Result } from './result.js';

const header = ['row', 'median', 'gate', 'goal', 'met', 'rounds'];

/** The results as a table for a terminal. */
export function tableOf(results: readonly Result[]): string {
  return aligned([header, ...results.map(cellsOf)]);
}

/** Lines with every column as wide as its widest cell. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(...rows.map(({ length }) => length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cellsOf({ row, median, unit, gate, goal, met, rounds }: Result): string[] {
  const figure = (value: number | null) => (value === null ? '–' : `${value} ${unit}`);
  return [row, figure(median), figure(gate), figure(goal), met, rounds.join(' ')];
}

/** A stretch of a call's life; one without an end goes on. */
export interface Span {
  readonly state: 'waits' | 'runs';
  readonly fromMs: number;
  readonly toMs?: number | undefined;
}

export interface TimelineRow {
  readonly label: string;
  readonly spans: readonly Span[];
}

export interface TimelineStyle {
  /** Characters of one line. */
  readonly width: number;
  readonly colour: boolean;
}

const glyphs = { waits: '·', runs: '█' } as const;
const colours = { waits: '\u001b[33m', runs: '\u001b[32m' } as const;
const colourEnd = '\u001b[0m';

/** Shortest time that a whole line stands for, so that a young timeline does not jump about. */
const leastSpanMs = 8_000;

const leastBarWidth = 20;

/** Draws calls as bars over one axis of time, a line for each, and the axis last. */
export function drawTimeline(rows: readonly TimelineRow[], nowMs: number, style: TimelineStyle): string[] {
  const longest = Math.max(0, ...rows.map(({ label }) => label.length));
  // In a narrow terminal labels give way: a line that wraps could not be drawn over.
  const labelWidth = Math.min(longest, Math.max(0, style.width - leastBarWidth - 2));
  const barWidth = Math.max(1, style.width - labelWidth - 2);
  const msPerCell = Math.max(leastSpanMs, nowMs) / barWidth;
  const bars = rows.map(({ label, spans }) => {
    const cells = Array.from({ length: barWidth }, (_, cell) => cellAt(spans, cell, msPerCell, nowMs));
    return `${label.slice(0, labelWidth).padEnd(labelWidth)}  ${paint(cells, style.colour)}`.trimEnd();
  });
  return [...bars, `${' '.repeat(labelWidth)}  ${axis(barWidth, msPerCell)}`.trimEnd()];
}

type Cell = Span['state'] | undefined;

/** What a call mostly did in the time of one cell is what it did at its middle. */
function cellAt(spans: readonly Span[], cell: number, msPerCell: number, nowMs: number): Cell {
  const middle = (cell + 0.5) * msPerCell;
  if (middle > nowMs) return undefined;
  return spans.find(({ fromMs, toMs }) => fromMs <= middle && middle < (toMs ?? Infinity))?.state;
}

function paint(cells: readonly Cell[], colour: boolean): string {
  let text = '';
  let painted: Cell;
  for (const cell of cells) {
    if (colour && cell !== painted) text += cell === undefined ? colourEnd : colours[cell];
    painted = cell;
    text += cell === undefined ? ' ' : glyphs[cell];
  }
  return colour && painted !== undefined ? text + colourEnd : text;
}

/** Marks at whole seconds, as close together as their numbers allow. */
function axis(width: number, msPerCell: number): string {
  const stepMs = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000].find((ms) => ms / msPerCell >= 6) ?? 120_000;
  let line = '';
  for (let atMs = 0; Math.round(atMs / msPerCell) < width; atMs += stepMs) {
    const longer = `${line.padEnd(Math.round(atMs / msPerCell))}${atMs / 1000}s`;
    if (longer.length > width) break;
    line = longer;
  }
  return line;
}

import { patienceMs, type Outcome } from './replay.js';

/** One arrangement's curve. */
export interface Curve {
  readonly name: string;
  readonly outcome: Outcome;
}

const width = 760;
const height = 440;
const plot = { left: 64, right: 520, top: 84, bottom: 380 };
const colours = ['#8a8f98', '#e07b39', '#2f7ed8', '#1a9e77'];
const labelHeight = 34;

/** An SVG of how much of the day has started after waiting for so long; what is missing at the end is lost. */
export function waitsPlot(curves: readonly Curve[]): string {
  const calls = Math.max(...curves.map(({ outcome }) => outcome.waitsMs.length + outcome.lost));
  const labels = labelPlaces(curves.map(({ outcome }) => y(outcome.waitsMs.length / calls)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`,
    ' font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#3b4048">',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(
      24,
      34,
      'A busy day: how long calls wait until they start',
      'font-size="18" font-weight="bold" fill="#1d2127"',
    ),
    text(
      24,
      57,
      `Share of ${thousands(calls)} calls that have started after waiting so long. Callers leave after ${patienceMs / 1000} s.`,
      'fill="#6b717b"',
    ),
    ...grid(),
    ...curves.map(({ outcome }, index) => curve(outcome.waitsMs, calls, colourOf(index))),
    ...curves.flatMap(({ name, outcome }, index) =>
      label(name, outcome, { calls, at: labels[index] ?? 0, colour: colourOf(index) }),
    ),
    '</svg>\n',
  ].join('\n');
}

function grid(): string[] {
  const shares = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    `<path d="M${plot.left} ${y(share)}H${plot.right}" stroke="${share === 0 ? '#3b4048' : '#e6e8eb'}"/>`,
    text(plot.left - 10, y(share) + 4, `${share * 100} %`, 'text-anchor="end"'),
  ]);
  const seconds = [0, 5, 10, 15, 20, 25, 30].map((second) =>
    text(x(second * 1000), plot.bottom + 22, second === 30 ? '30 s' : String(second), 'text-anchor="middle"'),
  );
  const axis = text(
    (plot.left + plot.right) / 2,
    plot.bottom + 44,
    'time in the queue',
    'text-anchor="middle" fill="#6b717b"',
  );
  return [...shares, ...seconds, axis];
}

/** A step for each half second is finer than the picture shows. */
function curve(waitsMs: readonly number[], calls: number, colour: string): string {
  const points = Array.from({ length: patienceMs / 500 + 1 }, (_, index) => {
    const started = waitsMs.filter((wait) => wait <= index * 500).length;
    return `${x(index * 500)} ${y(started / calls)}`;
  });
  return `<path d="M${points.join('L')}" fill="none" stroke="${colour}" stroke-width="2.5" stroke-linejoin="round"/>`;
}

function label(
  name: string,
  { lost, waitsMs }: Outcome,
  { calls, at, colour }: { readonly calls: number; readonly at: number; readonly colour: string },
): string[] {
  const end = y(waitsMs.length / calls);
  const share = ((100 * lost) / calls).toFixed(1);
  return [
    `<path d="M${plot.right + 4} ${end}L${plot.right + 18} ${at}" stroke="${colour}" fill="none"/>`,
    text(plot.right + 24, at - 2, name, `fill="${colour}" font-weight="bold"`),
    text(plot.right + 24, at + 14, `${thousands(lost)} calls lost (${share} %)`, ''),
  ];
}

/** The places of the labels, in the order given: each beside the end of its curve, but none over another. */
function labelPlaces(ends: readonly number[]): readonly number[] {
  const places = ends.map((end) => end);
  const fromTheTop = ends
    .map((_, index) => index)
    .sort((one, other) => (ends[one] ?? 0) - (ends[other] ?? 0));
  let free = plot.top;
  for (const index of fromTheTop) {
    const place = Math.max(ends[index] ?? 0, free);
    places[index] = place;
    free = place + labelHeight + 6;
  }
  return places;
}

function colourOf(index: number): string {
  return colours[index % colours.length] ?? '#000000';
}

function x(ms: number): number {
  return round(plot.left + ((plot.right - plot.left) * ms) / patienceMs);
}

function y(share: number): number {
  return round(plot.bottom - (plot.bottom - plot.top) * share);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function thousands(count: number): string {
  return count.toLocaleString('en-US');
}

function text(atX: number, atY: number, content: string, attributes: string): string {
  return `<text x="${atX}" y="${atY}" ${attributes}>${content}</text>`;
}

import {
  callOperationSchema,
  laneSchema,
  type CallOperation,
  type Lane,
  type Mode,
  type Pool,
} from '@codelanes/protocol';

/*
 * How things are written in Redis. The separators of scripts (`|`, `,`, `=`, space) cannot stand in any of it,
 * whatever a caller sends.
 */

/** A lane as a path whose every segment ends in `/`: it lies in another lane when its text begins with that one's. */
export function lanePath(lane: readonly string[]): string {
  return lane.map((segment) => `${encodeURIComponent(segment)}/`).join('');
}

/** @throws ZodError where the text is no lane. */
export function laneOfPath(path: string): Lane {
  return laneSchema.parse(path.split('/').slice(0, -1).map(decodeURIComponent));
}

/** Any text; half of a surrogate pair, which cannot be percent-encoded, survives as its escape. */
export function storedText(text: string): string {
  return encodeURIComponent(JSON.stringify(text).slice(1, -1));
}

export function textOfStored(stored: string): string {
  return String(JSON.parse(`"${decodeURIComponent(stored)}"`));
}

const modes = { exclusive: 'x', shared: 's' } as const satisfies Record<Mode, string>;
const pools = { command: 'c', file: 'f', none: 'n' } as const satisfies Record<Pool | 'none', string>;

export const modeLetter = (mode: Mode): string => modes[mode];
export const poolLetter = (pool: Pool | 'none'): string => pools[pool];

/** `undefined` of a call whose worker held it before it was known here. @throws ZodError where it is none. */
export function operationOfStored(stored: string): CallOperation | undefined {
  return stored === '' ? undefined : callOperationSchema.parse(stored);
}

/** @throws Error where the letter is none of these. */
export function modeOfLetter(letter: string): Mode {
  if (letter === 'x') return 'exclusive';
  if (letter === 's') return 'shared';
  throw new Error(`"${letter}" is no mode`);
}

/** @throws Error where the letter is none of these. */
export function poolOfLetter(letter: string): Pool | 'none' {
  if (letter === 'c') return 'command';
  if (letter === 'f') return 'file';
  if (letter === 'n') return 'none';
  throw new Error(`"${letter}" is no pool`);
}

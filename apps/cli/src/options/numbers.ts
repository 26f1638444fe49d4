import { InvalidArgumentError } from 'commander';

/** Parsers of flags, for commander; each refuses with what was expected. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** Seconds, fractions allowed, as whole milliseconds. */
export function seconds(mostSeconds: number): (text: string) => number {
  return (text) => {
    const ms = /^\d{1,7}(\.\d{1,3})?$/.test(text) ? Math.round(Number(text) * 1000) : Number.NaN;
    if (ms >= 1 && ms <= mostSeconds * 1000) return ms;
    throw new InvalidArgumentError(`Expected seconds, more than 0 and at most ${mostSeconds}.`);
  };
}

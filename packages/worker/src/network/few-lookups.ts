import type { Lookup } from './admission.js';

/** The same look-up, which has no more than so many names under way: others wait for their turn. */
export function fewAtOnce(lookup: Lookup, most: number): Lookup {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (name) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await lookup(name);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

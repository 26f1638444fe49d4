import { elapsedMs } from '../measure/repeat.js';

/** A queue whose jobs do nothing, with whoever enters them and whoever works them off in this process. */
export interface Cycles {
  /** Enters one job and resolves when its end is stored. `line` is one of as many as there are at once. */
  cycle(line: number): Promise<void>;
  close(): Promise<void>;
}

/** Jobs per second while always that many are under way: each line begins its next when its last has ended. */
export async function cyclesPerSecond(cycles: Cycles, atOnce: number, jobs: number): Promise<number> {
  const perLine = Math.ceil(jobs / atOnce);
  const run = async (line: number): Promise<void> => {
    for (let job = 0; job < perLine; job += 1) await cycles.cycle(line);
  };
  const ms = await elapsedMs(() => Promise.all(Array.from({ length: atOnce }, (_, line) => run(line))));
  return (perLine * atOnce * 1000) / ms;
}

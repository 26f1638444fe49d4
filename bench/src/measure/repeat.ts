/** Does something that many times, one after the other, and gives what each time brought. */
export async function repeat<T>(times: number, once: (time: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let time = 0; time < times; time += 1) results.push(await once(time));
  return results;
}

/** Milliseconds that some work takes. */
export async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

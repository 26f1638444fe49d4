import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A shell line that writes into `calls.log` of its lane for as long as it runs: once at its begin, every few
 * milliseconds while it works, once at its end. Each line is one append, so that the file has the lines of all
 * calls in the order in which they happened.
 */
export function logging(id: string, steps: number): string {
  return loggingWhile(id, `[ $((i+=1)) -le ${steps} ]`);
}

/** The same for as long as a file of that name is not in the lane. */
export function loggingUntil(id: string, file: string): string {
  return loggingWhile(id, `[ ! -e ${file} ]`);
}

function loggingWhile(id: string, condition: string): string {
  const work = `i=0; while ${condition}; do echo "${id} works" >>calls.log; sleep 0.01; done`;
  return `echo "${id} begins" >>calls.log; ${work}; echo "${id} ends" >>calls.log`;
}

/** What a lane's log says of one call. */
export interface LoggedCall {
  readonly id: string;
  readonly begins: number;
  readonly ends: number;
}

/** The log of one lane, judged by nothing but its lines. */
export class CallLog {
  readonly #lines: readonly { id: string; what: string }[];

  private constructor(text: string) {
    this.#lines = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [id = '', what = ''] = line.split(' ');
        return { id, what };
      });
  }

  static read(file: string): CallLog {
    return new CallLog(existsSync(file) ? readFileSync(file, 'utf8') : '');
  }

  /** Ids of which a line stands after one of a call that had begun later: the two calls had met. */
  get meetings(): string[] {
    const over = new Set<string>();
    const met: string[] = [];
    let present: string | undefined;
    for (const { id } of this.#lines) {
      if (id === present) continue;
      if (over.has(id)) met.push(id);
      if (present !== undefined) over.add(present);
      present = id;
    }
    return met;
  }

  /** Waits until a call is in the middle of its work. */
  static async untilWorking(file: string, id: string): Promise<void> {
    while (CallLog.read(file).#count(id, 'works') === 0) await sleep(10);
  }

  call(id: string): LoggedCall {
    return { id, begins: this.#count(id, 'begins'), ends: this.#count(id, 'ends') };
  }

  #count(id: string, what: string): number {
    return this.#lines.filter((line) => line.id === id && line.what === what).length;
  }
}

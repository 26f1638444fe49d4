import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { closeInheritedDescriptors } from './inherited-descriptors.js';
import { pipesOf, type SandboxPipes } from './sandbox-pipes.js';
import { standbyArguments } from './standby-program.js';
import { unnamedFile } from './unnamed-file.js';

/** The next one is started this many milliseconds after a sandbox was built, when its command has begun. */
const refillAfterMs = 20;

/** A process that waits for an order on its gate. */
export interface StandingBy extends SandboxPipes {
  readonly child: ChildProcess;
  /** Descriptor of its status file, which is the taker's to close. */
  readonly status: number;
}

/**
 * Processes that were started ahead of time and wait to become sandboxes. To start one copies the map of the worker's
 * memory, some milliseconds in which the worker does nothing else; here that is done while nobody waits for it: not
 * while a sandbox is being built, unless nothing stands by any more. One that stands by holds nothing of any lane, and
 * leaves with the worker. Must be used on the main thread: a sandbox dies with the thread that started it.
 */
export class Standby {
  readonly #perl: string | undefined;
  readonly #kept: number;
  readonly #all = new Set<StandingBy>();
  readonly #ready: StandingBy[] = [];
  #refill: NodeJS.Timeout | undefined;
  /** How many that were taken are being built. */
  #building = 0;
  #isOver = false;

  /**
   * @param perl The machine's Perl; without it nothing stands by, and whoever would take one starts anew.
   * @param kept How many stand by.
   */
  constructor(perl: string | undefined, kept: number) {
    // What whoever started the worker left open would be the sandbox's too.
    closeInheritedDescriptors();
    this.#perl = perl;
    this.#kept = kept;
    this.#start();
  }

  /** How many are ready to be taken. */
  get ready(): number {
    return this.#ready.length;
  }

  /** The one that has waited longest, if one is ready. */
  take(): StandingBy | undefined {
    this.#refillSoon();
    const taken = this.#ready.shift();
    if (taken === undefined) return undefined;
    this.#all.delete(taken);
    taken.child.ref();
    taken.gate.ref();
    this.#followBuilding(taken);
    return taken;
  }

  /** Ends them all; nothing stands by any more. */
  close(): void {
    this.#isOver = true;
    clearTimeout(this.#refill);
    this.#ready.length = 0;
    for (const { child } of this.#all) child.kill('SIGKILL');
  }

  /** Its sandbox speaks when it is built, and one that cannot be built ends. */
  #followBuilding({ child, gate }: StandingBy): void {
    this.#building += 1;
    const over = () => {
      gate.off('data', over);
      child.off('exit', over);
      this.#building -= 1;
      this.#refillSoon();
    };
    gate.once('data', over);
    child.once('exit', over);
  }

  #refillSoon(): void {
    this.#refill ??= setTimeout(() => {
      this.#refill = undefined;
      if (this.#building === 0 || this.#ready.length === 0) this.#start();
    }, refillAfterMs).unref();
  }

  /** One at a time: the worker has other work to do in between. */
  #start(): void {
    if (this.#perl === undefined || this.#isOver || this.#all.size >= this.#kept) return;
    let status: number | undefined;
    try {
      status = unnamedFile('');
      const child = spawn(this.#perl, standbyArguments(process.pid, status), {
        stdio: ['ignore', 'pipe', 'pipe', 'pipe', status],
        env: {},
      });
      // Where no process can be started, that is all that is said.
      child.on('error', () => undefined);
      this.#follow({ child, ...pipesOf(child), status });
    } catch {
      // Whoever starts anew meets the same fault, and says so.
      if (status !== undefined) closeSync(status);
    }
  }

  #follow(standing: StandingBy): void {
    const { child, gate, status } = standing;
    this.#all.add(standing);
    child.unref();
    gate.unref();
    gate.on('error', () => undefined);
    child.once('error', () => {
      // The machine may let the next one start.
      if (this.#all.delete(standing)) closeSync(status);
    });
    gate.once('data', () => {
      this.#ready.push(standing);
      this.#refillSoon();
    });
    child.once('exit', () => {
      if (!this.#all.delete(standing)) return;
      closeSync(status);
      const place = this.#ready.indexOf(standing);
      // One that never came so far cannot look at the worker's descriptors, and neither could the next.
      if (place === -1) this.#isOver = true;
      else this.#ready.splice(place, 1);
    });
  }
}

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sdkCallSchema, sdkReportSchema, type SdkCall, type SdkOutcome } from './sdk-call.js';

const program = fileURLToPath(new URL('../../dist/rig/processes/sdk-process.js', import.meta.url));

/** A tool call that the SDK is running. */
export interface RunningSdkCall {
  readonly outcome: Promise<SdkOutcome>;
  /** Stops it as LibreChat does when its user stops the answer. */
  readonly abort: () => void;
}

interface Waiting {
  readonly resolve: (outcome: SdkOutcome) => void;
  readonly reject: (error: Error) => void;
}

/** The SDK of LibreChat, unmodified, in a process of its own that any number of calls run in. */
export class Sdk {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;

  constructor(folder: string) {
    // Nothing of this machine's settings, where a proxy could be among them.
    const { PATH } = process.env;
    this.#process = fork(program, [folder], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { PATH },
      // The tests' own would have it read sources.
      execArgv: [],
    });
    this.#process.on('message', (message) => {
      const { id, outcome } = sdkReportSchema.parse(message);
      this.#waiting.get(id)?.resolve(outcome);
      this.#waiting.delete(id);
    });
    this.#process.on('exit', (status) => {
      for (const { reject } of this.#waiting.values()) {
        reject(new Error(`The process of the SDK ended with ${String(status)}.`));
      }
    });
  }

  call(call: SdkCall): Promise<SdkOutcome> {
    return this.begin(call).outcome;
  }

  begin(call: SdkCall): RunningSdkCall {
    const id = (this.#calls += 1);
    const outcome = new Promise<SdkOutcome>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    this.#process.send({ id, call: sdkCallSchema.parse(call) });
    return { outcome, abort: () => this.#process.send({ id, abort: true }) };
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#waiting.clear();
    this.#process.kill('SIGKILL');
    await ended;
  }
}

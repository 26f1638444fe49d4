import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:net';
import { CodelanesError } from '@codelanes/protocol';
import type { OpenNetwork } from '../environment/network-policy.js';
import { noDenials } from './denials.js';
import { findPerl, listenerProgram } from './listener-program.js';
import type { FromProxies, ToProxies } from './messages.js';
import type { CallNetwork, NetworkHost } from './network-host.js';

/**
 * The process answers at once, or after some seconds while a call floods its proxy; one that takes longer than this, in
 * milliseconds, is ended, and with it the network of every call.
 */
const answerWithinMs = 30_000;

/**
 * Gives calls their network from a process of its own, started when the first call wants it: names are resolved and
 * bytes moved there, so that no command can hold up the worker's own work by what it does to its proxy. The process ends
 * with the worker. If it fails, running calls lose their network, and the next call gets a new process.
 */
export class NetworkProcess implements NetworkHost {
  readonly listenerProgram = listenerProgram({ perl: findPerl(), arch: process.arch });
  readonly #entry: URL;
  #proxies: Proxies | undefined;
  #calls = 0;

  /** @param entry The module that serves; another one than ours only in tests. */
  constructor(entry: URL = new URL('./proxies-main.js', import.meta.url)) {
    this.#entry = entry;
  }

  async open(listener: Server, policy: OpenNetwork): Promise<CallNetwork> {
    if (this.#proxies?.ended !== false) this.#proxies = new Proxies(this.#entry);
    const proxies = this.#proxies;
    const call = ++this.#calls;
    try {
      await proxies.ask({ act: 'open', call, policy }, listener);
    } catch (error) {
      throw new CodelanesError(
        'COMMAND_UNAVAILABLE',
        'The proxy for the command could not be started, so the command was not started either. Try again.',
        { cause: error },
      );
    } finally {
      // The process has its own copy; with this one, too, connections would be taken here.
      listener.close();
    }
    return {
      close: async () => {
        try {
          const answer = await proxies.ask({ act: 'close', call });
          return answer.done === 'close' ? answer.denials : noDenials;
        } catch {
          // The process is gone, and with it every connection.
          return { sentences: ['The proxy failed while the command ran.'], omitted: 0 };
        }
      },
    };
  }

  /** Ends the process and every connection. */
  async stop(): Promise<void> {
    await this.#proxies?.end();
  }
}

/** The process as seen from the worker: questions and their answers. */
class Proxies {
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  readonly #waiting = new Map<string, (answer: FromProxies | undefined) => void>();
  ended = false;

  constructor(entry: URL) {
    this.#child = fork(entry, [], {
      cwd: '/',
      // Names are resolved by the pool; a few that hang must not keep others waiting.
      env: { UV_THREADPOOL_SIZE: '16' },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // A session of its own: what a terminal sends to the worker is not meant for it.
      detached: true,
    });
    this.#gone = once(this.#child, 'exit').catch(() => undefined);
    this.#child.on('message', (answer: FromProxies) => {
      this.#waiting.get(`${answer.done} ${answer.call}`)?.(answer);
    });
    this.#child.once('exit', () => {
      this.#lost();
    });
    this.#child.on('error', () => {
      this.#child.kill('SIGKILL');
      this.#lost();
    });
  }

  async ask(question: ToProxies, listener?: Server): Promise<FromProxies> {
    const key = `${question.act} ${question.call}`;
    const overdue = setTimeout(() => this.#child.kill('SIGKILL'), answerWithinMs);
    try {
      const answer = await new Promise<FromProxies | undefined>((resolve) => {
        this.#waiting.set(key, resolve);
        if (this.ended) resolve(undefined);
        else this.#child.send(question, listener);
      });
      if (answer === undefined) throw new Error('The process of the proxies has ended.');
      return answer;
    } finally {
      clearTimeout(overdue);
      this.#waiting.delete(key);
    }
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #lost(): void {
    this.ended = true;
    for (const answer of this.#waiting.values()) answer(undefined);
  }
}

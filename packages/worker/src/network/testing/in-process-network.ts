import type { Server } from 'node:net';
import type { OpenNetwork } from '../../environment/network-policy.js';
import type { Resolution } from '../admission.js';
import { CallProxy } from '../call-proxy.js';
import { findPerl, listenerProgram } from '../listener-program.js';
import type { CallNetwork, NetworkHost } from '../network-host.js';

/** Calls' proxies in the process of the test, with names and addresses as the test likes them. */
export class InProcessNetwork implements NetworkHost {
  readonly listenerProgram: readonly string[];
  readonly #resolution: Resolution;

  constructor(resolution: Resolution, program = listenerProgram({ perl: findPerl(), arch: process.arch })) {
    this.listenerProgram = program;
    this.#resolution = resolution;
  }

  open(listener: Server, policy: OpenNetwork): Promise<CallNetwork> {
    const proxy = new CallProxy(policy, this.#resolution);
    proxy.serve(listener);
    return Promise.resolve({ close: () => Promise.resolve(proxy.close()) });
  }
}

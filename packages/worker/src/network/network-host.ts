import type { Server } from 'node:net';
import type { OpenNetwork } from '../environment/network-policy.js';
import type { Denials } from './denials.js';

/** The network of one running call. */
export interface CallNetwork {
  /** Ends every connection of the call, and says what was refused. Never rejects. */
  close(): Promise<Denials>;
}

/** Who gives calls their network. */
export interface NetworkHost {
  /** Program and arguments that open a call's listener inside its sandbox; see `listenerProgram`. */
  readonly listenerProgram: readonly string[];
  /**
   * Starts to serve a call on the listener that its sandbox handed out.
   *
   * @throws {CodelanesError} `COMMAND_UNAVAILABLE`; the call has no network then and must not be started.
   */
  open(listener: Server, policy: OpenNetwork): Promise<CallNetwork>;
}

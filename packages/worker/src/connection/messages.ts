import type {
  Assignment,
  Capabilities,
  ClosedLane,
  Lane,
  Lease,
  Pause,
  Report,
  Settlement,
} from '@codelanes/protocol';
import type { ProcessIdentity } from '../lanes/processes.js';
import type { AccessChoice } from './access.js';

/** What the connection's thread is started with. */
export interface ConnectionOptions {
  readonly bridgeUrl: string;
  readonly access: AccessChoice;
  /** By which the certificate of the bridge is known, as PEM; `undefined` by what this machine trusts. */
  readonly authority?: string | undefined;
  readonly workerId: string;
  readonly incarnationId: string;
  readonly journalId: string;
  readonly capabilities: Capabilities;
  readonly slots: number;
  readonly takeOver: boolean;
  readonly clocks: ConnectionClocks;
}

/** Milliseconds, each; tests run them in tenths of a second. */
export interface ConnectionClocks {
  /** Longest wait of one poll. */
  readonly pollWaitMs: number;
  /** How long before a lease's end its call must be dead. */
  readonly leaseMarginMs: number;
  /** Bound of every request that is no poll, and of a poll beyond its wait. */
  readonly requestMs: number;
  /** First and longest pause between attempts to reach the bridge. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
}

export const defaultConnectionClocks: ConnectionClocks = {
  pollWaitMs: 25_000,
  leaseMarginMs: 5_000,
  requestMs: 10_000,
  retryMinMs: 100,
  retryMaxMs: 5_000,
};

/** A lane in which the worker refuses commands; `since` in milliseconds since 1970. */
export interface ClosedSince extends Pick<ClosedLane, 'cause'> {
  readonly lane: readonly string[];
  readonly reason: string;
  readonly since: number;
}

/** From the worker's main thread to the connection's thread. */
export type ToConnection =
  /** The command runs: its init is killed from the thread when the lease ends, however busy the main thread is. */
  | { readonly kind: 'started'; readonly lease: Lease; readonly init: ProcessIdentity }
  | { readonly kind: 'report'; readonly report: Report }
  | {
      readonly kind: 'settle';
      readonly lease: Lease;
      readonly settlement: Settlement | Pause;
      /** How long the call itself ran, for the bridge's metrics. */
      readonly ranMs?: number | undefined;
    }
  /** All lanes that are closed from here on. */
  | { readonly kind: 'closed_lanes'; readonly closed: readonly ClosedSince[] }
  /** Takes no more assignments; leases, reports and settlements go on. */
  | { readonly kind: 'drain' }
  /** Says what is still to be said, then answers `closed`. */
  | { readonly kind: 'close' };

/** From the connection's thread to the worker's main thread. */
export type FromConnection =
  | { readonly kind: 'registered'; readonly slots: number; readonly unresolved: readonly string[] }
  | { readonly kind: 'assignment'; readonly assignment: Assignment }
  | { readonly kind: 'cancel'; readonly callId: string }
  /** A command waits for that lane, in which one runs. */
  | { readonly kind: 'expected'; readonly lane: Lane }
  /** The lease has ended or is another's; what ran under it has been sent SIGKILL. */
  | { readonly kind: 'lost'; readonly callId: string }
  | { readonly kind: 'unreachable'; readonly message: string }
  /** The bridge answers, and takes this worker later. */
  | { readonly kind: 'put_off'; readonly message: string }
  /** No more will come: another worker serves under this identity, or the bridge refuses this one. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** Everything that was to be said has been said. */
  | { readonly kind: 'closed' };

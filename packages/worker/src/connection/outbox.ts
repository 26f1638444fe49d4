import type { Lease, Pause, Report, Settlement, SettleReply } from '@codelanes/protocol';
import type { BridgeClient } from './bridge-client.js';

/** What the outbox needs of the session: a request that is repeated until the bridge answers it. */
export interface Sender {
  /** Resolves with the answer, or with `undefined` when it is no use to go on trying. */
  send<T>(request: (client: BridgeClient) => Promise<T>, worthwhile: () => boolean): Promise<T | undefined>;
}

export interface SettledCall {
  readonly lease: Lease;
  readonly settlement: Settlement | Pause;
  readonly ranMs?: number | undefined;
}

/** A start is told this much later: most short commands have settled by then, which tells it too. */
const startToldAfterMs = 20;

type OnFenced = (callId: string, token: string) => void;

/**
 * Reports in their order, batched while one request is under way; settlements each by itself. The start of a call
 * that settles at once is not told.
 */
export class Outbox {
  readonly #sender: Sender;
  readonly #incarnationId: string;
  #reports: Report[] = [];
  #flushing: Promise<void> | undefined;
  /** Starts that are still to be told, by call. */
  readonly #starts = new Map<string, NodeJS.Timeout>();
  readonly #settling = new Set<Promise<void>>();

  constructor(sender: Sender, incarnationId: string) {
    this.#sender = sender;
    this.#incarnationId = incarnationId;
  }

  /** `onFenced` is told of each call, and of the lease by its token, whose start came too late for that lease. */
  report(report: Report, onFenced: OnFenced): void {
    this.#reports.push(report);
    this.#flushing ??= this.#flush(onFenced).finally(() => {
      this.#flushing = undefined;
    });
  }

  started(lease: Lease, onFenced: OnFenced): void {
    const tell = () => {
      this.#starts.delete(lease.callId);
      this.report({ ...lease, state: 'started' }, onFenced);
    };
    this.#starts.set(lease.callId, setTimeout(tell, startToldAfterMs));
  }

  /** `onAnswered` is handed no reply where it was no use to go on asking for one. */
  settle(
    { lease, settlement, ranMs }: SettledCall,
    worthwhile: () => boolean,
    onAnswered: (reply: SettleReply | undefined) => void,
  ): void {
    clearTimeout(this.#starts.get(lease.callId));
    this.#starts.delete(lease.callId);
    const body = { incarnationId: this.#incarnationId, lease, settlement, ranMs };
    const sent = this.#sender
      .send((client) => client.settle(body), worthwhile)
      .then(onAnswered)
      .finally(() => {
        this.#settling.delete(sent);
      });
    this.#settling.add(sent);
  }

  /** Resolves when nothing is left to say; starts that were not told yet stay untold. */
  async empty(): Promise<void> {
    for (const timer of this.#starts.values()) clearTimeout(timer);
    this.#starts.clear();
    while (this.#flushing !== undefined || this.#settling.size > 0) {
      await Promise.allSettled([this.#flushing, ...this.#settling]);
    }
  }

  async #flush(onFenced: OnFenced): Promise<void> {
    // One turn of the event loop lets the reports of one batch of assignments travel together.
    await Promise.resolve();
    while (this.#reports.length > 0) {
      const reports = this.#reports.splice(0, 1024);
      const body = { incarnationId: this.#incarnationId, reports };
      const reply = await this.#sender.send(
        (client) => client.report(body),
        () => true,
      );
      const fenced = new Set(reply?.fenced);
      for (const report of reports) {
        if ('token' in report && fenced.has(report.callId)) onFenced(report.callId, report.token);
      }
    }
  }
}

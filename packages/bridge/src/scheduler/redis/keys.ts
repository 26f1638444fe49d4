/** Version of what is stored. A change that an earlier bridge would misread is a new one. */
export const layoutVersion = '2';

/**
 * Every name that this store has in Redis; nothing else spells one. All keys of a worker bear its id as their
 * hash tag, so that they live in one slot of a cluster.
 */
export class RedisKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The layout that all bridges of this prefix share; the one key without a time to live. */
  get layout(): string {
    return `${this.#prefix}:layout`;
  }

  /** The ids of all workers that registered. */
  get workers(): string {
    return `${this.#prefix}:workers`;
  }

  /** The key that is there for as long as a worker is known. */
  stateOf(workerId: string): string {
    return `${this.#prefix}:{${workerId}}`;
  }

  /** The keys of a worker, in the order in which scripts take them. */
  ofWorker(workerId: string): readonly string[] {
    const own = this.stateOf(workerId);
    return [own, `${own}:calls`, `${own}:held`, `${own}:index`, `${own}:due`, `${own}:ended`];
  }

  /** Where the changes of a worker and of its calls are told. */
  channelOf(workerId: string): string {
    return `${this.#prefix}:{${workerId}}:news`;
  }

  /** Where one bridge is told how its own calls at a worker ended; scripts put the name together too. */
  endsChannelOf(workerId: string, bridgeId: string): string {
    return `${this.channelOf(workerId)}:${bridgeId}`;
  }

  /** The durable requests of one principal at a worker; what scripts of durable requests take as seventh key. */
  requestsOf(workerId: string, principal: string): string {
    return `${this.stateOf(workerId)}:requests:${principal}`;
  }

  /** The id of the worker that a durable request belongs to. */
  workerOfRequest(principal: string, requestId: string): string {
    return `${this.#prefix}:request:{${principal}:${requestId}}`;
  }

  /** The id of the worker that a call belongs to. */
  workerOfCall(callId: string): string {
    return `${this.#prefix}:call:{${callId}}`;
  }

  /** The id of the call that a programmatic request lets go on, by the name of the request. */
  callOfRequest(name: string): string {
    return `${this.#prefix}:continues:{${name}}`;
  }

  /** What is known of a worker's pairing. */
  pairingOf(workerId: string): string {
    return `${this.stateOf(workerId)}:pairing`;
  }

  /** There for as long as that nonce of a worker must not come again. */
  nonceOf(workerId: string, nonce: string): string {
    return `${this.stateOf(workerId)}:nonce:${nonce}`;
  }

  /** Whose a pairing code is, by the digest of the code. */
  pairingCode(codeDigest: string): string {
    return `${this.#prefix}:pairing-code:{${codeDigest}}`;
  }

  /** Where the changes of all pairings are told. */
  get pairings(): string {
    return `${this.#prefix}:pairings`;
  }
}

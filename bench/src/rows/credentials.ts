import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issuedCredentialSchema, pairingReplySchema, workerWireVersion } from '@codelanes/protocol';
import { Pool } from 'undici';
import { median } from '../measure/quantile.js';
import { elapsedMs, repeat } from '../measure/repeat.js';
import { startChildBridge, tokens, type ChildBridge } from '../rig/bridges.js';
import { TokenMint, WorkerKey } from '../rig/credentials.js';
import { registration } from '../rig/paper-worker.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const timesPerRound = 300;
const warmUpTimes = 1_500;

export const credentials: Row = {
  name: 'credentials',
  what:
    'What it adds at p50 that a caller comes with a signed token of LibreChat in place of a static one (a status; the ' +
    'token is one that the bridge has seen), and a worker with a signed request in place of the token for workers (a ' +
    'renewal; it is signed, verified, and its nonce kept): the sum of both. Each alternates with its other form, through ' +
    'HTTP, with the memory store. `token of a caller, first seen` is what the first call with a token adds.',
  unit: 'ms',
  gate: 1,
  goal: 0.5,
  measure: (rounds) =>
    inTemporaryFolder(async (folder) => {
      const mint = new TokenMint();
      const file = join(folder, 'librechat.pem');
      writeFileSync(file, mint.publicPem);
      const bridge = await startChildBridge({ kind: 'memory' }, { jwt: { keys: { file } } });
      try {
        return await measure(bridge, mint, rounds);
      } finally {
        await bridge.stop();
      }
    }),
};

async function measure(bridge: ChildBridge, mint: TokenMint, rounds: number): Promise<Measured> {
  const clients = new Clients(bridge.url, mint);
  try {
    await clients.begin();
    const once = async () => ({
      fixed: await elapsedMs(() => clients.status(tokens.caller)),
      seen: await elapsedMs(() => clients.status(clients.seenToken)),
      first: await clients.firstStatusMs(),
      token: await elapsedMs(() => clients.renewByToken()),
      signed: await elapsedMs(() => clients.renewSigned()),
    });
    await repeat(warmUpTimes, once);
    const found = await repeat(rounds, async () => {
      const times = await repeat(timesPerRound, once);
      const p50 = (name: keyof (typeof times)[number]) => median(times.map((time) => time[name]));
      return {
        caller: p50('seen') - p50('fixed'),
        first: p50('first') - p50('fixed'),
        worker: p50('signed') - p50('token'),
      };
    });
    return {
      rounds: found.map(({ caller, worker }) => Math.max(0, caller) + Math.max(0, worker)),
      also: {
        'token of a caller': median(found.map(({ caller }) => caller)),
        'token of a caller, first seen': median(found.map(({ first }) => first)),
        'signature of a worker': median(found.map(({ worker }) => worker)),
      },
    };
  } finally {
    await clients.end();
  }
}

/** A caller and two workers, one of them paired, over one kept connection. */
class Clients {
  readonly #pool: Pool;
  readonly #mint: TokenMint;
  readonly #key = new WorkerKey();
  readonly seenToken: string;
  #credential = '';

  constructor(url: string, mint: TokenMint) {
    this.#pool = new Pool(url, { connections: 1 });
    this.#mint = mint;
    this.seenToken = mint.token();
  }

  async begin(): Promise<void> {
    const admin = { authorization: `Bearer ${tokens.admin}` };
    const offered = await this.#post('/v1/bridge/pairings', { workerId: 'paired' }, () => admin);
    const { code } = pairingReplySchema.parse(offered);
    const redemption = { protocolVersion: 1, code, publicKey: this.#key.publicPem };
    const issued = await this.#post('/v1/bridge/pairings/redeem', redemption, () => ({}));
    this.#credential = issuedCredentialSchema.parse(issued).credential;
    await this.#asWorker('fixed', 'register', registrationOf('fixed'));
    await this.#asWorker('paired', 'register', registrationOf('paired'));
  }

  async status(token: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    const path = '/v1/bridge/workers/fixed/status';
    const reply = await this.#pool.request({ method: 'GET', path, headers });
    await reply.body.text();
    if (reply.statusCode !== 200) throw new Error(`The status was answered with ${reply.statusCode}.`);
  }

  /** Milliseconds of a status with a token that was made before they are counted. */
  firstStatusMs(): Promise<number> {
    const token = this.#mint.token();
    return elapsedMs(() => this.status(token));
  }

  renewByToken(): Promise<unknown> {
    return this.#asWorker('fixed', 'renew', { leases: [] });
  }

  renewSigned(): Promise<unknown> {
    return this.#asWorker('paired', 'renew', { leases: [] });
  }

  async end(): Promise<void> {
    await this.#pool.destroy();
  }

  #asWorker(workerId: 'fixed' | 'paired', route: string, body: object): Promise<unknown> {
    const { incarnationId } = registration(1);
    const path = `/v1/workers/${workerId}/${route}`;
    return this.#post(path, { version: workerWireVersion, incarnationId, ...body }, (text) =>
      workerId === 'paired'
        ? this.#key.headersOf(path, text, this.#credential)
        : { authorization: `Bearer ${tokens.worker}` },
    );
  }

  async #post(
    path: string,
    body: object,
    headersOf: (text: string) => Record<string, string>,
  ): Promise<unknown> {
    const text = JSON.stringify(body);
    const headers = { ...headersOf(text), 'content-type': 'application/json' };
    const reply = await this.#pool.request({ method: 'POST', path, headers, body: text });
    const json: unknown = await reply.body.json();
    if (reply.statusCode !== 200) throw new Error(`${path} was answered with ${JSON.stringify(json)}.`);
    return json;
  }
}

function registrationOf(workerId: string): object {
  const { filePool: _filePool, capacities: _capacities, ...offer } = registration(1);
  return { ...offer, workerId };
}

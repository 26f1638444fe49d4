import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { RedisServer } from '../../scheduler/testing/redis-server.js';
import { MemoryPairingStore } from '../memory-pairing-store.js';
import { PairingFile } from '../pairing-file.js';
import type { PairingStore } from '../pairing-store.js';
import { RedisPairingStore } from '../redis-pairing-store.js';

/** A place for pairings that the suites run against. */
export interface StoreUnderTest {
  readonly name: string;
  /** An empty place: each opening is a store on it, as of another bridge or after a restart. */
  readonly make: () => Promise<() => Promise<PairingStore>>;
  /** Whether several may be open at once. */
  readonly isShared: boolean;
  /** Whether what is open next finds what was there. */
  readonly isLasting: boolean;
}

let server: Promise<RedisServer> | undefined;
let made = 0;
const open: PairingStore[] = [];
const folders: string[] = [];

function kept(store: PairingStore): PairingStore {
  open.push(store);
  return store;
}

export const pairingStoresUnderTest: readonly StoreUnderTest[] = [
  {
    name: 'memory',
    isShared: false,
    isLasting: false,
    make: () => Promise.resolve(async () => kept(await MemoryPairingStore.open())),
  },
  {
    name: 'memory with a file',
    isShared: false,
    isLasting: true,
    make: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'codelanes-pairings-'));
      folders.push(folder);
      const file = new PairingFile(join(folder, 'pairings.json'));
      return async () => kept(await MemoryPairingStore.open(file));
    },
  },
  {
    name: 'redis',
    isShared: true,
    isLasting: true,
    make: async () => {
      server ??= RedisServer.start();
      const { url } = await server;
      made += 1;
      const prefix = `pairings-${made}`;
      return () => Promise.resolve(kept(new RedisPairingStore({ url }, prefix, () => undefined)));
    },
  },
];

afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

afterAll(async () => {
  await (await server)?.stop();
});

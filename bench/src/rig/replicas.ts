import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { WorkerOptions } from '@codelanes/worker';
import { startChildBridge, tokens } from './bridges.js';
import { Caller } from './caller.js';
import { ChildProgram } from './child-program.js';
import { withRedis, type RedisServer } from './redis-server.js';
import type { ServeOptions, Serving } from './serve.js';

const workerId = 'bench';

interface Replicas extends Serving {
  readonly redis: RedisServer;
}

/** Two bridges on one Redis, of which callers know one and the worker the other. */
export function withReplicas<T>(options: ServeOptions, work: (replicas: Replicas) => Promise<T>): Promise<T> {
  const folder = join(options.state, 'redis');
  mkdirSync(folder, { recursive: true });
  return withRedis(folder, async (redis) => {
    const store = { kind: 'redis', url: redis.url } as const;
    const [ofCallers, ofWorker] = [await startChildBridge(store), await startChildBridge(store)];
    const workerOptions: WorkerOptions = {
      bridgeUrl: ofWorker.url,
      token: tokens.worker,
      workerId,
      slots: options.slots,
      roots: options.roots.map((root) => ({ id: basename(root), root, linkedWorktreeLanes: true })),
      stateDir: join(options.state, 'worker'),
      allowRoot: process.getuid?.() === 0,
    };
    const worker = await ChildProgram.start('worker-process', workerOptions);
    const callers: Caller[] = [];
    try {
      return await work({
        redis,
        caller: (workspaceId = basename(options.roots[0] ?? '')) => {
          const caller = new Caller({ url: ofCallers.url, tokens, workerId, workspaceId });
          callers.push(caller);
          return caller;
        },
      });
    } finally {
      await Promise.all(callers.map((caller) => caller.close()));
      await worker.stop();
      await Promise.all([ofCallers.stop(), ofWorker.stop()]);
    }
  });
}

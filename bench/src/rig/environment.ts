import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDefinition, rootOfDefinition } from '@codelanes/worker';
import { startChildBridge, tokens } from './bridges.js';
import { Caller } from './caller.js';
import { ChildProgram } from './child-program.js';

const workerId = 'bench';

export interface EnvironmentOptions {
  /** Holds the definition and the worker's state beside the root. */
  readonly folder: string;
  /** The lines of a definition of the workspace `primary`, beside its name. */
  readonly definition: readonly string[];
  readonly slots: number;
}

/** Serves an environment by a bridge and a worker, which are real processes, for as long as the work takes. */
export async function withEnvironment<T>(
  { folder, definition, slots }: EnvironmentOptions,
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  const file = join(folder, 'environment.yaml');
  writeFileSync(file, ['name: primary', ...definition].join('\n'), { mode: 0o600 });
  const bridge = await startChildBridge({ kind: 'memory' });
  const worker = await ChildProgram.start('worker-process', {
    bridgeUrl: bridge.url,
    token: tokens.worker,
    workerId,
    slots,
    roots: [rootOfDefinition(loadDefinition(file), true)],
    stateDir: join(folder, 'state'),
    allowRoot: process.getuid?.() === 0,
  });
  const caller = new Caller({ url: bridge.url, tokens, workerId, workspaceId: 'primary' });
  try {
    return await work(caller);
  } finally {
    await caller.close();
    await worker.stop();
    await bridge.stop();
  }
}

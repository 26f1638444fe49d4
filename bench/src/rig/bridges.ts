import type { BridgeOptions } from '@codelanes/bridge';
import { ChildProgram } from './child-program.js';

/** What clients of the bridges here show. */
export const tokens = {
  caller: 'bench-caller-token',
  admin: 'bench-admin-token',
  worker: 'bench-worker-token',
};

export interface ChildBridge {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A bridge in a process of its own, with its usual settings but no rate limit. */
export async function startChildBridge(
  store: BridgeOptions['store'],
  more: Partial<BridgeOptions> = {},
): Promise<ChildBridge> {
  const options: BridgeOptions = {
    port: 0,
    tokens: { callers: [tokens.caller], admin: tokens.admin, worker: tokens.worker },
    rateLimit: 'off',
    store,
    ...more,
  };
  const child = await ChildProgram.start('bridge-process', options);
  return { url: child.said, pid: child.pid, stop: () => child.stop() };
}

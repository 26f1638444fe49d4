import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach } from 'vitest';
import { z } from 'zod';
import type { FromConnection } from '../messages.js';
import { defaultConnectionClocks } from '../messages.js';
import { Session } from '../session.js';

export type Reply =
  { status?: number; body: object; after?: Promise<unknown> } | { pieces: string[] } | 'hang';
const bodySchema = z.record(z.string(), z.unknown());
type Handler = (route: string, body: z.infer<typeof bodySchema>) => Reply;

/** Ends with the test. */
const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

export const token = 'f'.repeat(64);
export const id = (digit: string) => digit.repeat(32);
export const lease = (callId: string) => ({ callId, generation: 1, token });
export const assignment = (callId: string) => ({
  ...lease(callId),
  lane: ['primary'],
  mode: 'exclusive',
  pool: 'command',
  executionMs: 30_000,
  request: { protocolVersion: 1, operation: 'execute_command', workspaceId: 'primary', command: 'true' },
});
export const registered = {
  version: 1,
  slots: 2,
  filePool: 16,
  leaseTtlMs: 60_000,
  renewEveryMs: 50,
  unresolved: [],
};

/** A bridge that answers as the test says, on a free port of loopback. */
export async function bridge(handle: Handler): Promise<string> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const route = request.url?.split('/').at(-1) ?? '';
      const body = bodySchema.parse(JSON.parse(Buffer.concat(chunks).toString()));
      const reply = handle(route, body);
      if (reply === 'hang') return;
      if ('pieces' in reply) {
        // Left open: a stream goes on.
        for (const piece of reply.pieces) response.write(piece);
        return;
      }
      void Promise.resolve(reply.after).then(() => {
        response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(reply.body));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

/** A session under test, with what it said and whom it killed. */
export function session(bridgeUrl: string) {
  const said: FromConnection[] = [];
  const killed: number[] = [];
  const waiters: {
    wanted: (message: FromConnection) => boolean;
    resolve: (found: FromConnection) => void;
  }[] = [];
  const under = new Session(
    {
      bridgeUrl,
      access: { token: 'worker-token' },
      workerId: 'w',
      incarnationId: id('1'),
      journalId: id('2'),
      capabilities: {
        statefulWorkspace: true,
        sandboxProfile: 'test',
        runtimes: [],
        sharedReads: true,
        workspaceTools: { protocolVersion: 1, operations: ['read_file'], workspaces: [{ id: 'primary' }] },
      },
      slots: 2,
      takeOver: false,
      clocks: { ...defaultConnectionClocks, leaseMarginMs: 100, retryMinMs: 5, retryMaxMs: 20 },
    },
    (message) => {
      said.push(message);
      for (const waiter of [...waiters]) if (waiter.wanted(message)) waiter.resolve(message);
    },
    { kill: ({ pid }) => killed.push(pid) },
  );
  open.push({
    close: () => {
      under.accept({ kind: 'close' });
    },
  });
  const until = (kind: FromConnection['kind']) =>
    new Promise<FromConnection>((resolve) => {
      const found = said.find((message) => message.kind === kind);
      if (found === undefined) waiters.push({ wanted: (message) => message.kind === kind, resolve });
      else resolve(found);
    });
  return { under, said, killed, until };
}

/** Resolves when something is so. */
export async function when(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

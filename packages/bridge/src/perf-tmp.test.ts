import { Agent, request } from 'node:http';
import { it } from 'vitest';
import { TestBridge, testTokens } from './server/testing/test-bridge.js';
import { TestWorker } from './server/testing/test-worker.js';
it('perf', async () => {
  const bridge = await TestBridge.start();
  const worker = await TestWorker.registered(bridge);
  const agent = new Agent({ keepAlive: true });
  const post = (path: string, token: string, body: object) => new Promise<any>((res, rej) => {
    const r = request({ host: '127.0.0.1', port: bridge.port, path, method: 'POST', agent, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } }, (m) => { let t = ''; m.on('data', (c) => t += c); m.on('end', () => res(JSON.parse(t))); });
    r.on('error', rej); r.end(JSON.stringify(body));
  });
  let stop = false;
  const fence = { version: 1, incarnationId: worker.incarnationId };
  const loop = (async () => { while (!stop) { const { assignments } = await post('/v1/workers/worker-1/poll', testTokens.worker, { ...fence, waitMs: 1000 });
    for (const { callId, generation, token } of assignments) void post('/v1/workers/worker-1/settle', testTokens.worker, { ...fence, lease: { callId, generation, token }, settlement: { status: 'fulfilled', result: { protocolVersion: 1, operation: 'execute_command', workspaceId: 'primary', exitCode: 0, stdout: '', stderr: '', truncated: false, timedOut: false } } }); } })();
  const ms: number[] = [];
  for (let i = 0; i < 1500; i++) { const t = performance.now(); await post('/v1/workspace-tools/execute', testTokens.caller, { protocolVersion: 1, operation: 'execute_command', workspaceId: 'primary', command: 'true' }); ms.push(performance.now() - t); }
  stop = true; await loop;
  const s = ms.slice(300).sort((a, b) => a - b); console.log('p50', s[s.length >> 1], 'p99', s[Math.floor(s.length * .99)]);
  await bridge.close();
}, 60000);

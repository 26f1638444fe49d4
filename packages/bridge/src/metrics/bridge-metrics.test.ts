import { describe, expect, it } from 'vitest';
import type { WorkerLoad } from '../scheduler/store.js';
import { BridgeMetrics } from './bridge-metrics.js';

const noLoads = new Map<string, never>();

describe('BridgeMetrics', () => {
  it('takes time apart into waiting, running, and what bridge and worker add', async () => {
    const metrics = new BridgeMetrics();
    metrics.settled(
      { operation: 'execute_command', queuedMs: 2_000, totalMs: 5_003, wasPaused: false },
      3_000,
    );
    const text = await metrics.text(noLoads);
    expect(text).toContain('codelanes_queue_seconds_sum{operation="execute_command"} 2\n');
    expect(text).toContain('codelanes_run_seconds_sum{operation="execute_command"} 3\n');
    expect(text).toContain('codelanes_overhead_seconds_sum{operation="execute_command"} 0.003\n');
  });

  it('knows setups, which may run for an hour', async () => {
    const metrics = new BridgeMetrics();
    metrics.settled({ operation: 'setup', queuedMs: 0, totalMs: 2_000_000, wasPaused: false }, 2_000_000);
    expect(await metrics.text(noLoads)).toContain(
      'codelanes_run_seconds_bucket{le="3600",operation="setup"} 1\n',
    );
  });

  it('counts no overhead of a call whose worker did not say how long it ran', async () => {
    const metrics = new BridgeMetrics();
    metrics.settled({ operation: 'read_file', queuedMs: 0, totalMs: 40, wasPaused: false }, undefined);
    const text = await metrics.text(noLoads);
    expect(text).toContain('codelanes_run_seconds_sum{operation="read_file"} 0.04\n');
    expect(text).not.toContain('codelanes_overhead_seconds_sum{');
  });

  it('counts all stretches of a script as its run, and no overhead, as its worker measured only the last', async () => {
    const metrics = new BridgeMetrics();
    metrics.settled({ operation: 'run_script', queuedMs: 1_000, totalMs: 4_000, wasPaused: true }, 500);
    const text = await metrics.text(noLoads);
    expect(text).toContain('codelanes_queue_seconds_sum{operation="run_script"} 1\n');
    expect(text).toContain('codelanes_run_seconds_sum{operation="run_script"} 3\n');
    expect(text).not.toContain('codelanes_overhead_seconds_sum{');
  });

  it('has a registry of its own, so that bridges of one process do not meet', async () => {
    const one = new BridgeMetrics();
    const other = new BridgeMetrics();
    one.lost({ how: 'queue_timeout', operation: 'execute_command' });
    one.lost({ how: 'interrupted', operation: 'write_file' });
    one.lost({ how: 'interrupted', operation: undefined });
    one.rateLimited();
    const text = await one.text(noLoads);
    expect(text).toContain('codelanes_queue_timeouts_total{operation="execute_command"} 1\n');
    expect(text).toContain('codelanes_lease_losses_total{operation="write_file"} 1\n');
    expect(text).toContain('codelanes_lease_losses_total{operation="unknown"} 1\n');
    expect(await other.text(noLoads)).toContain('codelanes_rate_limited_total 0\n');
    expect(await other.text(noLoads)).not.toContain('execute_command');
  });

  it('forgets a worker that is not there any more', async () => {
    const metrics = new BridgeMetrics();
    const load: WorkerLoad = {
      running: [{ operation: 'execute_command', pool: 'command', calls: 2 }],
      waiting: [{ operation: 'write_file', calls: 7 }],
    };
    const before = await metrics.text(new Map([['laptop', load]]));
    for (const line of [
      'codelanes_running_calls{worker="laptop",pool="command",operation="execute_command"} 2\n',
      'codelanes_running_calls{worker="laptop",pool="file",operation="write_file"} 0\n',
      'codelanes_waiting_calls{worker="laptop",operation="write_file"} 7\n',
    ]) {
      expect(before).toContain(line);
    }
    expect(await metrics.text(noLoads)).not.toContain('laptop');
  });
});

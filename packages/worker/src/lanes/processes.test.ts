import { spawn, type ChildProcess } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { hostProcesses, waitUntilGone, type ProcessIdentity } from './processes.js';

const children: ChildProcess[] = [];

function start(command: string, ...words: string[]): { child: ChildProcess; identity: ProcessIdentity } {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const identity = hostProcesses.identify(child.pid ?? 0);
  if (identity === undefined) throw new Error(`${command} did not start.`);
  return { child, identity };
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

describe('a process', () => {
  it('is known by pid, start time and boot, not by pid alone', () => {
    const { identity } = start('sleep', '60');
    expect(hostProcesses.isGone(identity)).toBe(false);
    expect(hostProcesses.isGone({ ...identity, startTime: identity.startTime + 1 })).toBe(true);
    expect(hostProcesses.isGone({ ...identity, bootId: 'another' })).toBe(true);
  });

  it('is gone once it was killed, and that is waited for', async () => {
    const { identity } = start('sleep', '60');
    expect(await waitUntilGone(hostProcesses, identity, { timeoutMs: 5 })).toBe(false);
    hostProcesses.kill(identity);
    expect(await waitUntilGone(hostProcesses, identity, { timeoutMs: 50_000 })).toBe(true);
  });

  it('counts as gone when it is a zombie', async () => {
    // The shell never waits for its child, which therefore stays a zombie.
    const { child } = start('sh', '-c', 'sleep 0.05 & echo $!; exec sleep 60');
    const pid = Number(await new Promise<Buffer>((resolve) => child.stdout?.once('data', resolve)));
    const identity = hostProcesses.identify(pid);
    expect(identity).toBeDefined();
    if (identity === undefined) return;
    expect(await waitUntilGone(hostProcesses, identity, { timeoutMs: 50_000 })).toBe(true);
    expect(hostProcesses.identify(pid)).toEqual(identity);
  });

  it('is not killed for another that had its pid before', () => {
    const { identity } = start('sleep', '60');
    hostProcesses.kill({ ...identity, startTime: identity.startTime - 1 });
    hostProcesses.kill({ ...identity, bootId: 'another' });
    expect(hostProcesses.isGone(identity)).toBe(false);
  });

  it('is found by words that stand next to each other among its arguments', () => {
    const { identity } = start('perl', '-e', 'sleep 60', '--', '--setenv', 'MARK', 'ab12');
    start('perl', '-e', 'sleep 60', '--', '--setenv', 'MARK', 'ab123');
    start('perl', '-e', 'sleep 60', '--', '--setenv MARK ab12');
    expect(hostProcesses.withArguments(['--setenv', 'MARK', 'ab12'])).toEqual([identity]);
  });

  it('that has a strange name is read all the same', () => {
    const { identity } = start('perl', '-e', '$0 = ") Z 1 (x"; sleep 60');
    expect(hostProcesses.isGone(identity)).toBe(false);
  });
});

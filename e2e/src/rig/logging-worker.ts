import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  callsConflict,
  type Assignment,
  type Capabilities,
  type Lease,
  type Settlement,
  type CallRequest,
  type WorkspaceToolResult,
} from '@codelanes/protocol';
import { connect, type Connection } from '@codelanes/worker/connection';
import { logEvent } from '../faults/event-log.js';

type ConnectionTerms = Parameters<typeof connect>[0];
type Message = Parameters<Parameters<typeof connect>[1]>[0];

export interface LoggingWorkerOptions extends Pick<
  ConnectionTerms,
  'bridgeUrl' | 'access' | 'workerId' | 'slots' | 'clocks'
> {
  readonly filePool: number;
  /** Where each begin and each end of a call is appended. */
  readonly log: string;
}

interface Running {
  readonly assignment: Assignment;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

const capabilities: Capabilities = {
  statefulWorkspace: true,
  sandboxProfile: 'logging',
  runtimes: [],
  sharedReads: true,
  workspaceTools: {
    protocolVersion: 1,
    operations: ['read_file', 'write_file', 'execute_command'],
    writeFileModes: ['replace', 'create'],
    workspaces: [{ id: 'primary', name: 'primary', workspaceScopes: ['git_linked_worktree'] }],
  },
};

/**
 * A worker with the real connection (session, outbox, leases, a thread of its own) and none of the tools: a call
 * takes the time that its request names, and its begin and end are logged. It is the last judge as the real one is,
 * and never begins a call twice.
 */
export class LoggingWorker {
  readonly #options: LoggingWorkerOptions;
  readonly #connection: Connection;
  readonly #running = new Map<string, Running>();
  /** What the journal of the real worker is for. */
  readonly #begun = new Set<string>();
  #answeredBusy = false;

  constructor(options: LoggingWorkerOptions, onRegistered: () => void) {
    const { filePool: _filePool, log: _log, ...terms } = options;
    this.#options = options;
    this.#connection = connect(
      {
        ...terms,
        capabilities,
        incarnationId: randomBytes(16).toString('hex'),
        journalId: randomBytes(16).toString('hex'),
        takeOver: false,
      },
      (message) => {
        if (message.kind === 'registered') onRegistered();
        this.#hear(message);
      },
      (error) => {
        throw error;
      },
    );
  }

  close(): void {
    void this.#connection.terminate();
  }

  #hear(message: Message): void {
    switch (message.kind) {
      case 'assignment':
        this.#take(message.assignment);
        return;
      case 'cancel':
      case 'lost':
        this.#running.get(message.callId)?.stop.abort();
        return;
      case 'registered':
        for (const callId of message.unresolved) void this.#resolve(callId);
        return;
      case 'refused':
        throw new Error(`the bridge refused this worker: ${message.message}`);
      case 'expected':
      case 'unreachable':
      case 'put_off':
      case 'closed':
        return;
    }
  }

  #take(assignment: Assignment): void {
    const { callId } = assignment;
    if (this.#begun.has(callId)) {
      void this.#resolve(callId);
    } else if (this.#mayRun(assignment)) {
      const stop = new AbortController();
      this.#begun.add(callId);
      this.#running.set(callId, { assignment, stop, done: this.#run(assignment, stop.signal) });
    } else {
      this.#answeredBusy = true;
      this.#connection.send({ kind: 'report', report: { ...leaseOf(assignment), state: 'busy' } });
    }
  }

  #mayRun(assignment: Assignment): boolean {
    const present = [...this.#running.values()].map(({ assignment: running }) => running);
    const most = assignment.pool === 'command' ? this.#options.slots : this.#options.filePool;
    return (
      present.filter(({ pool }) => pool === assignment.pool).length < most &&
      !present.some((running) => callsConflict(running, assignment))
    );
  }

  async #resolve(callId: string): Promise<void> {
    const running = this.#running.get(callId);
    running?.stop.abort();
    await running?.done;
    const state = this.#begun.has(callId) ? 'interrupted' : 'denied';
    this.#connection.send({ kind: 'report', report: { callId, state } });
  }

  async #run(assignment: Assignment, signal: AbortSignal): Promise<void> {
    const { callId, request } = assignment;
    const logged = { callId, operation: request.operation, worktree: request.worktree };
    logEvent(this.#options.log, 'begin', logged);
    const isWhole = await this.#spend(assignment, signal);
    logEvent(this.#options.log, isWhole ? 'end' : 'stopped', logged);
    this.#running.delete(callId);
    this.#connection.send({
      kind: 'settle',
      lease: leaseOf(assignment),
      settlement: isWhole ? fulfilled(request) : aborted,
    });
    if (this.#answeredBusy) this.#connection.send({ kind: 'report', report: { state: 'freed' } });
    this.#answeredBusy = false;
  }

  /** Whether it was not stopped. A command is a process, which the thread kills when its lease ends. */
  async #spend(assignment: Assignment, signal: AbortSignal): Promise<boolean> {
    const { request } = assignment;
    if (request.operation !== 'execute_command') {
      return sleep(msOf(request), true, { signal }).catch(() => false);
    }
    const child = spawn('sleep', [String(msOf(request) / 1000)], {
      stdio: 'ignore',
      signal,
      killSignal: 'SIGKILL',
    });
    child.once('error', () => undefined);
    const exit = once(child, 'exit').catch(() => [null]);
    if (child.pid !== undefined) {
      this.#connection.send({ kind: 'started', lease: leaseOf(assignment), init: identityOf(child.pid) });
    }
    const [code] = await exit;
    return code === 0;
  }
}

/** How long a call is to take, which its request says in a field of its own kind. */
function msOf(request: CallRequest): number {
  if (request.operation === 'read_file') return request.startLine ?? 1;
  if (request.operation === 'write_file') return Number(request.content);
  if (request.operation === 'execute_command') return 1000 * Number(request.command.replace('sleep ', ''));
  throw new Error(`this worker does not offer ${request.operation}`);
}

function fulfilled(request: CallRequest): Settlement {
  return { status: 'fulfilled', result: resultOf(request) };
}

const aborted: Settlement = {
  status: 'rejected',
  error: { code: 'EXECUTION_ABORTED', message: 'The call was stopped.' },
};

function resultOf(request: CallRequest): WorkspaceToolResult {
  const { workspaceId } = request;
  const envelope = { protocolVersion: 1, workspaceId } as const;
  if (request.operation === 'read_file') {
    const { operation, path, startLine = 1 } = request;
    return { ...envelope, operation, path, content: 'one', startLine, endLine: startLine, truncated: false };
  }
  if (request.operation === 'write_file') {
    const { operation, path, content } = request;
    return { ...envelope, operation, path, created: true, bytesWritten: Buffer.byteLength(content) };
  }
  const streams = { stdout: '', stderr: '', truncated: false, timedOut: false };
  return { ...envelope, operation: 'execute_command', exitCode: 0, ...streams };
}

function leaseOf({ callId, generation, token }: Assignment): Lease {
  return { callId, generation, token };
}

function identityOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return { pid, startTime: Number(fields[19]), bootId };
}

import type { Assignment, Capabilities, ExecuteCommandResult } from '@codelanes/protocol';
import { pollReplySchema, workerWireVersion } from '@codelanes/protocol';
import { request } from 'undici';

export const workspaceId = 'app';

const capabilities: Capabilities = {
  statefulWorkspace: true,
  sandboxProfile: 'none',
  runtimes: ['bash'],
  sharedReads: true,
  workspaceTools: {
    protocolVersion: 1,
    operations: ['execute_command'],
    workspaces: [{ id: workspaceId, workspaceScopes: ['git_linked_worktree'] }],
  },
};

/** A worker at a real bridge whose every step is a test's: it runs nothing, and says what it is told to say. */
export class HandWorker {
  readonly #base: string;
  readonly #token: string;
  readonly #incarnationId = '1'.repeat(32);
  readonly #registrationId = '3'.repeat(32);

  constructor(bridgeUrl: string, token: string, workerId: string) {
    this.#base = `${bridgeUrl}/v1/workers/${workerId}`;
    this.#token = token;
  }

  async register(): Promise<void> {
    const journalId = '2'.repeat(32);
    await this.#post('register', {
      workerId: this.#base.split('/').at(-1),
      registrationId: this.#registrationId,
      journalId,
      capabilities,
      slots: 2,
      holds: [],
      takeOver: false,
    });
  }

  /** Takes the next call and says that it started. */
  async start(): Promise<Assignment> {
    for (;;) {
      const reply = pollReplySchema.parse(
        await this.#post('poll', { registrationId: this.#registrationId, waitMs: 10_000 }),
      );
      const [assignment] = reply.assignments;
      if (assignment === undefined) continue;
      await this.#post('report', { reports: [{ ...leaseOf(assignment), state: 'started' }] });
      return assignment;
    }
  }

  async settle(assignment: Assignment, stdout: string): Promise<void> {
    const result: ExecuteCommandResult = {
      protocolVersion: 1,
      workspaceId,
      operation: 'execute_command',
      exitCode: 0,
      stdout,
      stderr: '',
      truncated: false,
      timedOut: false,
    };
    await this.#post('settle', { lease: leaseOf(assignment), settlement: { status: 'fulfilled', result } });
  }

  async #post(route: string, body: object): Promise<unknown> {
    const reply = await request(`${this.#base}/${route}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ version: workerWireVersion, incarnationId: this.#incarnationId, ...body }),
    });
    const text = await reply.body.text();
    if (reply.statusCode !== 200) throw new Error(`${route}: ${text}`);
    return JSON.parse(text);
  }
}

function leaseOf({ callId, generation, token }: Assignment) {
  return { callId, generation, token };
}

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import type {
  Assignment,
  Capabilities,
  Pause,
  PollReply,
  RegisterReply,
  RegisterRequest,
  Report,
  Settlement,
} from '@codelanes/protocol';
import {
  operationSchema,
  pollReplySchema,
  registerReplySchema,
  settleReplySchema,
  workerWireVersion,
} from '@codelanes/protocol';
import type { Answer, TestBridge } from './test-bridge.js';
import { randomId, testTokens } from './test-bridge.js';

export function testCapabilities(): Capabilities {
  return {
    statefulWorkspace: true,
    sandboxProfile: 'test',
    runtimes: ['bash'],
    programmaticLanguages: ['bash'],
    sharedReads: true,
    workspaceTools: {
      protocolVersion: 1,
      operations: [...operationSchema.options],
      workspaces: [
        { id: 'primary', workspaceScopes: ['git_linked_worktree', 'repository'] },
        {
          id: 'primary:app',
          workspaceScopes: ['git_linked_worktree'],
          aliasOf: { workspaceId: 'primary', repository: 'app' },
        },
      ],
      writeFileModes: ['replace', 'create'],
      commandResultFeatures: ['lane_git'],
    },
  };
}

/** A worker as the bridge sees it: it speaks the wire and runs nothing. */
export class TestWorker {
  readonly id: string;
  readonly #bridge: TestBridge;
  readonly incarnationId = randomId();
  readonly registrationId = randomId();

  constructor(bridge: TestBridge, id = 'worker-1') {
    this.#bridge = bridge;
    this.id = id;
  }

  static async registered(
    bridge: TestBridge,
    { id, ...changes }: Partial<RegisterRequest> & { readonly id?: string } = {},
  ): Promise<TestWorker> {
    const worker = new TestWorker(bridge, id);
    await worker.register(changes);
    return worker;
  }

  post(route: string, body: object, signal?: AbortSignal): Promise<Answer> {
    return this.#bridge.send(`/v1/workers/${this.id}/${route}`, {
      as: 'worker',
      body: { version: workerWireVersion, incarnationId: this.incarnationId, ...body },
      signal,
    });
  }

  async register(changes: Partial<RegisterRequest> = {}): Promise<RegisterReply> {
    const answer = await this.post('register', {
      workerId: this.id,
      registrationId: this.registrationId,
      journalId: randomId(),
      capabilities: testCapabilities(),
      slots: 2,
      holds: [],
      takeOver: false,
      ...changes,
    });
    return registerReplySchema.parse(answer.json);
  }

  async poll(waitMs = 25_000): Promise<PollReply> {
    return pollReplySchema.parse(
      (await this.post('poll', { registrationId: this.registrationId, waitMs })).json,
    );
  }

  /** What comes on the reply to one poll that asks for a stream. */
  async *batches(waitMs: number): AsyncGenerator<PollReply, undefined> {
    const fence = { incarnationId: this.incarnationId, registrationId: this.registrationId };
    const body = { version: workerWireVersion, ...fence, waitMs, stream: true };
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port: this.#bridge.port,
      path: `/v1/workers/${this.id}/poll`,
      agent: false,
      method: 'POST',
      headers: { authorization: `Bearer ${testTokens.worker}`, 'content-type': 'application/json' },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve).on('error', reject);
    });
    outgoing.end(JSON.stringify(body));
    for await (const line of createInterface(await answered)) {
      yield pollReplySchema.parse(JSON.parse(line));
    }
    return undefined;
  }

  /** The next assignment, which is to be the only one. */
  async next(): Promise<Assignment> {
    const { assignments } = await this.poll();
    const [assignment, ...others] = assignments;
    if (assignment === undefined || others.length > 0) throw new Error('One assignment was expected.');
    return assignment;
  }

  async start(assignment: Assignment): Promise<void> {
    const { callId, generation, token } = assignment;
    const report: Report = { callId, generation, token, state: 'started' };
    await this.post('report', { reports: [report] });
  }

  async settle(assignment: Assignment, settlement: Settlement | Pause): Promise<boolean> {
    const { callId, generation, token } = assignment;
    const answer = await this.post('settle', { lease: { callId, generation, token }, settlement });
    return settleReplySchema.parse(answer.json).accepted;
  }

  /** Settles a command as one that printed that text. */
  settleCommand(assignment: Assignment, stdout = ''): Promise<boolean> {
    return this.settle(assignment, {
      status: 'fulfilled',
      result: {
        protocolVersion: 1,
        operation: 'execute_command',
        workspaceId: assignment.request.workspaceId,
        exitCode: 0,
        stdout,
        stderr: '',
        truncated: false,
        timedOut: false,
      },
    });
  }
}

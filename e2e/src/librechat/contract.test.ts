import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { executeWorkspaceTool, WorkspaceToolHttpError } from '@codelanes/librechat';
import { queueWaitHeader } from '@codelanes/protocol';
import { fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCallId } from '../rig/caller.js';
import { Deployment, steadyClocks } from '../rig/deployment.js';
import { RedisServer } from '../rig/redis-server.js';
import { Repository } from '../rig/repository.js';
import { LibreChatServer } from './librechat-server.js';
import { SigningKey } from './signing-key.js';
import type { SentRequest } from './reply-rules.js';

const envelope = { protocolVersion: 1, workspaceId: 'primary' } as const;
const command = { ...envelope, operation: 'execute_command', maxOutputBytes: 262_144 } as const;
const mib = 1024 * 1024;

describe.each(['memory', 'redis'] as const)(
  '[L27] an unmodified LibreChat of generation A, store %s',
  (store) => {
    let redis: RedisServer | undefined;
    let repository: Repository;
    let deployment: Deployment;
    let librechat: LibreChatServer;
    /** Of a LibreChat with several users; each request has a new token. */
    let key: SigningKey;

    beforeAll(async () => {
      redis = store === 'redis' ? await RedisServer.start() : undefined;
      repository = Repository.create('a');
      key = new SigningKey(repository.folder);
      deployment = await Deployment.start(repository, {
        ...steadyClocks,
        slots: 1,
        bridge: {
          ...steadyClocks.bridge,
          jwt: { keys: { file: key.file } },
          ...(redis === undefined ? {} : { store: { kind: 'redis', url: redis.url } }),
        },
      });
      librechat = new LibreChatServer(deployment.url, () => key.token());
      writeFileSync(repository.path('AGENTS.md'), 'Be kind.\nBe brief.\n');
      writeFileSync(
        repository.path('lines.txt'),
        Array.from({ length: 700 }, (_, index) => `line ${index}`).join('\n'),
      );
      writeFileSync(repository.path('empty.txt'), '');
      writeFileSync(repository.path('bom.txt'), '\ufeffone\ntwo\n');
    });
    afterAll(async () => {
      await deployment.stop();
      repository.remove();
      await redis?.stop();
    });

    describe('takes the result of', () => {
      it.each<[string, SentRequest, object]>([
        ['a read', { ...envelope, operation: 'read_file', path: 'file.txt' }, { content: 'one', endLine: 1 }],
        [
          'a read of 200 lines',
          { ...envelope, operation: 'read_file', path: 'lines.txt' },
          { nextStartLine: 201 },
        ],
        [
          'a read of 500 lines from the 300th',
          { ...envelope, operation: 'read_file', path: 'lines.txt', startLine: 300, maxLines: 500 },
          { startLine: 300, endLine: 700, truncated: false },
        ],
        [
          'a read of an empty file',
          { ...envelope, operation: 'read_file', path: 'empty.txt' },
          { content: '' },
        ],
        [
          'a search',
          { ...envelope, operation: 'search_text', query: 'line 69', path: 'lines.txt', maxResults: 200 },
          { matches: Array.from({ length: 11 }, () => ({ path: 'lines.txt' })) },
        ],
        [
          'a search that is cut',
          { ...envelope, operation: 'search_text', query: 'line' },
          { truncated: true },
        ],
        [
          'a search without a match',
          { ...envelope, operation: 'search_text', query: 'nowhere' },
          { matches: [] },
        ],
        ['a list', { ...envelope, operation: 'list_files', maxResults: 500 }, { truncated: false }],
        [
          'a list that is cut',
          { ...envelope, operation: 'list_files', maxResults: 1, afterPath: 'AGENTS.md' },
          { truncated: true },
        ],
        [
          'a command',
          { ...command, command: 'echo out; echo err >&2; exit 3' },
          { exitCode: 3, stderr: 'err\n' },
        ],
        [
          'a command in a folder',
          { ...command, command: 'pwd', cwd: '.worktrees', timeoutMs: 30_000 },
          { exitCode: 0 },
        ],
        ['a command that is killed', { ...command, command: 'kill -KILL $$' }, {}],
        [
          'a command without time',
          { ...command, command: 'sleep 30', timeoutMs: 200 },
          { timedOut: true, exitCode: null },
        ],
        [
          'a command that writes much',
          { ...command, command: 'head -c 400000 /dev/zero | tr "\\0" "x"' },
          { truncated: true },
        ],
        ['a command that writes no text', { ...command, command: "printf 'a\\xff\\xfeb'" }, { exitCode: 0 }],
      ])('%s', async (_, request, expected) => {
        expect(await librechat.result(request)).toMatchObject(expected);
      });

      it('a read of the instructions that it has the digest of', async () => {
        const content = 'Be kind.\nBe brief.\n';
        const instructionSha256 = createHash('sha256').update(content).digest('hex');
        const request = { ...envelope, operation: 'read_file', path: 'AGENTS.md', instructionSha256 };
        expect(await librechat.result(request)).toMatchObject({ content });
      });

      it('a write, an edit and a preview, in every form', async () => {
        const path = `made-${store}.txt`;
        const write = { ...envelope, operation: 'write_file', path, content: 'ä\nb\nb\n' };
        expect(await librechat.result({ ...write, overwrite: false })).toMatchObject({ created: true });
        expect(await librechat.result({ ...write, overwrite: true })).toMatchObject({ created: false });
        const preview = {
          ...envelope,
          operation: 'preview_edit',
          path,
          edits: [{ oldText: 'ä', newText: 'ö' }],
        };
        const { baseSha256 }: { baseSha256?: string } = await librechat.result(preview);
        expect(baseSha256).toBe(createHash('sha256').update(write.content).digest('hex'));
        const edit = { ...preview, operation: 'edit_file' };
        expect(await librechat.result({ ...edit, expectedBaseSha256: baseSha256 })).toMatchObject({
          replacements: 1,
        });
        const all = [{ oldText: 'b', newText: 'c', replaceAll: true }];
        expect(await librechat.result({ ...edit, edits: all })).toMatchObject({
          matches: [{ occurrences: 2 }],
        });
        const tolerant = [{ oldText: '  ö  ', newText: 'o' }];
        expect(await librechat.result({ ...edit, edits: tolerant, matching: 'tolerant' })).toHaveProperty(
          'matches',
        );
      });

      it('a preview of a file that begins with the mark of UTF-8', async () => {
        const edits = [{ oldText: 'one', newText: 'uno' }];
        const request = { ...envelope, operation: 'preview_edit', path: 'bom.txt', edits, matching: 'exact' };
        expect(await librechat.result(request)).toMatchObject({ hasUtf8Bom: true });
      });

      it('the largest that it may ask for', async () => {
        const write = {
          ...envelope,
          operation: 'write_file',
          path: `big-${store}.txt`,
          content: 'x'.repeat(mib),
        };
        expect(await librechat.result(write)).toMatchObject({ bytesWritten: mib });
        const edits = [{ oldText: 'x'.repeat(mib / 2), newText: 'y'.repeat(mib / 4), replaceAll: true }];
        expect(
          await librechat.result({ ...write, operation: 'edit_file', edits, content: undefined }),
        ).toMatchObject({
          bytesWritten: mib / 2,
        });
        const output = {
          ...command,
          maxOutputBytes: mib,
          command: `head -c ${mib} /dev/zero | tr '\\0' 'x'`,
        };
        expect(await librechat.result(output)).toMatchObject({ truncated: false });
      });
    });

    describe('never reads more than 4 MiB', () => {
      it('where a result would have more it is told that the call ran, and does not repeat it', async () => {
        const path = `once-${store}`;
        const loud = {
          ...command,
          maxOutputBytes: mib,
          command: `echo run >> ${path}; head -c ${mib} /dev/zero | tr '\\0' '\\1'`,
        };
        const refused = await librechat.refusal(loud);
        expect(refused).toMatchObject({ status: 502, code: 'RESULT_INVALID', refusal: 'final' });
        expect(await librechat.result({ ...command, command: `cat ${path}` })).toMatchObject({
          stdout: 'run\n',
        });
      });
    });

    describe('is refused in a form that it reads', () => {
      it.each<[string, object, number, string]>([
        ['a path that leads out', { operation: 'read_file', path: '../x' }, 400, 'MALFORMED_REQUEST'],
        ['a missing file', { operation: 'read_file', path: 'missing' }, 422, 'INVALID_PATH'],
        ['a folder', { operation: 'read_file', path: '.worktrees' }, 422, 'INVALID_PATH'],
        [
          'another workspace',
          { operation: 'read_file', path: 'x', workspaceId: 'other' },
          409,
          'WORKER_MISMATCH',
        ],
        [
          'a clone of the conversation',
          { operation: 'read_file', path: 'x', workspaceInstanceId: 'a'.repeat(64) },
          409,
          'WORKER_MISMATCH',
        ],
        ['a field that it does not know', { operation: 'list_files', depth: 1 }, 400, 'MALFORMED_REQUEST'],
        [
          'an edit that does not fit',
          { operation: 'edit_file', path: 'file.txt', edits: [{ oldText: 'nowhere', newText: '' }] },
          409,
          'EDIT_CONFLICT',
        ],
        [
          'a file that exists already',
          { operation: 'write_file', path: 'file.txt', content: '', overwrite: false },
          409,
          'EDIT_CONFLICT',
        ],
        [
          'too much to write',
          { operation: 'write_file', path: 'x', content: 'x'.repeat(mib + 1) },
          400,
          'MALFORMED_REQUEST',
        ],
        [
          'a command of 32 KiB and a byte',
          { operation: 'execute_command', command: 'x'.repeat(32_769) },
          400,
          'MALFORMED_REQUEST',
        ],
        [
          'an action that is not defined',
          {
            operation: 'execute_command',
            command: 'test',
            environmentAction: { name: 'test', fingerprint: 'a'.repeat(64) },
          },
          409,
          'WORKER_MISMATCH',
        ],
      ])('%s', async (_, fields, status, code) => {
        const refused = await librechat.refusal({ ...envelope, ...fields });
        expect(refused).toMatchObject({ status, code, refusal: 'final' });
        expect(Buffer.byteLength(refused.body)).toBeLessThanOrEqual(4096);
      });

      it.each(['', '{', '[]', 'null', '"x"'])('the body %j', async (body) => {
        expect(await librechat.refusal(body)).toMatchObject({ status: 400, refusal: 'final' });
      });

      it.each(['0', '-1', '300001', 'soon', '1.5'])('the wait "%s" in the queue', async (wait) => {
        const headers = { 'X-LibreChat-Workspace-Queue-Wait-Ms': wait };
        const request = { ...envelope, operation: 'list_files' };
        expect(await librechat.refusal(request, { headers })).toMatchObject({
          status: 400,
          code: 'INVALID_WORKSPACE_QUEUE_WAIT',
        });
      });

      it('another worker', async () => {
        const request = { ...envelope, operation: 'list_files' };
        const headers = { 'X-LibreChat-Code-Worker-ID': 'gone' };
        const refused = await librechat.refusal(request, { headers });
        expect(refused).toMatchObject({ status: 403, code: 'WORKER_UNAUTHORIZED', refusal: 'final' });
      });

      it('the durable request of another of its users', async () => {
        if (store === 'memory') return;
        const path = '/workspace-tools/requests';
        const headers = { 'X-LibreChat-Workspace-Request-Id': 'contract-request-0002' };
        await librechat.send({ ...envelope, operation: 'list_files' }, { path, headers });
        const bob = new LibreChatServer(deployment.url, () => key.token({ user: 'bob' }));
        expect((await bob.ask('GET', `${path}/contract-request-0002`)).status).toBe(404);
        expect((await librechat.ask('GET', `${path}/contract-request-0002`)).status).toBe(200);
      });

      it('somebody without a token', async () => {
        const nobody = new LibreChatServer(deployment.url, 'a-token-that-nobody-made');
        expect(await nobody.refusal({ ...envelope, operation: 'list_files' })).toMatchObject({
          status: 401,
          refusal: 'final',
        });
      });
    });

    describe('repeats a call that never started, and no other', () => {
      /** Keeps the only slot busy until it is let go; what comes of it is the end of the command that did. */
      async function busySlot(): Promise<{ readonly letGo: () => Promise<unknown> }> {
        const caller = deployment.caller('other');
        const callId = newCallId();
        const blocker = caller.run('until [ -e go ]; do sleep 0.05; done; rm go', undefined, { callId });
        await caller.until(callId, 'running');
        return {
          letGo: () => {
            writeFileSync(repository.path('go'), '');
            return blocker;
          },
        };
      }

      it('after its time in the queue is over, in a body that it reads whole', async () => {
        const { letGo } = await busySlot();
        const refused = await librechat.refusal({ ...command, command: 'true' }, { queueWaitMs: 100 });
        await letGo();
        expect(refused).toMatchObject({ status: 503, refusal: 'queue_timeout', retryAfter: '1' });
        expect(Buffer.byteLength(refused.body)).toBeLessThanOrEqual(2048);
      });

      it('until the workspace is free: it runs once, in one of the attempts', async () => {
        const path = `repeated-${store}`;
        const { letGo } = await busySlot();
        const attempts: unknown[] = [];
        const result = await executeWorkspaceTool({
          baseURL: `${deployment.url}/v1`,
          authHeaders: async () => {
            attempts.push(attempts.length === 1 ? await letGo() : undefined);
            return { Authorization: `Bearer ${key.token()}` };
          },
          request: { ...command, command: `echo run >> ${path}` },
          // Else the first attempt alone would wait 30 s.
          fetchImpl: (url, sent) =>
            fetch(url, {
              ...sent,
              headers: { ...sent.headers, [queueWaitHeader]: attempts.length === 1 ? '200' : '60000' },
            }),
        });
        expect(result).toMatchObject({ exitCode: 0 });
        expect(attempts.length).toBeGreaterThan(1);
        expect(await librechat.result({ ...command, command: `cat ${path}` })).toMatchObject({
          stdout: 'run\n',
        });
      });
    });

    describe('is told of durable requests', () => {
      it('whether there are any, and gets 404 where there are none', async () => {
        const offered = store === 'redis' ? 1 : 0;
        const told = await librechat.ask('GET', '/workspace-tools/capabilities');
        expect(told).toMatchObject({ status: 200, json: { durableWorkspaceRequests: offered } });
        const sent = await librechat.send(
          { ...envelope, operation: 'list_files' },
          {
            path: '/workspace-tools/requests',
            headers: { 'X-LibreChat-Workspace-Request-Id': 'contract-request-0001' },
          },
        );
        expect(sent.status).toBe(offered === 1 ? 202 : 404);
      });
    });

    it('asks with the client of this house as it would with its own', async () => {
      const transport = {
        baseURL: `${deployment.url}/v1/`,
        authHeaders: {
          Authorization: `Bearer ${key.token()}`,
          'X-LibreChat-Code-Worker-ID': 'w1',
        },
      };
      const read = { ...envelope, operation: 'read_file', path: '.worktrees/a/file.txt' } as const;
      const expected = { path: '.worktrees/a/file.txt', content: 'one' };
      expect(await executeWorkspaceTool({ ...transport, request: read })).toMatchObject(expected);
      expect(
        await executeWorkspaceTool({ ...transport, request: read, linkedWorktrees: true }),
      ).toMatchObject(expected);
      const conflict = executeWorkspaceTool({
        ...transport,
        request: {
          ...envelope,
          operation: 'edit_file',
          path: 'file.txt',
          edits: [{ oldText: 'nowhere', newText: '' }],
        },
      });
      await expect(conflict).rejects.toBeInstanceOf(WorkspaceToolHttpError);
      await expect(conflict).rejects.toHaveProperty('editConflict');
    });
  },
);

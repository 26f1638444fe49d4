import { limits, type ExecuteCommandRequest } from '@codelanes/protocol';
import type { Command } from 'commander';
import { Option } from 'commander';
import { BridgeClient } from '../client/bridge-client.js';
import { runCall } from '../client/run-call.js';
import type { PlannedCall } from '../client/run-call.js';
import type { Endpoint, EndpointFlags } from '../connection/endpoint.js';
import { resolveEndpoint } from '../connection/endpoint.js';
import { exitStatus } from '../errors/cli-error.js';
import { actionOf } from '../exec/action-of.js';
import { commandStatus } from '../exec/command-status.js';
import { failedCall } from '../exec/failed-call.js';
import { endOfCancelled, onInterruption } from '../exec/interruption.js';
import { Progress } from '../exec/progress.js';
import { chosenWorkspace, requestOf } from '../exec/request-of.js';
import { withEndpointOptions } from '../options/endpoint-options.js';
import { seconds } from '../options/numbers.js';
import { plainText } from '../terminal/plain-text.js';

const defaultPatienceMs = 300_000;

interface ExecFlags extends EndpointFlags {
  readonly workspace?: string;
  readonly repository?: string;
  readonly worktree?: string;
  readonly cwd?: string;
  readonly action?: string;
  readonly timeout?: number;
  readonly queueWait: number;
}

export function addExecCommand(program: Command): void {
  const command = program
    .command('exec')
    .description('run a command in a lane, and end with its status')
    .argument(
      '[command...]',
      'after "--": one word is a line for the shell, several are program and arguments',
    )
    .option('--workspace <id>', 'which folder of the worker; not needed where it serves only one')
    .option('--repository <path>', 'a repository of the folder, by the path in its definition')
    .option('--worktree <name>', 'the lane of .worktrees/<name>; without it the whole checkout')
    .option('--action <name>', 'an action of the definition, in place of a command')
    .option('--cwd <dir>', 'folder to run in, relative to the lane')
    .option(
      '--timeout <seconds>',
      `time that the command may run, at most ${limits.commandTimeoutMs / 1000} (default: 30, or that of the action)`,
      seconds(limits.commandTimeoutMs / 1000),
    )
    .addOption(
      new Option('--queue-wait <seconds>', 'patience in the queue')
        .argParser(seconds(86_400))
        .default(defaultPatienceMs, String(defaultPatienceMs / 1000)),
    )
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Exit status: that of the command; 128+n where signal n ended it; ${exitStatus.timedOut} where it ran out of time;
${exitStatus.nothingRan} where nothing ran; ${exitStatus.outcomeUnknown} where the outcome is unknown; ${exitStatus.cancelled} where it was cancelled.`,
    );
  withEndpointOptions(command).action(async (words: string[], flags: ExecFlags) => {
    if ((words.length === 0) === (flags.action === undefined)) {
      command.error('error: give a command after "--", or --action NAME, and not both');
    }
    process.exitCode = await exec(words, flags);
  });
}

async function exec(words: readonly string[], flags: ExecFlags): Promise<number> {
  let client: BridgeClient | undefined;
  try {
    const endpoint = await resolveEndpoint(flags, 'caller');
    client = new BridgeClient(endpoint);
    const request = await requestFor(client, endpoint, words, flags);
    return await runAndPrint(client, { workerId: endpoint.workerId, request, patienceMs: flags.queueWait });
  } catch (error) {
    const { status, what, next } = failedCall(error);
    say(what);
    console.error(plainText(`  ${next}`));
    return status;
  } finally {
    await client?.close();
  }
}

/** The bridge is asked what the worker offers only where that is needed. */
async function requestFor(
  client: BridgeClient,
  { workerId, workspaces: known }: Endpoint,
  words: readonly string[],
  { action: name, ...flags }: ExecFlags,
): Promise<ExecuteCommandRequest> {
  const isChosen = flags.workspace !== undefined || known.length > 0;
  const offered = isChosen && name === undefined ? [] : await client.workspaces(workerId);
  const own = offered.filter(({ aliasOf }) => aliasOf === undefined).map(({ id }) => id);
  const workspaceId = chosenWorkspace(flags.workspace, known.length > 0 ? known : own);
  const { repository } = flags;
  const action = name === undefined ? undefined : actionOf(offered, { workspaceId, repository }, name);
  return requestOf(workspaceId, words, { ...flags, action });
}

async function runAndPrint(client: BridgeClient, call: PlannedCall): Promise<number> {
  const progress = new Progress(say);
  const interruption = new AbortController();
  let present = '';
  const listener = {
    onAttempt: (callId: string) => {
      present = callId;
      progress.attempt();
    },
    onView: progress.view.bind(progress),
    onRetry: progress.retry.bind(progress),
    onUnavailable: progress.unavailable.bind(progress),
  };
  const stopListening = onInterruption(() => {
    interruption.abort();
  });
  try {
    const result = await runCall(client, call, listener, interruption.signal);
    process.stdout.write(result.stdout);
    process.stderr.write(result.stderr);
    if (result.truncated)
      say('The output was too long; a part of it was left out. To have all of it, write it to a file.');
    const { status, note } = commandStatus(result);
    if (note !== undefined) say(note);
    return status;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    say(await endOfCancelled(client, present, progress.lastView));
    return exitStatus.cancelled;
  } finally {
    stopListening();
  }
}

function say(line: string): void {
  console.error(plainText(`codelanes: ${line}`));
}

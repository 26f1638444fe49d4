import { startSandboxed, type StartOptions } from '../sandbox/start.js';
import { exitFields, RunningCommand, type Ended, type RunningOptions } from './running-command.js';

export interface ExecuteOptions extends StartOptions, RunningOptions {
  /** Running time of the command, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * What is to be done when the sandbox is over and before the result is made: audits, clearing of locks.
   * Returns what the agent is to be told. Called only for a command that was started.
   */
  readonly afterwards?: ((ended: Ended) => Promise<readonly string[]>) | undefined;
}

export interface CommandOutcome extends Ended {
  /** Null if and only if the command was cancelled, timed out or was ended by a signal. */
  readonly exitCode: number | null;
  readonly signal?: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  /** What the wall had to say, which stands at the end of `stderr` as far as it fits. */
  readonly notices: readonly string[];
  readonly timedOut: boolean;
}

/**
 * Runs one command in a sandbox to its end. It is over when the command itself has left, whatever it started
 * in the background, and every process of it is gone before anything it wrote is looked at.
 *
 * @throws as `startSandboxed`: rejection means that nothing of the command ran, except when `afterwards` rejects.
 */
export async function executeCommand(options: ExecuteOptions): Promise<CommandOutcome> {
  const command = new RunningCommand(await startSandboxed(options), options);
  const ended = await command.end(await command.untilOver(options));
  return outcomeOf(command, ended, (await options.afterwards?.(ended)) ?? []);
}

/** What an ended command came to, with what there is to say last. */
export function outcomeOf(
  command: Pick<RunningCommand, 'render'>,
  ended: Ended,
  notices: readonly string[],
): CommandOutcome {
  const { ending } = ended;
  return {
    ...ended,
    ...exitFields(ending),
    ...command.render(notices),
    timedOut: ending.kind === 'timed_out',
  };
}

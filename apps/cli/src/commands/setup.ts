import { existsSync } from 'node:fs';
import { describeLane } from '@codelanes/protocol';
import type { ListedSetup } from '@codelanes/worker';
import type { Command } from 'commander';
import { defaultStateFolder } from '../connection/state-folder.js';
import { CliError } from '../errors/cli-error.js';
import { parseLane } from '../lanes/parse-lane.js';
import { setupsText } from '../setup/setups-text.js';
import { plainText } from '../terminal/plain-text.js';

interface SetupFlags {
  readonly state?: string;
}

const laneArgument = [
  '<lane>',
  'as "codelanes setup status" shows it, like primary/api/.worktrees/a',
] as const;
const stateOption = ['--state <dir>', 'state folder of the worker'] as const;

export function addSetupCommand(program: Command): void {
  const setup = program
    .command('setup')
    .description('how far lanes and environments are with their setup, on the machine of the worker');
  setup
    .command('status')
    .description('show the last run in each lane')
    .option('--json', 'as the worker keeps it, for programs')
    .option(...stateOption)
    .action(showStatus);
  setup
    .command('retry')
    .description('set a lane up again: at once where its worker runs, else at its next start')
    .argument(...laneArgument)
    .option(...stateOption)
    .action(retry);
  setup
    .command('log')
    .description('print what the last run in a lane said, as far as it has come')
    .argument(...laneArgument)
    .option(...stateOption)
    .action(showLog);
}

async function showStatus(flags: SetupFlags & { readonly json?: boolean }): Promise<void> {
  const state = stateFolderOf(flags);
  const { listSetups } = await import('@codelanes/worker');
  const records = listSetups(state).map(({ record }) => record);
  console.log(flags.json === true ? JSON.stringify(records, null, 2) : setupsText(records, Date.now()));
}

async function retry(text: string, flags: SetupFlags): Promise<void> {
  const listed = await find(text, flags);
  const where = describeLane(listed.record.lane);
  if (listed.record.state === 'running') {
    throw new CliError(
      `${where} is being set up now.`,
      `Watch it with "codelanes setup log ${where}", or stop it first with "codelanes cancel ${listed.record.call}".`,
    );
  }
  if (listed.retry === undefined) {
    throw new CliError(
      `${where} is an environment: its setup runs whenever its worker starts, and at no other time.`,
      `Mend what "codelanes setup log ${where}" shows, then start the worker again; nothing has to be cleared.`,
    );
  }
  const { requestRetry } = await import('@codelanes/worker');
  requestRetry(listed.retry);
  console.log(`The worker will set ${where} up again: at once where it runs, else at its next start.`);
}

async function showLog(text: string, flags: SetupFlags): Promise<void> {
  const listed = await find(text, flags);
  const { readSetupLog } = await import('@codelanes/worker');
  const log = readSetupLog(listed);
  // What a branch's install scripts say is no word to a terminal; a file or a program gets every byte.
  process.stdout.write(process.stdout.isTTY ? plainText(log) : log);
}

async function find(text: string, flags: SetupFlags): Promise<ListedSetup> {
  const lane = parseLane(text);
  const state = stateFolderOf(flags);
  const { findSetup } = await import('@codelanes/worker');
  const listed = findSetup(state, lane);
  if (listed !== undefined) return listed;
  throw new CliError(
    `No worker that uses the state folder ${state} has set ${describeLane(lane)} up.`,
    'See which lanes were with "codelanes setup status"; a setup runs before the first command in a worktree.',
  );
}

function stateFolderOf({ state = defaultStateFolder() }: SetupFlags): string {
  if (existsSync(state)) return state;
  throw new CliError(
    `No worker of this machine uses the state folder ${state}.`,
    'Name the right one with --state.',
  );
}

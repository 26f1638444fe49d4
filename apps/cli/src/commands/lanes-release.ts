import { existsSync } from 'node:fs';
import { describeLane } from '@codelanes/protocol';
import type { Command } from 'commander';
import { defaultStateFolder } from '../connection/state-folder.js';
import { CliError } from '../errors/cli-error.js';
import { parseLane } from '../lanes/parse-lane.js';

export function addLanesReleaseCommand(lanes: Command): void {
  lanes
    .command('release')
    .description(
      'give a quarantined lane back by hand, on the machine of its worker; first make sure that nothing of the earlier call runs',
    )
    .argument('<lane>', 'as "codelanes lanes" shows it, like myrepo/.worktrees/a')
    .option('--state <dir>', 'state folder of the worker')
    .action(async (text: string, flags: { readonly state?: string }) => {
      const lane = parseLane(text);
      const state = flags.state ?? defaultStateFolder();
      if (!existsSync(state)) {
        throw new CliError(
          `No worker of this machine uses the state folder ${state}.`,
          'Name the right one with --state.',
        );
      }
      const { requestRelease } = await import('@codelanes/worker');
      if (!(await requestRelease(state, lane))) {
        throw new CliError(
          `No worker that uses the state folder ${state} has closed ${describeLane(lane)}.`,
          'See which lanes are closed with "codelanes lanes".',
        );
      }
      console.log(
        `The worker will give ${describeLane(lane)} back: at once where it runs, else at its next start.`,
      );
    });
}

import type { Command } from 'commander';
import { defaultStateFolder } from '../connection/state-folder.js';
import { CliError } from '../errors/cli-error.js';
import { storesText } from '../snapshots/stores-text.js';

interface PruneFlags {
  readonly apply?: boolean;
  readonly json?: boolean;
  readonly state?: string;
}

export function addSnapshotsCommand(program: Command): void {
  program
    .command('snapshots')
    .description('what setups of environments have kept (setup.reuse.snapshot)')
    .command('prune')
    .description(
      'show which snapshots are no longer kept by the lifecycle of their definition, and remove them',
    )
    .argument('<environment.yaml...>', 'the definitions of one worker')
    .option('--apply', 'remove them; without it nothing is changed')
    .option('--json', 'for programs')
    .option('--state <dir>', 'state folder of the worker: what its roots are set up with stays')
    .action(prune);
}

async function prune(files: readonly string[], flags: PruneFlags): Promise<void> {
  const { apply = false, json = false, state = defaultStateFolder() } = flags;
  const { DefinitionError, loadDefinitions, PreparationError, pruneSnapshots, SnapshotRefusal } =
    await import('@codelanes/worker');
  try {
    const reports = await pruneSnapshots(loadDefinitions(files), { stateDir: state, apply });
    console.log(json ? JSON.stringify(reports, null, 2) : storesText(reports, apply));
  } catch (error) {
    const isRefusal = [DefinitionError, PreparationError, SnapshotRefusal].some(
      (kind) => error instanceof kind,
    );
    if (!isRefusal || !(error instanceof Error)) throw error;
    throw new CliError(error.message, 'Mend that and run it again.', { cause: error });
  }
}

import type { Command } from 'commander';
import { examine } from '../doctor/examination.js';
import { examinationText } from '../doctor/examination-text.js';
import { exitStatus } from '../errors/cli-error.js';

interface DoctorFlags {
  readonly json?: boolean;
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check definitions and this machine, and show what each repository would get')
    .argument('<environment.yaml...>', 'the definitions of one worker')
    .option('--json', 'for programs')
    .action(runDoctor);
}

async function runDoctor(files: readonly string[], flags: DoctorFlags): Promise<void> {
  const examination = await examine(files);
  console.log(flags.json === true ? JSON.stringify(examination, null, 2) : examinationText(examination));
  if (!examination.ok) process.exitCode = exitStatus.failed;
}

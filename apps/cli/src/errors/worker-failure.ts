import { CliError } from './cli-error.js';

/** A worker that ended: its own refusals say in one message what is wrong, and mostly what to do. */
export async function workerFailure(error: unknown, workerId: string): Promise<unknown> {
  const { DefinitionError, KeyFileError, OptionsError, PreparationError, RootError, WorkerRefused } =
    await import('@codelanes/worker');
  const isRefusal = [
    DefinitionError,
    KeyFileError,
    OptionsError,
    PreparationError,
    RootError,
    WorkerRefused,
  ].some((kind) => error instanceof kind);
  if (!isRefusal || !(error instanceof Error)) return error;
  const isStranger = error instanceof WorkerRefused && error.code === 'UNAUTHENTICATED';
  const next = isStranger
    ? `Name the file of its token for workers with --token-file, or pair this machine, anew where it was sent away: "codelanes bridge pairing create ${workerId}" at the bridge, then "codelanes pair" here.`
    : 'The worker serves nothing; mend that and start it again.';
  return new CliError(error.message, next, { cause: error });
}

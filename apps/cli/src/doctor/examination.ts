import type { EnvironmentReport, Finding, LoadedDefinition } from '@codelanes/worker';

/** A thing that is wrong with a definition; `line` and `column` count from 1. */
export interface ExaminedFault {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly key?: string | undefined;
  readonly sentence: string;
}

/** An environment whose definition is right, with what was found of its storage and of keys that are not used yet. */
export interface ExaminedEnvironment extends EnvironmentReport {
  readonly findings: readonly Finding[];
}

/** What `codelanes doctor` found. */
export interface Examination {
  /** Nothing is wrong and nothing that was asked for will fail. */
  readonly ok: boolean;
  readonly faults: readonly ExaminedFault[];
  readonly environments: readonly ExaminedEnvironment[];
  readonly machine: readonly Finding[];
}

/** Looks at the definitions of one worker, and at this machine whatever the definitions are like. */
export async function examine(files: readonly string[]): Promise<Examination> {
  const { examineEnvironment, examineKeys, examineMachine, examineStorage } = await workerPackage();
  const { definitions, faults } = await load(files);
  const environments = definitions.map((definition) => ({
    ...examineEnvironment(definition),
    findings: [...examineStorage(definition), ...examineKeys(definition)],
  }));
  const machine = await examineMachine();
  const findings = [...machine, ...environments.flatMap((environment) => environment.findings)];
  const ok = faults.length === 0 && findings.every(({ verdict }) => verdict !== 'failed');
  return { ok, faults, environments, machine };
}

interface Loaded {
  readonly definitions: readonly LoadedDefinition[];
  readonly faults: readonly ExaminedFault[];
}

async function load(files: readonly string[]): Promise<Loaded> {
  const { DefinitionError, loadDefinitions } = await workerPackage();
  try {
    return { definitions: loadDefinitions(files), faults: [] };
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const faults = error.faults.map(({ file, position, key, sentence }) => ({
      file,
      ...position,
      key,
      sentence,
    }));
    return { definitions: [], faults };
  }
}

/** Only this command and `worker` need it; the others start faster without. */
function workerPackage() {
  return import('@codelanes/worker');
}

import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Programs that write down that they were started, first in a worker's search path, and then do their work. */
export class RecordingPrograms {
  readonly #record: string;
  /** An environment in which these are found before the real ones. */
  readonly environment: NodeJS.ProcessEnv;

  /** `real` has the absolute path of each program that is recorded. */
  constructor(folder: string, real: Readonly<Record<string, string>>) {
    const bin = join(folder, 'recording');
    this.#record = join(folder, 'recorded');
    mkdirSync(bin);
    for (const [name, path] of Object.entries(real)) {
      const file = join(bin, name);
      writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> '${this.#record}'\nexec ${path} "$@"\n`);
      chmodSync(file, 0o755);
    }
    this.environment = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  }

  /** What was started since the last `forget`, in order. */
  started(): string[] {
    try {
      return readFileSync(this.#record, 'utf8').trimEnd().split('\n');
    } catch {
      return [];
    }
  }

  forget(): void {
    rmSync(this.#record, { force: true });
  }
}

import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ScriptFile } from '@codelanes/protocol';
import { removeFolder } from '../sandbox/remove-folder.js';
import { ScriptOutputs } from './script-outputs.js';
import type { ScriptPrograms } from './script-programs.js';
import { toolFunctions } from './tool-functions.js';

const run = promisify(execFile);

export interface ScriptParts {
  readonly code: string;
  readonly tools: readonly { readonly name: string }[];
  readonly files: readonly ScriptFile[];
}

/** The private folder of one script on the host; its parts are shown to its sandbox and to no other. */
export class ScriptFolder {
  /** Shown read-only. */
  readonly own: string;
  readonly calls: string;
  readonly data: string;
  /** What the script made of its data folder. */
  readonly outputs: ScriptOutputs;
  readonly #path: string;

  private constructor(path: string, outputs: ScriptOutputs) {
    this.#path = path;
    this.own = join(path, 'own');
    this.calls = join(path, 'calls');
    this.data = join(path, 'data');
    this.outputs = outputs;
  }

  /** Where the worker finds the pipe of requests. */
  get requests(): string {
    return join(this.own, 'requests');
  }

  /** Where it tells that an answer has come. */
  get news(): string {
    return join(this.own, 'news');
  }

  get results(): string {
    return join(this.own, 'results');
  }

  /** Makes the folder of a call beneath `parent`, which only the worker may enter. */
  static async make(
    parent: string,
    callId: string,
    parts: ScriptParts,
    programs: ScriptPrograms,
  ): Promise<ScriptFolder> {
    const path = join(parent, callId);
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await mkdir(path, { mode: 0o700 });
    try {
      const data = join(path, 'data');
      await Promise.all([
        makeOwn(join(path, 'own'), parts, programs),
        mkdir(join(path, 'calls'), { mode: 0o700 }),
        putFiles(data, parts.files),
      ]);
      return new ScriptFolder(path, ScriptOutputs.from(data));
    } catch (error) {
      await rm(path, { recursive: true, force: true });
      throw error;
    }
  }

  /** When nothing of the script runs any more. */
  async remove(): Promise<void> {
    await removeFolder(this.#path);
  }
}

/** Removes the folders that scripts of an earlier worker left, when nothing of them runs any more. */
export async function removeScriptFolders(parent: string): Promise<void> {
  await removeFolder(parent);
}

async function makeOwn(path: string, { code, tools }: ScriptParts, programs: ScriptPrograms): Promise<void> {
  await mkdir(join(path, 'results'), { recursive: true, mode: 0o700 });
  await Promise.all([
    writeFile(join(path, 'main.sh'), code.endsWith('\n') ? code : `${code}\n`),
    writeFile(join(path, 'functions.sh'), toolFunctions(tools, programs)),
    run(programs.mkfifo, ['-m', '600', join(path, 'requests'), join(path, 'news')]),
  ]);
}

async function putFiles(data: string, files: readonly ScriptFile[]): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  for (const { name, content } of files) {
    const path = join(data, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, Buffer.from(content, 'base64'), { flag: 'wx' });
  }
}

import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptFile, ToolCall, ToolResult } from '@codelanes/protocol';
import type { StartRecord } from '../../commands/lane-care.js';
import { LaneFixture } from '../../commands/testing/lane-fixture.js';
import type { LaneFacts } from '../../sandbox/lane-facts.js';
import { descendantsOf } from '../../sandbox/process-tree.js';
import { LaneScript, type ScriptStep } from '../lane-script.js';
import { findScriptPrograms, type ScriptPrograms } from '../script-programs.js';

export interface FixtureScript {
  readonly tools?: readonly string[];
  readonly files?: readonly ScriptFile[];
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
  readonly reservePause?: () => string | undefined;
  /** The whole checkout, instead of the worktree `a`. */
  readonly atCheckout?: boolean;
}

/** What an ended script came to. */
export type Ended = Extract<ScriptStep, { kind: 'ended' }>;

/** One script in a lane of a fixture's repository, as a worker would hold it. */
export class ScriptUnderTest {
  readonly script: LaneScript;
  readonly records: StartRecord[] = [];
  readonly #lane: LaneFacts & { close: () => void };
  readonly #options: FixtureScript;

  constructor(script: LaneScript, lane: LaneFacts & { close: () => void }, options: FixtureScript) {
    this.script = script;
    this.#lane = lane;
    this.#options = options;
  }

  start(): Promise<ScriptStep> {
    return this.script.start(this.#stretch());
  }

  resume(results: readonly ToolResult[]): Promise<ScriptStep> {
    return this.script.resume(this.#stretch(), results);
  }

  /** Runs to the end, with every tool answered as told; also tells which calls came together. */
  async runOn(
    step: ScriptStep,
    answer: (call: ToolCall) => unknown,
  ): Promise<{ ended: Ended; pauses: (readonly ToolCall[])[] }> {
    const pauses: (readonly ToolCall[])[] = [];
    let now = step;
    while (now.kind === 'paused') {
      pauses.push(now.toolCalls);
      now = await this.resume(now.toolCalls.map((call) => ({ callId: call.id, result: answer(call) })));
    }
    return { ended: now, pauses };
  }

  /**
   * Holds this whole process up until so many of the script's processes have each called a tool and look for its
   * answer, so that none of these calls is heard before all have been made.
   */
  blockUntilWaiting(count: number): void {
    const [record] = this.records;
    if (record === undefined) throw new Error('The script has not started.');
    while (descendantsOf(record.init.pid).filter(looksForAnswer).length < count) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }

  close(): void {
    this.#lane.close();
  }

  #stretch() {
    return {
      lane: this.#lane,
      home: { lane: 'a', tree: '' },
      verifyAgain: () => undefined,
      journalStart: (record: StartRecord) => {
        this.records.push(record);
        return Promise.resolve();
      },
      signal: this.#options.signal,
      reservePause: this.#options.reservePause ?? (() => undefined),
    };
  }
}

/** Whether a process holds the pipe of news, which a function opens once it has asked for its tool. */
function looksForAnswer(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/fd/9`).endsWith('/news');
  } catch {
    return false;
  }
}

/** A repository with two worktrees in which scripts are run. */
export class ScriptFixture {
  readonly lanes = new LaneFixture(['a', 'b']);
  readonly scripts: string;
  readonly #programs: ScriptPrograms;
  readonly #open: ScriptUnderTest[] = [];
  #count = 0;

  private constructor(programs: ScriptPrograms) {
    this.#programs = programs;
    this.scripts = join(this.lanes.state, 'scripts');
  }

  static async make(): Promise<ScriptFixture> {
    const machine = { shell: '/bin/bash', searchPath: ['/usr/bin', '/bin'] };
    const programs = await findScriptPrograms(machine, (reason) => {
      throw new Error(reason);
    });
    if (programs === undefined) throw new Error('This machine runs no scripts.');
    return new ScriptFixture(programs);
  }

  async prepare(code: string, options: FixtureScript = {}): Promise<ScriptUnderTest> {
    const { lanes } = this;
    const { tools = ['look-up', 'boom'], files = [], timeoutMs = 50_000, maxOutputBytes = 100_000 } = options;
    this.#count += 1;
    const script = await LaneScript.prepare({
      callId: String(this.#count).padStart(32, '0'),
      folder: this.scripts,
      programs: this.#programs,
      machine: lanes.machine,
      shared: lanes.shared,
      code,
      tools: tools.map((name) => ({ name })),
      files,
      timeoutMs,
      maxOutputBytes,
      graceMs: 50,
      journalId: lanes.journalId,
    });
    const lane = options.atCheckout === true ? lanes.openCheckout() : lanes.openWorktree('a');
    const under = new ScriptUnderTest(script, lane, options);
    this.#open.push(under);
    return under;
  }

  /** Runs a script to its end; tools answer with what they were given. */
  async run(code: string, options: FixtureScript = {}, answer = (call: ToolCall): unknown => call.input) {
    const under = await this.prepare(code, options);
    return under.runOn(await under.start(), answer);
  }

  remove(): void {
    for (const under of this.#open) under.close();
    this.lanes.remove();
  }
}

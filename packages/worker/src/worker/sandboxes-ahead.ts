import { fieldsOfLane, laneKey, lanesOverlap, type Assignment, type Lane } from '@codelanes/protocol';
import { openWall, type BuiltAhead } from '../commands/run-in-lane.js';
import { GatedSandbox } from '../sandbox/gated-sandbox.js';
import { openLane, type OpenedLane } from './opened-lane.js';
import type { CommandSetting } from './run-command.js';
import { homeOwner, type ServedRoot } from './served-root.js';
import { treeOf } from './served-tree.js';
import type { CommandSettings } from './wall.js';

/** How long a sandbox waits for its command by default, in milliseconds: some times the way to a busy bridge and back. */
const usuallyKeptMs = 500;

/** A lane that verified when its last command had ended, held open, and a sandbox in it that waits at its gate. */
export interface LaneAhead extends BuiltAhead {
  readonly opened: OpenedLane;
  /** Ends the sandbox, where nothing was run in it, and closes the lane. */
  close(): Promise<void>;
}

/**
 * Sandboxes that are built while the bridge is told of a command's end and hands out the next one of that lane. Only
 * in worktrees in which a command is said to wait, and only when the one before it has left nothing that runs; no call
 * that conflicts with the lane is let in while its sandbox stands there. A command that gets one is held to all that
 * any other is: its lane is verified again, and its start is on disk, before the gate opens.
 */
export class SandboxesAhead {
  readonly #commands: CommandSettings | undefined;
  readonly #keptMs: number;
  /** Commands that are said to wait, by lane. */
  readonly #expected = new Map<string, number>();
  readonly #standing = new Map<
    string,
    { readonly lane: Lane; readonly ahead: LaneAhead; readonly end: NodeJS.Timeout }
  >();
  /** Those that are being ended. */
  readonly #ending = new Set<Promise<void>>();

  /**
   * @param commands `undefined` on a machine that cannot wall.
   * @param keptMs How long a sandbox waits for its command, in milliseconds.
   */
  constructor(commands: CommandSettings | undefined, keptMs = usuallyKeptMs) {
    this.#commands = commands;
    this.#keptMs = keptMs;
  }

  /** One more command waits for a lane in which one runs. Merely a hint: nothing is relied on. */
  expect(lane: Lane): void {
    const key = laneKey(lane);
    this.#expected.set(key, (this.#expected.get(key) ?? 0) + 1);
  }

  /** A command of that lane has ended and left nothing that runs. */
  build(root: ServedRoot, lane: Lane): void {
    const key = laneKey(lane);
    if (this.#commands === undefined || !this.#expected.has(key) || this.#standing.has(key)) return;
    if (fieldsOfLane(lane).worktree === undefined) return;
    const setting = this.#commands(root, treeOf(root, lane));
    // Without a process that stands by, starting one would hold up what is to be done next.
    if (setting.network.kind !== 'none' || (setting.standby?.ready ?? 0) === 0) return;
    const ahead = buildAhead(root, lane, setting);
    if (ahead === undefined) return;
    const end = setTimeout(() => {
      this.#expected.delete(key);
      this.#drop(key);
    }, this.#keptMs);
    this.#standing.set(key, { lane, ahead, end });
  }

  /**
   * A call is let into its lane. A command gets the sandbox that stands there, which is its to close; whatever else
   * stands in a lane that overlaps is ended, unless the call merely reads.
   */
  admit({ lane, mode, pool, request }: Assignment): LaneAhead | undefined {
    const isMereRead = mode === 'shared' && pool !== 'command';
    if (isMereRead) return undefined;
    const own = request.operation === 'execute_command' ? this.#takeExpected(laneKey(lane)) : undefined;
    for (const [each, standing] of this.#standing) if (lanesOverlap(standing.lane, lane)) this.#drop(each);
    return own;
  }

  /** Ends all that stands; resolves when nothing of it is left. */
  async close(): Promise<void> {
    for (const key of this.#standing.keys()) this.#drop(key);
    await Promise.all(this.#ending);
  }

  #takeExpected(key: string): LaneAhead | undefined {
    const left = (this.#expected.get(key) ?? 0) - 1;
    if (left > 0) this.#expected.set(key, left);
    else this.#expected.delete(key);
    return this.#take(key);
  }

  #take(key: string): LaneAhead | undefined {
    const standing = this.#standing.get(key);
    clearTimeout(standing?.end);
    this.#standing.delete(key);
    return standing?.ahead;
  }

  #drop(key: string): void {
    const dropped = this.#take(key);
    if (dropped === undefined) return;
    // Nothing ran in it, and whatever kept it from ending in order, it leaves with its gate.
    const ending = dropped
      .close()
      .catch(() => undefined)
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** Undefined where the lane does not verify or cannot be walled: its next command meets the same, and is told. */
function buildAhead(root: ServedRoot, lane: Lane, setting: CommandSetting): LaneAhead | undefined {
  const opening: { close(): void }[] = [];
  try {
    const opened = openLane(root, lane);
    opening.push(opened);
    const sandbox = openWall({ ...setting, lane: opened.facts, home: homeOwner(root, lane, opened) });
    opening.push(sandbox);
    const { machine, standby } = setting;
    const journalId = root.journal.id;
    const gated = new GatedSandbox({ ...sandbox, shell: machine.shell, journalId, standby });
    const close = async () => {
      try {
        await gated.abandon();
      } finally {
        sandbox.close();
        opened.close();
      }
    };
    return { opened, sandbox, gated, close };
  } catch {
    for (const each of opening.reverse()) each.close();
    return undefined;
  }
}

import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { laneKey } from '@codelanes/protocol';
import type { Logger } from 'pino';
import { endsWithin } from '../clock/ends-within.js';
import { connect, type Connection } from '../connection/connection.js';
import type { FromConnection } from '../connection/messages.js';
import { combinedJournalId } from '../lanes/journal.js';
import { findPerl } from '../network/listener-program.js';
import type { NetworkProcess } from '../network/network-process.js';
import type { ScriptPrograms } from '../programmatic/script-programs.js';
import { closeInheritedDescriptors } from '../sandbox/inherited-descriptors.js';
import { defaultLimits } from '../sandbox/policy.js';
import { limitProcesses } from '../sandbox/process-limit.js';
import { Standby } from '../sandbox/standby.js';
import { findProgram } from '../files/find-program.js';
import { CallDesk } from './call-desk.js';
import { closedLanes } from './closed-lanes.js';
import { deferred } from './deferred.js';
import { warnOfMissingLanes } from './missing-lanes.js';
import { capabilitiesOf } from './offer.js';
import type { CompiledOptions } from './options.js';
import { settleOwedAudit } from './owed-audit.js';
import { preparedRoots } from './prepared-roots.js';
import { recoverRoot } from './recovery.js';
import { watchReleases } from './releases.js';
import { takeRoot, type ServedRoot } from './served-root.js';
import { clearStaleLock } from './stale-lock.js';
import { prepareScripts, prepareWall, type Wall } from './wall.js';
import { WorkerRefused } from './worker-refused.js';
import { WorkerStopped } from './worker-stopped.js';

/** Room for the worker's own threads, file tools and sandboxes, beside what its commands may start. */
const ownProcesses = 1024;
/** So many sandboxes are started ahead; with more, those that come at once would still take turns. */
const standingBy = 3;

/** A closed set; a worker goes through it from left to right and may skip to `failed`. */
export type WorkerState = 'connecting' | 'serving' | 'draining' | 'stopped' | 'failed';

/** A worker whose roots are taken and in order, from its first attempt to register to its end. */
export class Serving {
  readonly #options: CompiledOptions;
  readonly #log: Logger;
  readonly #roots: readonly ServedRoot[];
  readonly #offered: readonly ServedRoot[];
  readonly #connection: Connection;
  readonly #networkHost: NetworkProcess;
  readonly #standby: Standby;
  readonly #desk: CallDesk;
  readonly #watches: (() => void)[];
  readonly #registered = deferred();
  readonly #ended = deferred();
  readonly #said = deferred();
  #state: WorkerState = 'connecting';
  #reachable = true;
  #stopping: Promise<void> | undefined;

  private constructor(
    options: CompiledOptions,
    log: Logger,
    roots: readonly ServedRoot[],
    offered: readonly ServedRoot[],
    journalId: string,
    { commands, whyNot }: Wall,
    programs: ScriptPrograms | undefined,
    networkHost: NetworkProcess,
    standby: Standby,
  ) {
    this.#options = options;
    this.#networkHost = networkHost;
    this.#standby = standby;
    this.#log = log;
    this.#roots = roots;
    this.#offered = offered;
    this.#connection = connect(
      {
        ...options,
        incarnationId: randomBytes(16).toString('hex'),
        journalId,
        capabilities: capabilitiesOf(offered, commands !== undefined, {
          scripts: programs !== undefined,
          whyNoCommands: whyNot,
        }),
      },
      (message) => {
        this.#hear(message);
      },
      (error) => {
        this.#fail(error);
      },
    );
    const ripgrep = findProgram('rg', process.env['PATH'] ?? '');
    const { slots } = options;
    this.#desk = new CallDesk({
      roots: offered,
      journals: roots.map(({ journal }) => journal),
      slots,
      connection: this.#connection,
      log,
      commands,
      scripts: { programs },
      onFailedSetups: () => {
        this.#tellClosed();
      },
      ripgrep,
    });
    for (const root of roots) {
      root.quarantine.onChange(() => {
        this.#tellClosed();
      });
    }
    this.#tellClosed();
    try {
      this.#watches = [
        ...roots.map((root) => this.#watchQuarantine(root)),
        ...roots.map((root) => this.#watchReleases(root)),
        this.#desk.watchSetups(),
      ];
    } catch (error) {
      // Else its thread would be offered calls that nobody takes.
      void this.#connection.terminate();
      throw error;
    }
  }

  /**
   * Takes the roots, ends what an earlier worker left there, tests the sandbox, runs the setups of roots that have one,
   * and begins to connect. An aborted `signal` ends a setup that runs.
   */
  static async open(
    options: CompiledOptions,
    log: Logger,
    networkHost: NetworkProcess,
    signal: AbortSignal,
  ): Promise<Serving> {
    closeInheritedDescriptors();
    limitProcesses(process.pid, ownProcesses + options.slots * defaultLimits.processes);
    mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
    const roots: ServedRoot[] = [];
    const standby = new Standby(findPerl(), standingBy);
    try {
      for (const root of options.roots) roots.push(await takeRoot(root, options.stateDir));
      for (const root of roots) {
        await recoverRoot(root, options.goneWithinMs, log);
        warnOfMissingLanes(root, options, log);
      }
      const journalId = combinedJournalId(roots.map(({ journal }) => journal.id));
      const wall = await prepareWall(options, networkHost, standby, log);
      const { commands } = wall;
      for (const root of roots) {
        for (const tree of [root, ...root.repositories]) {
          if (root.quarantine.blocks(tree.lane) === undefined) {
            await settleOwedAudit({ root, commands, log }, tree);
          }
        }
      }
      const offered = await preparedRoots(roots, { commands, log, atOnce: options.slots, signal });
      const programs = commands === undefined ? undefined : await prepareScripts(options, log);
      return new Serving(options, log, roots, offered, journalId, wall, programs, networkHost, standby);
    } catch (error) {
      standby.close();
      for (const root of roots) await root.close();
      throw error;
    }
  }

  get state(): WorkerState {
    return this.#state;
  }

  get registered(): Promise<void> {
    return this.#registered.promise;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Takes nothing new, lets running calls end for the grace, stops them, and waits for their end once more. */
  stop(): Promise<void> {
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  async #drain(): Promise<void> {
    if (this.#state === 'failed') return;
    this.#state = 'draining';
    this.#connection.send({ kind: 'drain' });
    const { shutdownGraceMs, shutdownForceMs } = this.#options;
    const drained = this.#desk.drain();
    if (!(await endsWithin(drained, shutdownGraceMs))) {
      this.#desk.stopAll();
      await endsWithin(drained, shutdownForceMs);
    }
    this.#connection.send({ kind: 'close' });
    await endsWithin(this.#said.promise, shutdownForceMs);
    await this.#close();
    this.#state = 'stopped';
    this.#registered.reject(new WorkerStopped());
    this.#ended.resolve();
  }

  #hear(message: FromConnection): void {
    switch (message.kind) {
      case 'registered':
        if (this.#state === 'connecting') this.#state = 'serving';
        this.#reachable = true;
        this.#log.info({ slots: message.slots }, 'registered');
        for (const callId of message.unresolved) void this.#desk.resolve(callId);
        this.#desk.announceSetups();
        this.#registered.resolve();
        return;
      case 'assignment':
        this.#desk.take(message.assignment);
        return;
      case 'expected':
        this.#desk.expect(message.lane);
        return;
      case 'cancel':
      case 'lost':
        this.#desk.stop(message.callId);
        return;
      case 'unreachable':
        this.#noteOutage(`The bridge cannot be reached; trying on: ${message.message}`);
        return;
      case 'put_off':
        this.#noteOutage(`The bridge does not take this worker yet; trying on: ${message.message}`);
        return;
      case 'refused':
        this.#fail(new WorkerRefused(message.code, message.message));
        return;
      case 'closed':
        this.#said.resolve();
    }
  }

  /** Said once per outage: the attempts go on until one succeeds. A worker that ends looks for no bridge any more. */
  #noteOutage(sentence: string): void {
    if (this.#reachable && this.#state !== 'draining') this.#log.warn(sentence);
    this.#reachable = false;
  }

  #fail(error: Error): void {
    if (this.#state === 'failed' || this.#state === 'stopped') return;
    this.#state = 'failed';
    this.#registered.reject(error);
    this.#desk.stopAll();
    void endsWithin(this.#desk.drain(), this.#options.shutdownForceMs)
      .then(() => this.#close())
      .finally(() => {
        this.#said.resolve();
        this.#ended.reject(error);
      });
  }

  async #close(): Promise<void> {
    for (const stopWatching of this.#watches) stopWatching();
    await this.#connection.terminate();
    this.#standby.close();
    await this.#networkHost.stop();
    for (const root of this.#roots) await root.close();
  }

  #watchQuarantine(root: ServedRoot): () => void {
    return root.quarantine.watch(this.#options.quarantineCheckMs, {
      tidy: (lane) => {
        clearStaleLock(root, lane);
      },
      onHealed: (healed) => {
        this.#log.info({ lanes: healed.map(({ lane }) => laneKey(lane)) }, 'lanes healed');
        this.#desk.freed();
      },
      onError: (error) => {
        this.#log.error({ err: error }, 'a quarantine could not be looked at');
      },
    });
  }

  /** The connection repeats it to every bridge that the worker registers with. */
  #tellClosed(): void {
    const [roots, offered] = [this.#roots, this.#offered];
    const closed = closedLanes({ roots, offered, failedSetups: this.#desk.failedSetups });
    this.#connection.send({ kind: 'closed_lanes', closed });
  }

  #watchReleases(root: ServedRoot): () => void {
    const onError = (error: unknown) => {
      this.#log.error({ err: error }, 'a lane could not be released');
    };
    return watchReleases(root.stateDir, {
      take: (key) => {
        this.#release(root, key).catch(onError);
      },
      onError,
    });
  }

  async #release(root: ServedRoot, key: string): Promise<void> {
    if (await root.quarantine.release(key)) this.#log.warn({ lane: key }, 'lane released by the operator');
    this.#desk.freed();
  }
}

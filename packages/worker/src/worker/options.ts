import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  isLoopbackUrl,
  laneRoutingSchema,
  limits,
  repositoryPathSchema,
  sha256Schema,
  workerIdSchema,
  workspaceIdSchema,
} from '@codelanes/protocol';
import { z } from 'zod';
import type { AccessChoice } from '../connection/access.js';
import { defaultConnectionClocks } from '../connection/messages.js';
import { liesIn } from '../files/lies-in.js';
import { loadedNetworkPolicySchema } from '../environment/network-policy.js';
import { actionsSchema } from '../environment/action.js';
import { compileRoots, type Root } from '../environment/roots.js';
import { readWorkerKey } from '../pairing/worker-key.js';
import { environmentSetupSchema, repositorySetupSchema } from '../environment/setup.js';
import { resourceSchema, storageSchema, type Resource } from '../environment/storage.js';

const milliseconds = z.int().min(1);

const fileIdentitySchema = z.strictObject({ dev: z.bigint(), ino: z.bigint() });

/** What callers are told of a loaded definition, and its actions. */
const definitionOptionsSchema = z.strictObject({
  fingerprint: sha256Schema,
  repo: z.string().optional(),
  ref: z.string().optional(),
  actions: actionsSchema.readonly(),
});

/** A repository as a loaded definition has it. */
const repositoryOptionsSchema = z.strictObject({
  path: repositoryPathSchema,
  workspaceId: workspaceIdSchema,
  checkout: z.string().min(1),
  identity: fileIdentitySchema,
  gitIdentity: fileIdentitySchema,
  slots: z.int().min(1).max(limits.slots).optional(),
  network: loadedNetworkPolicySchema.optional(),
  definition: definitionOptionsSchema.optional(),
  setup: repositorySetupSchema.optional(),
});

/** What the caller of `startWorker` gives; everything but where to connect and what to serve has a default. */
export const workerOptionsSchema = z.strictObject({
  bridgeUrl: z.url({ protocol: /^https?$/, error: 'expected the http(s) address of a bridge' }),
  /** The bridge's token for workers; either this or the file of a key. */
  token: z.string().min(1, 'expected the token of the bridge for workers').optional(),
  /** The key of a paired worker, as `pairWorker` kept it. */
  keyFile: z.string().optional(),
  /** By which the certificate of the bridge is known, as PEM; left out, as it was kept with the key. */
  authority: z.string().optional(),
  workerId: workerIdSchema,
  roots: z
    .array(
      z.strictObject({
        id: z.string(),
        root: z.string().min(1),
        linkedWorktreeLanes: z.boolean().default(false),
        laneRouting: laneRoutingSchema.optional(),
        read: z.array(z.string()).readonly().default([]),
        /** What its commands may reach, as a loaded definition has it. */
        network: loadedNetworkPolicySchema.optional(),
        repositories: z.array(repositoryOptionsSchema).readonly().default([]),
        definition: definitionOptionsSchema.optional(),
        setup: environmentSetupSchema.optional(),
        resources: z.array(resourceSchema).readonly().default([]),
        storage: storageSchema.optional(),
      }),
    )
    .min(1, 'expected at least one root'),
  /** Commands that may run at once. */
  slots: z.int().min(1).max(limits.slots).default(4),
  /** Where journals, locks, quarantines and the lanes' homes are kept; never visible to a call. */
  stateDir: z.string().optional(),
  /** The operator's home, whose known tool chains lanes may read. */
  home: z.string().default(homedir()),
  allowRoot: z.boolean().default(false),
  takeOver: z.boolean().default(false),
  /** Plain http to another machine: the token and the work travel in the clear. */
  insecureHttp: z.boolean().default(false),
  /** How long running calls may go on after `stop`, and how long their end may then take. */
  shutdownGraceMs: milliseconds.default(20_000),
  shutdownForceMs: milliseconds.default(10_000),
  /** Between the polite signal to a command's processes and the end of its sandbox. */
  killGraceMs: z.int().min(0).default(2_000),
  /** How long what was killed may take to be gone before its lane is quarantined. */
  goneWithinMs: milliseconds.default(10_000),
  /** How often a quarantined lane is looked at again. */
  quarantineCheckMs: milliseconds.default(1_000),
  clocks: z
    .strictObject({
      pollWaitMs: milliseconds.optional(),
      leaseMarginMs: milliseconds.optional(),
      requestMs: milliseconds.optional(),
      retryMinMs: milliseconds.optional(),
      retryMaxMs: milliseconds.optional(),
    })
    .default({}),
});
export type WorkerOptions = z.input<typeof workerOptionsSchema>;

/** Options that cannot be used; the message says which, why, and what to do. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
}

/** The options as the worker uses them: complete, and their roots resolved. */
export type CompiledOptions = ReturnType<typeof compileOptions>;

/**
 * @throws {OptionsError} naming the option and the expected form.
 * @throws {RootError} for a root that cannot be served.
 * @throws {KeyFileError} for a key that cannot be used.
 */
export function compileOptions(options: WorkerOptions) {
  const parsed = workerOptionsSchema.safeParse(options);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new OptionsError(`${issue?.path.join('.') ?? 'options'}: ${issue?.message ?? 'not valid'}.`);
  }
  const compiled = parsed.data;
  if (process.getuid?.() === 0 && !compiled.allowRoot) {
    throw new OptionsError(
      'The worker runs as root. Start it as the owner of the repositories, or add --allow-root.',
    );
  }
  refusePlainHttp(new URL(compiled.bridgeUrl), compiled.insecureHttp);
  const { access, authority } = accessOf(compiled);
  const stateDir = resolve(compiled.stateDir ?? defaultStateDir(compiled.home));
  const roots = compileRoots(compiled.roots);
  for (const { root } of roots) refuseExposed(root, compiled.home, stateDir);
  for (const { resources = [] } of roots) {
    for (const resource of resources)
      refuseShownTwice(resource, [...roots.map(({ root }) => root), stateDir]);
  }
  refuseStores(roots, stateDir);
  return {
    ...compiled,
    access,
    authority,
    stateDir,
    roots,
    clocks: {
      pollWaitMs: compiled.clocks.pollWaitMs ?? defaultConnectionClocks.pollWaitMs,
      leaseMarginMs: compiled.clocks.leaseMarginMs ?? defaultConnectionClocks.leaseMarginMs,
      requestMs: compiled.clocks.requestMs ?? defaultConnectionClocks.requestMs,
      retryMinMs: compiled.clocks.retryMinMs ?? defaultConnectionClocks.retryMinMs,
      retryMaxMs: compiled.clocks.retryMaxMs ?? defaultConnectionClocks.retryMaxMs,
    },
  };
}

/** A key is for one worker at one bridge: elsewhere it would be shown to whoever listens there. */
function accessOf({ token, keyFile, bridgeUrl, workerId, authority }: z.output<typeof workerOptionsSchema>): {
  readonly access: AccessChoice;
  readonly authority: string | undefined;
} {
  if (keyFile === undefined) {
    if (token !== undefined) return { access: { token }, authority };
    throw new OptionsError('token: expected the token of the bridge for workers, or a keyFile.');
  }
  if (token !== undefined) throw new OptionsError('keyFile: a worker has a key or a token, not both.');
  const key = readWorkerKey(keyFile);
  if (key.workerId !== workerId) {
    throw new OptionsError(`keyFile: the key is of the worker "${key.workerId}", not of "${workerId}".`);
  }
  if (key.bridgeUrl !== bridgeUrl.replace(/\/+$/, '')) {
    throw new OptionsError(`keyFile: the key is for the bridge ${key.bridgeUrl}, not for ${bridgeUrl}.`);
  }
  return { access: { keyFile }, authority: authority ?? key.authority };
}

function defaultStateDir(home: string): string {
  return join(process.env['XDG_STATE_HOME'] ?? join(home, '.local/state'), 'codelanes');
}

function refusePlainHttp(url: URL, allowed: boolean): void {
  if (url.protocol === 'https:' || isLoopbackUrl(url) || allowed) return;
  throw new OptionsError(
    `${url.origin} is plain http to another machine. Use https, or add --insecure-http to send the token in the clear.`,
  );
}

/** A root that holds the operator's home or the worker's state would hand both to the agents. */
function refuseExposed(root: string, home: string, stateDir: string): void {
  if (liesIn(home, root)) {
    throw new OptionsError(`The root "${root}" holds your home folder: serve the folder of one repository.`);
  }
  if (liesIn(stateDir, root)) {
    throw new OptionsError(
      `The state folder "${stateDir}" lies in the root "${root}": move it with --state.`,
    );
  }
}

/** A store that commands can write would bring what they plant there into every root that it serves. */
function refuseStores(roots: readonly Root[], stateDir: string): void {
  const caches = roots.flatMap(({ resources = [] }) => resources.map(({ path }) => path));
  const places = [...roots.map(({ root }) => root), ...caches.map(canonical), stateDir];
  for (const { setup } of roots) {
    const store = setup?.reuse?.snapshot?.store;
    if (store === undefined) continue;
    const path = canonical(store);
    const over = places.find((place) => liesIn(path, place) || liesIn(place, path));
    if (over === undefined) continue;
    throw new OptionsError(
      `The store of snapshots "${path}" and "${over}" overlap: keep it apart from roots, caches and the worker's state.`,
    );
  }
}

function canonical(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** A cache in a root would be written past its lane; one with the worker's state in it would hand that out. */
function refuseShownTwice({ kind, path: named }: Resource, places: readonly string[]): void {
  const path = canonical(named);
  const over = places.find((place) => liesIn(path, place) || liesIn(place, path));
  if (over === undefined) return;
  throw new OptionsError(
    `The ${kind} "${path}" and "${over}" overlap: keep it apart from roots and from the worker's state.`,
  );
}

import { clientGenerationSchema, isLoopbackHost, isLoopbackUrl, limits } from '@codelanes/protocol';
import { z } from 'zod';
import type { RateTerms } from '../auth/rate-limit.js';
import type { TokenSet } from '../auth/static-tokens.js';
import type { LaneRouter } from '../dispatch/lane-routing.js';
import type { RouteSettings } from '../routes/context.js';
import type { SchedulerSettings } from '../scheduler/scheduler-settings.js';
import { defaultRedisTimes } from '../scheduler/redis/worker-scripts.js';
import { defaultSchedulerSettings } from '../scheduler/scheduler-settings.js';

const tokenSchema = z
  .string()
  .min(16, 'a token has at least 16 characters')
  .max(512, 'a token has at most 512 characters')
  .regex(/^[\x21-\x7e]+$/, 'a token holds visible ASCII only');

const tokensSchema = z
  .strictObject({
    /** Empty where every caller comes with a token that LibreChat signed. */
    callers: z.array(tokenSchema).max(1000).default([]),
    admin: tokenSchema,
    /** Of workers that serve their own machine only. Left out, every worker has to be paired. */
    worker: tokenSchema.optional(),
  })
  .refine(({ callers, admin, worker = [] }) => {
    const all = [...callers, admin, worker].flat();
    return new Set(all).size === all.length;
  }, 'every token is for one kind of client only: make all of them different');

const milliseconds = z.int().min(1).max(3_600_000);
const file = z.string().min(1);
const url = z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' }).refine(isPrivate, {
  error: 'keys that come in clear text over a network prove nothing: expected an https URL',
});

function isPrivate(text: string): boolean {
  const { protocol } = new URL(text);
  return protocol === 'https:' || isLoopbackUrl(new URL(text));
}

const jwtSchema = z.strictObject({
  /** The public key or keys of LibreChat: PEM, JWK or JWKS, in a file or at a URL. */
  keys: z.union([z.strictObject({ file }), z.strictObject({ url })]),
  /** How often a file is looked at: other keys count from then on. */
  checkEveryMs: milliseconds.default(60_000),
  issuer: z.string().min(1).default('librechat'),
  audience: z.string().min(1).default('codeapi'),
  clockToleranceSeconds: z.int().min(0).max(30).default(30),
  maxLifetimeSeconds: z.int().min(1).max(300).default(300),
});
export type JwtOptions = z.output<typeof jwtSchema>;

const tlsSchema = z.strictObject({
  /** PEM: the certificate, and what stands between it and its authority. */
  cert: file,
  /** PEM: its private key. */
  key: file,
  /** How often both are looked at: what was renewed is served from then on. */
  checkEveryMs: milliseconds.default(60_000),
});
export type TlsFiles = z.output<typeof tlsSchema>;

const pairingSchema = z.strictObject({
  /** With the memory store: where pairings are kept. Left out, they end with the process. */
  file: file.optional(),
  /** Every pairing has to say for whom the worker works. */
  requireBinding: z.boolean().default(false),
});
export type PairingOptions = z.output<typeof pairingSchema>;

const calls = z.int().min(1).max(1_000_000);

const schedulerSchema = z.strictObject({
  leaseTtlMs: milliseconds.default(defaultSchedulerSettings.leaseTtlMs),
  fetchWithinMs: milliseconds.default(defaultSchedulerSettings.fetchWithinMs),
  placeKeptMs: milliseconds.default(defaultSchedulerSettings.placeKeptMs),
  endRememberedMs: milliseconds.default(defaultSchedulerSettings.endRememberedMs),
  queueLength: calls.default(defaultSchedulerSettings.queueLength),
  /** Half of the queue, where it is left out. */
  principalQueueLength: calls.optional(),
});

const redisUrl = z.url({ protocol: /^rediss?$/, error: 'expected redis://HOST:PORT or rediss://HOST:PORT' });

const storeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('memory') }),
  z.strictObject({
    kind: z.literal('redis'),
    /** One Redis, or some nodes of a cluster. */
    url: z.union([redisUrl, z.array(redisUrl).min(1).max(100)]),
    /** What every key begins with: bridges share what they store when they share it. */
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9._:-]{1,64}$/, 'expected 1 to 64 of A-Z a-z 0-9 . _ : -')
      .default('codelanes'),
    /** A bridge that is silent for this long counts as dead, and what it has in the queue leaves it. */
    bridgeSilentMs: milliseconds.default(defaultRedisTimes.bridgeSilentMs),
  }),
]);
export type StoreChoice = z.output<typeof storeSchema>;

const rateLimitSchema = z.union([z.strictObject({ calls, windowMs: milliseconds }), z.literal('off')]);

const bridgeOptionsSchema = z
  .strictObject({
    host: z.string().min(1).default('127.0.0.1'),
    /** 0 takes any free port. */
    port: z.int().min(0).max(65_535).default(4180),
    /** Plain HTTP beyond this machine is an explicit choice; it is not needed with `tls`. */
    allowNonLoopback: z.boolean().default(false),
    tls: tlsSchema.optional(),
    tokens: tokensSchema,
    /** How tokens are verified that LibreChat signs for its users; left out, none is taken. */
    jwt: jwtSchema.optional(),
    pairing: pairingSchema.prefault({}),
    /** What LibreChat may expect behind this base URL; attached environments are `stateful`. */
    profile: z.enum(['stateful', 'default']).default('stateful'),
    /** A request that takes longer to arrive is cut off. */
    requestTimeoutMs: milliseconds.default(60_000),
    /** What clients know that do not say so themselves. */
    clientGeneration: clientGenerationSchema.default('A'),
    /** Most commands that one worker may run at once, whatever it offers. */
    slots: z.int().min(1).max(limits.slots).default(limits.slots),
    /** File tools that one worker may run at once. */
    filePool: z.int().min(1).max(limits.filePool).default(limits.filePool),
    /** Time that running calls have to end when the bridge stops. */
    drainMs: z.int().min(0).max(3_600_000).default(30_000),
    /** Time that a worker has to settle after the execution budget and a lease have both run out. */
    settlementGraceMs: milliseconds.default(10_000),
    scheduler: schedulerSchema.prefault({}),
    /** `memory`: one process, without any service. `redis`: several bridges share it, and any of them may die. */
    store: storeSchema.default({ kind: 'memory' }),
    /** Calls of one principal; more are refused in a form that LibreChat repeats. Each bridge counts for itself. */
    rateLimit: rateLimitSchema.default({ calls: 600, windowMs: 30_000 }),
    /** Who may read `GET /metrics`: whoever has the administrator's token, everybody, or nobody. */
    metrics: z.enum(['admin', 'open', 'off']).default('admin'),
    logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    /** How lanes are found in paths; left out, environments with `laneRouting: by-path` are served without. */
    laneRouter: z.custom<LaneRouter>(isLaneRouter, 'expected toLaneRequest and fromLaneResult').optional(),
  })
  .refine(
    ({ host, allowNonLoopback, tls }) => allowNonLoopback || tls !== undefined || isLoopbackHost(host),
    {
      path: ['host'],
      error:
        'plain HTTP beyond this machine needs allowNonLoopback; better give tls, or let a TLS proxy stand before the bridge',
    },
  )
  .refine(({ tokens, jwt }) => tokens.callers.length > 0 || jwt !== undefined, {
    path: ['tokens', 'callers'],
    error: 'at least one caller needs a token, or LibreChat signs them (jwt)',
  })
  .refine(({ store, pairing }) => store.kind === 'memory' || pairing.file === undefined, {
    path: ['pairing', 'file'],
    error: 'a bridge with a Redis store keeps pairings there, where the other bridges see them',
  });

function isLaneRouter(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ['toLaneRequest', 'fromLaneResult'].every((name) => typeof Reflect.get(value, name) === 'function');
}

/** What an operator says of a bridge; everything but the tokens has a default. */
export type BridgeOptions = z.input<typeof bridgeOptionsSchema>;

/** The options as the bridge uses them. */
export interface CompiledBridgeOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly tls: TlsFiles | undefined;
  readonly requestTimeoutMs: number;
  readonly tokens: TokenSet;
  readonly jwt: JwtOptions | undefined;
  readonly pairing: PairingOptions;
  readonly routes: RouteSettings;
  readonly scheduler: SchedulerSettings;
  readonly store: StoreChoice;
  readonly rateLimit: RateTerms | undefined;
  readonly drainMs: number;
  readonly settlementGraceMs: number;
  readonly logLevel: string;
  readonly laneRouter: LaneRouter | undefined;
}

/** Renewals that fit into one lease, so that several may be lost before it ends. */
const renewalsPerLease = 6;

/** @throws Error that names the first option that is wrong, and what was expected. */
export function compileBridgeOptions(options: BridgeOptions): CompiledBridgeOptions {
  const parsed = bridgeOptionsSchema.safeParse(options);
  if (!parsed.success) throw new Error(optionFault(parsed.error));
  const { host, port, tokens, clientGeneration, slots, filePool, scheduler, ...rest } = parsed.data;
  const { leaseTtlMs, queueLength } = scheduler;
  const principalQueueLength = scheduler.principalQueueLength ?? Math.ceil(queueLength / 2);
  const renewEveryMs = Math.max(1, Math.floor(leaseTtlMs / renewalsPerLease));
  return {
    listen: { host, port },
    tls: rest.tls,
    requestTimeoutMs: rest.requestTimeoutMs,
    tokens,
    jwt: rest.jwt,
    pairing: rest.pairing,
    routes: {
      clientGeneration,
      slots,
      filePool,
      leaseTtlMs,
      renewEveryMs,
      metrics: rest.metrics,
      profile: rest.profile,
      requireBinding: rest.pairing.requireBinding,
    },
    // As long as a worker keeps a script; less would end scripts that could go on.
    scheduler: { ...scheduler, principalQueueLength, pausedMs: limits.pausedScriptMs },
    store: rest.store,
    rateLimit: rest.rateLimit === 'off' ? undefined : rest.rateLimit,
    drainMs: rest.drainMs,
    settlementGraceMs: rest.settlementGraceMs,
    logLevel: rest.logLevel,
    laneRouter: rest.laneRouter,
  };
}

function optionFault(error: z.ZodError): string {
  const issue = error.issues[0];
  const option = issue?.path.join('.') ?? '';
  return `The bridge cannot start: option ${option === '' ? 'object' : option}: ${issue?.message ?? 'invalid'}.`;
}

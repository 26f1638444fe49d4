import { clientGenerationSchema, CodelanesError, limits } from '@codelanes/protocol';
import type { BridgeOptions } from '@codelanes/bridge';
import type { ClientGeneration } from '@codelanes/protocol';
import type { Command } from 'commander';
import { Option } from 'commander';
import { defaultPort } from '../connection/default-port.js';
import { isErrno } from '../connection/private-file.js';
import { defaultStateFolder, ensureStateFolder } from '../connection/state-folder.js';
import { ensureTokens, tokenFiles } from '../connection/tokens.js';
import { CliError } from '../errors/cli-error.js';
import { withFlagNames } from '../errors/flag-names.js';
import { loggerOf } from '../logs/logger.js';
import { refuseClearText, securityOf } from '../options/bridge-security.js';
import type { SecurityFlags } from '../options/bridge-security.js';
import { withLogOptions, type LogFlags } from '../options/log-flags.js';
import { refuseExcessWords } from '../options/excess-words.js';
import { wholeNumber } from '../options/numbers.js';
import { queueBoundsOf, withQueueOptions, type QueueFlags } from '../options/queue-bounds.js';
import { storeChoiceOf } from '../options/store-choice.js';
import type { StoreFlags } from '../options/store-choice.js';
import { announceReady } from '../processes/ready-channel.js';
import { stopRequested } from '../processes/stop-request.js';
import { addBridgePairingCommand } from './bridge-pairing.js';

interface BridgeFlags extends StoreFlags, SecurityFlags, QueueFlags, LogFlags {
  readonly host: string;
  readonly port: number;
  readonly generation: ClientGeneration;
  readonly slots: number;
  readonly state?: string;
  readonly insecureHttp?: boolean;
  readonly pairedOnly?: boolean;
}

export function addBridgeCommand(program: Command): void {
  const bridge = program
    .command('bridge')
    .enablePositionalOptions()
    .description('run a bridge: it queues calls by lane and leases them to workers')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes any free one', wholeNumber(0, 65_535), defaultPort)
    .option('--tls-cert <file>', 'serve https with this certificate and its chain, in PEM')
    .option('--tls-key <file>', 'the private key of that certificate, in PEM')
    .option(
      '--insecure-http',
      'allow plain http beyond this machine; better --tls-cert, or a TLS proxy before it',
    )
    .option(
      '--jwt-keys <file-or-url>',
      'take tokens that LibreChat signs: its public key or keys, PEM, JWK or JWKS',
    )
    .option('--jwt-issuer <text>', 'whom these tokens are of (default: librechat)')
    .option('--jwt-audience <text>', 'whom they are for (default: codeapi)')
    .option('--paired-only', 'let in no worker by the token for workers: each has to be paired')
    .option('--require-binding', 'every pairing has to say for whom the worker works')
    .addOption(
      new Option('--generation <name>', 'what clients know that do not say so: A, B or own')
        .choices(clientGenerationSchema.options)
        .default('A'),
    )
    .option('--slots <n>', 'most commands at once at one worker', wholeNumber(1, limits.slots), limits.slots)
    .addOption(
      new Option(
        '--store <kind>',
        'memory: this process knows everything; redis: several bridges share it, and any may die',
      )
        .choices(['memory', 'redis'])
        .default('memory'),
    )
    .option(
      '--redis-url <url>',
      'where that Redis is, redis://HOST:PORT; nodes of a cluster with commas between them (or CODELANES_REDIS_URL)',
    )
    .option('--redis-prefix <text>', 'what every key begins with (default: codelanes)')
    .option('--state <dir>', 'where the tokens are kept; they are made at the first start')
    .allowExcessArguments();
  withLogOptions(withQueueOptions(bridge)).action(async (flags: BridgeFlags) => {
    refuseExcessWords(bridge);
    await runBridge(flags);
  });
  addBridgePairingCommand(bridge);
}

async function runBridge(flags: BridgeFlags): Promise<void> {
  const state = flags.state ?? defaultStateFolder();
  await ensureStateFolder(state);
  const tokens = await ensureTokens(state);
  const store = storeChoiceOf(flags);
  refuseClearText(flags);
  // Only this command needs the server; the others start faster without it.
  const { startBridge } = await import('@codelanes/bridge');
  const { toLaneRequest, fromLaneResult } = await import('@codelanes/librechat');
  const options: BridgeOptions = {
    host: flags.host,
    port: flags.port,
    allowNonLoopback: flags.insecureHttp ?? false,
    tokens: {
      callers: [tokens.caller],
      admin: tokens.admin,
      ...(flags.pairedOnly === true ? {} : { worker: tokens.worker }),
    },
    ...securityOf(flags, store.kind, state),
    clientGeneration: flags.generation,
    slots: flags.slots,
    store,
    ...queueBoundsOf(flags),
    laneRouter: { toLaneRequest, fromLaneResult },
  };
  const bridge = await startBridge(options, loggerOf('bridge', flags, 1)).catch((error: unknown) => {
    throw startFailure(error, flags);
  });
  if (!announceReady({ kind: 'bridge', url: bridge.url })) {
    console.log(`The bridge listens at ${bridge.url}.`);
    console.log(
      store.kind === 'memory'
        ? 'It keeps what it knows in memory: one bridge, and no durable requests.'
        : 'It shares what it knows with every bridge of its Redis.',
    );
    console.log(`Its tokens: ${Object.values(tokenFiles(state)).join(', ')}`);
  }
  await stopRequested();
  await bridge.close();
}

function startFailure(error: unknown, { host, port }: BridgeFlags): unknown {
  const where = `${host}:${port}`;
  if (isErrno(error, 'EADDRINUSE')) {
    return new CliError(
      `The bridge cannot listen at ${where}: something else does.`,
      'Stop that, perhaps another "codelanes up", or choose another --port.',
      { cause: error },
    );
  }
  if (isErrno(error, 'ENOTFOUND') || isErrno(error, 'EAI_AGAIN')) {
    return new CliError(`Nobody knows the address ${host}.`, 'Choose another --host.', { cause: error });
  }
  if (isErrno(error, 'EACCES') || isErrno(error, 'EADDRNOTAVAIL')) {
    return new CliError(`The bridge may not listen at ${where}.`, 'Choose another --host or --port.', {
      cause: error,
    });
  }
  if (!(error instanceof Error)) return error;
  return new CliError(withFlagNames(error.message), nextFor(error), { cause: error });
}

function nextFor(error: Error): string {
  return CodelanesError.is(error) && error.code === 'STORE_UNAVAILABLE'
    ? 'See whether that Redis is up and is what --redis-url says: with a password, with TLS (rediss), alone or a cluster.'
    : 'Mend that; "codelanes bridge --help" says what is taken.';
}

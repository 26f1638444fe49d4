import { Server as TlsServer } from 'node:https';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { RouteContext } from '../routes/context.js';
import type { BridgeOptions, TlsFiles } from './bridge-options.js';
import { compileBridgeOptions } from './bridge-options.js';
import { createHttpServer } from './http-server.js';
import { openStore } from './open-store.js';
import { openTls, type TlsKeys } from './open-tls.js';
import { openTokens } from './open-tokens.js';
import { renewTls } from './renewed-tls.js';
import { routeContextOf } from './route-context.js';

/** Time that written replies have to reach their readers before connections are cut. */
const flushMs = 1_000;

/** A bridge that listens. */
export interface Bridge {
  /** Base URL, without a path; LibreChat's `baseURL` is this and `/v1`. */
  readonly url: string;
  readonly port: number;
  /**
   * Refuses new calls, takes back those that wait, lets running ones end within `drainMs`, then stops
   * listening. Asked again, it waits for the same end.
   */
  close(): Promise<void>;
}

/**
 * Starts a bridge with the store that the options name. Resolves when it listens. Logs JSON lines to standard output, or
 * wherever the given logger writes; never a token, a body or a path of files.
 *
 * @throws Error that names a wrong option, a key or certificate that cannot be used, why the address cannot be had,
 * or why the store cannot serve.
 */
export async function startBridge(options: BridgeOptions, log?: FastifyBaseLogger): Promise<Bridge> {
  const compiled = compileBridgeOptions(options);
  const logger = log ?? pino({ name: 'codelanes-bridge', level: compiled.logLevel });
  const closed = new AbortController();
  const tls = compiled.tls === undefined ? undefined : await openTls(compiled.tls);
  const tokens = await openTokens(compiled, logger, closed.signal);
  const opened = await openStore(compiled.store, compiled.scheduler, compiled.pairing, logger);
  const context = routeContextOf(compiled, tokens, opened);
  const app = createHttpServer(context, logger, { tls, requestTimeoutMs: compiled.requestTimeoutMs });
  const endRenewal = keepTlsRenewed(compiled.tls, tls, app);
  const closeStores = async () => {
    endRenewal();
    closed.abort();
    await opened.store.close();
    await opened.pairings.close();
    opened.names.close();
  };
  const listened = await app.listen(compiled.listen).catch(async (error: unknown) => {
    await closeStores();
    throw error;
  });
  // The framework does not know of the server's TLS.
  const url = tls === undefined ? listened : listened.replace(/^http:/, 'https:');
  logger.info({ url }, 'the bridge listens');
  let closing: Promise<void> | undefined;
  return {
    url,
    port: Number(new URL(url).port),
    close: () => (closing ??= closeBridge(app, context, compiled.drainMs).then(closeStores)),
  };
}

function keepTlsRenewed(
  files: TlsFiles | undefined,
  present: TlsKeys | undefined,
  { server, log }: Pick<FastifyInstance, 'server' | 'log'>,
): () => void {
  if (files === undefined || present === undefined || !(server instanceof TlsServer)) return () => undefined;
  return renewTls({
    files,
    present,
    onRenewed: (keys) => {
      server.setSecureContext(keys);
      log.info('the certificate was renewed');
    },
    onFault: (error) => {
      log.warn({ err: error }, 'the renewed certificate cannot be used; the one before is served on');
    },
  });
}

async function closeBridge(app: FastifyInstance, context: RouteContext, drainMs: number): Promise<void> {
  // Workers poll and settle until the last call has its answer, so their polls end after it.
  await context.dispatcher.stop(drainMs);
  context.polls.stop();
  context.watch.stop();
  const cut = setTimeout(() => {
    app.server.closeAllConnections();
  }, flushMs);
  await app.close();
  clearTimeout(cut);
}

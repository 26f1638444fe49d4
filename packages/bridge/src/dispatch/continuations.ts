import { createHash } from 'node:crypto';
import type { Lane, ProgrammaticContinuation, ToolResult } from '@codelanes/protocol';
import { CodelanesError, limits } from '@codelanes/protocol';
import type { PausedCall, SchedulerStore } from '../scheduler/store.js';
import { callIdOfToken, isTokenOf } from './continuation-token.js';
import type { Dispatcher, ScriptEnd } from './dispatcher.js';
import { isOver } from './outcome.js';
import type { RequestNames } from './request-names.js';

/** Who sends a programmatic request, and under which name of its own. */
export interface Asking {
  readonly principal: string;
  readonly requestId?: string | undefined;
}

/** Who lets a script go on, and for which worker where that is said. */
export interface Asker {
  readonly principal: string;
  readonly workerId: string | undefined;
}

/** A script that a token lets go on. */
export interface Continued {
  readonly callId: string;
  readonly lane: Lane;
  readonly pause: PausedCall;
  readonly results: readonly ToolResult[];
}

/**
 * The id of the call that a caller begins under a name of its own: the same at every bridge, so that each of them knows
 * the name again, to stop the call or to refuse another one.
 */
export function callIdOfRequest(principal: string, requestId: string): string {
  const text = JSON.stringify(['codelanes programmatic request', principal, requestId]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/**
 * The id of the call that a continuation names; whether it is one of the caller is not looked at.
 *
 * @throws CodelanesError `CONTINUATION_NOT_FOUND` where its token is none.
 */
export function namedCallOf({ continuation_token: token }: ProgrammaticContinuation): string {
  const callId = callIdOfToken(token);
  if (callId === undefined) throw notFound();
  return callId;
}

/** Lets paused scripts go on, and stops them, for the principals whose they are. */
export class Continuations {
  readonly #store: SchedulerStore;
  readonly #dispatcher: Dispatcher;
  readonly #names: RequestNames;

  constructor(store: SchedulerStore, dispatcher: Dispatcher, names: RequestNames) {
    this.#store = store;
    this.#dispatcher = dispatcher;
    this.#names = names;
  }

  /**
   * The script that a continuation is for.
   *
   * @throws CodelanesError `CONTINUATION_NOT_FOUND` for a token of nobody's or another one's script, of one at another
   * worker, of one that the store has forgotten, or of an earlier pause; `ASSIGNMENT_EXPIRED` where it has ended;
   * `CONTINUATION_CONFLICT` where it goes on already; `MALFORMED_REQUEST` for results of other tool calls than those
   * that it waits for.
   */
  async find({ principal, workerId }: Asker, continuation: ProgrammaticContinuation): Promise<Continued> {
    const { continuation_token: token, tool_results: results } = continuation;
    const callId = namedCallOf(continuation);
    const [owned, pause] = await Promise.all([this.#store.call(callId), this.#store.paused(callId)]);
    if (owned?.principal !== principal) throw notFound();
    if (workerId !== undefined && workerId !== owned.workerId) throw notFound();
    if (pause === undefined) throw isOver(owned.view.state) ? ended() : conflict();
    if (!isTokenOf(token, pause)) throw notFound();
    return { callId, lane: owned.view.lane, pause, results: resultsOf(pause, results) };
  }

  /**
   * @throws CodelanesError `CONTINUATION_CONFLICT`, `REQUEST_CONFLICT`, `ASSIGNMENT_EXPIRED` where it has ended; as
   * `Dispatcher.resumeScript`.
   */
  async goOn(
    { principal, requestId }: Asking,
    { callId, lane, pause, results }: Continued,
    callerGone: AbortSignal,
  ): Promise<ScriptEnd> {
    const name = requestId === undefined ? undefined : callIdOfRequest(principal, requestId);
    if (name !== undefined && !(await this.#names.take(name, callId))) {
      throw new CodelanesError('REQUEST_CONFLICT', 'A programmatic request of this id is being answered.');
    }
    const enter = async () => {
      if ((await this.#store.resume(callId, results)) === 'resumed') return;
      const owned = await this.#store.call(callId);
      throw owned === undefined || isOver(owned.view.state) ? ended() : conflict();
    };
    const answered = results.map((result) => result.callId);
    try {
      const { workerId } = pause;
      return await this.#dispatcher.resumeScript({ callId, workerId, lane, answered }, enter, callerGone);
    } finally {
      // One that cannot be let go now goes by itself.
      if (name !== undefined) await this.#names.letGo(name).catch(() => undefined);
    }
  }

  /** Asks for the end of what a request of that name does; `false` where it has ended, or never was. */
  async cancel({ principal, requestId }: Required<Asking>): Promise<boolean> {
    if (requestId === undefined) return false;
    const name = callIdOfRequest(principal, requestId);
    const callId = (await this.#names.callOf(name)) ?? name;
    const owned = await this.#store.call(callId);
    if (owned?.principal !== principal || isOver(owned.view.state)) return false;
    await this.#store.cancel(callId);
    return true;
  }
}

function resultsOf(
  { toolCalls }: PausedCall,
  sent: ProgrammaticContinuation['tool_results'],
): readonly ToolResult[] {
  const asked = new Set(toolCalls.map(({ id }) => id));
  for (const { call_id: id } of sent) {
    if (!asked.delete(id)) throw wrongResults(`the script does not wait for the tool call "${id}"`);
  }
  const [missing] = asked;
  if (missing !== undefined) throw wrongResults(`the tool call "${missing}" has no result`);
  return sent.map(({ call_id: callId, result, is_error: isError, error_message: message }) =>
    isError === true
      ? { callId, error: message ?? (typeof result === 'string' ? result : 'The tool failed.') }
      : { callId, result: result ?? null },
  );
}

function wrongResults(fault: string): CodelanesError {
  return new CodelanesError('MALFORMED_REQUEST', `The request is malformed: body.tool_results: ${fault}.`);
}

/** One text for every token that is of no use here, so that nobody learns of other callers' scripts. */
function notFound(): CodelanesError {
  return new CodelanesError(
    'CONTINUATION_NOT_FOUND',
    `No script of this caller waits with this continuation token, or none any more. Its time may be over (a script waits ${limits.pausedScriptMs / 60_000} minutes for its tools), the bridge may have been started anew, which ends scripts that wait, or the token has let its script go on before. What the script had done stays, and the rest of it does not run.`,
  );
}

/** Told to whom the script belongs, as the end of one that ran: what is unknown to its caller is run anew. */
function ended(): CodelanesError {
  return new CodelanesError(
    'ASSIGNMENT_EXPIRED',
    'The script does not wait for its tools any more: it has ended, or was ended while it waited. What it had done stays.',
  );
}

function conflict(): CodelanesError {
  return new CodelanesError('CONTINUATION_CONFLICT', 'The script goes on already, with another request.');
}

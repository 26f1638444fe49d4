import { closeSync, constants, openSync, readSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { limits, type ToolCall } from '@codelanes/protocol';
import { Directory } from '../files/directory.js';
import { parseToolInput, ToolInputFault } from './tool-input.js';
import type { ScriptFolder } from './script-folder.js';
import { answerSuffixes, closedMark } from './tool-functions.js';

/** More tools than this no script calls: each call leaves a file until its end. */
const maxCalls = 1_000;
/** A request is shorter: longer lines are nobody's. */
const maxLine = 128;
/** Calls need less: whoever writes more would keep the worker reading. */
const maxHeard = 1024 * 1024;
/** A longer result is copied by a program of its own. */
const shortBytes = 64 * 1024;
const requestPattern = /^(?<key>[0-9]{1,10}-[0-9]{1,10}) (?<number>[0-9]{1,3})$/u;

/** A tool call that waits in the script for its answer. */
export interface WaitingCall extends ToolCall {
  /** By which the function that called finds its answer. */
  readonly key: string;
  /** Length of its arguments as JSON. */
  readonly bytes: number;
}

export type ToolAnswer = { readonly result: unknown } | { readonly error: string };

/**
 * The worker's end of the calls between a script and its tools. Whatever the script's processes put there is data of
 * theirs: it is read bounded and without following links, and answers go where they cannot be changed. A call that is
 * none is answered at once.
 */
export class ToolChannel {
  readonly #tools: readonly { readonly name: string }[];
  readonly #calls: Directory;
  readonly #results: Directory;
  readonly #requests: number;
  readonly #news: number;
  readonly #socket: Socket;
  readonly #seen = new Set<string>();
  #waiting: WaitingCall[] = [];
  #line = '';
  #heard = 0;
  #resultBytes = 0;
  #wake: (() => void) | undefined;
  #fault: { readonly error: unknown } | undefined;

  constructor(
    folder: Pick<ScriptFolder, 'calls' | 'requests' | 'results' | 'news'>,
    tools: readonly { readonly name: string }[],
  ) {
    this.#tools = tools;
    this.#calls = Directory.open(folder.calls);
    this.#results = Directory.open(folder.results);
    // Open for writing too, so that it does not end whenever a call has been made.
    this.#requests = openSync(folder.requests, constants.O_RDWR | constants.O_NONBLOCK);
    this.#news = openSync(folder.news, constants.O_RDWR | constants.O_NONBLOCK);
    this.#socket = new Socket({ fd: this.#requests, readable: true, writable: false });
    this.#socket.on('error', (error) => {
      this.#fail(error);
    });
    this.#socket.on('data', (chunk) => {
      try {
        this.#hear(chunk);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  /**
   * Resolves when a call waits.
   *
   * @throws what kept the worker from hearing or answering one, such as a full disk.
   */
  async untilCalled(): Promise<void> {
    if (this.#waiting.length === 0 && this.#fault === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  /** Hears what is on the pipe already. After that, of a frozen script, every call that was made is known. */
  drain(): void {
    const chunk = Buffer.alloc(64 * 1024);
    for (;;) {
      try {
        const length = readSync(this.#requests, chunk, 0, chunk.length, null);
        if (length === 0) return;
        this.#hear(chunk.subarray(0, length));
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return;
        throw error;
      }
    }
  }

  /** Takes the calls that wait, oldest first, as far as they fit into one pause. */
  take(): readonly WaitingCall[] {
    let bytes = 0;
    const count = this.#waiting.findIndex((call, index) => {
      bytes += call.bytes;
      return index >= limits.pausedToolCalls || bytes > limits.toolInputBytes;
    });
    return this.#waiting.splice(0, count === -1 ? this.#waiting.length : count);
  }

  answer({ key }: WaitingCall, answer: ToolAnswer): void {
    if ('error' in answer) this.#reply(key, 'error', answer.error);
    else this.#reply(key, 'result', textOf(answer.result));
  }

  close(): void {
    this.#socket.destroy();
    closeSync(this.#news);
    this.#calls.close();
    this.#results.close();
  }

  #fail(error: unknown): void {
    this.#fault ??= { error };
    this.#socket.pause();
    this.#wake?.();
  }

  #hear(chunk: Uint8Array): void {
    this.#heard += chunk.length;
    if (this.#heard > maxHeard) {
      this.#socket.pause();
      this.#sayClosed();
      return;
    }
    const lines = (this.#line + Buffer.from(chunk).toString('latin1')).split('\n');
    this.#line = (lines.pop() ?? '').slice(0, maxLine);
    for (const line of lines) this.#request(line);
  }

  #request(line: string): void {
    const { key, number } = requestPattern.exec(line)?.groups ?? {};
    const tool = this.#tools[Number(number)];
    if (key === undefined || tool === undefined || this.#seen.has(key)) return;
    if (this.#seen.size >= maxCalls) {
      this.#sayClosed();
      return;
    }
    this.#seen.add(key);
    const id = `call_${String(this.#seen.size).padStart(3, '0')}`;
    try {
      const { input, bytes } = parseToolInput(this.#calls, `${key}.json`);
      this.#waiting.push({ id, name: tool.name, input, bytes, key });
      this.#wake?.();
    } catch (error) {
      if (!(error instanceof ToolInputFault)) throw error;
      this.#reply(key, 'error', `${tool.name}: ${error.message}`);
    }
  }

  #sayClosed(): void {
    writeFileSync(this.#results.place(closedMark), '');
  }

  #reply(key: string, how: 'result' | 'error', text: string): void {
    const bytes = Buffer.from(text.endsWith('\n') ? text : `${text}\n`);
    if (this.#resultBytes + bytes.length > limits.toolResultBytes) {
      const why = `The results of this script's tools have more than ${limits.toolResultBytes} bytes together.\n`;
      this.#put(key, 'error', Buffer.from(why));
      return;
    }
    this.#resultBytes += bytes.length;
    // Bash keeps no NUL, and takes long over long texts.
    const isLong = bytes.length > shortBytes || bytes.includes(0);
    this.#put(key, how === 'result' && isLong ? 'longResult' : how, bytes);
  }

  /** Whole from the moment at which it is there: the function may be looking. */
  #put(key: string, how: keyof typeof answerSuffixes, bytes: Uint8Array): void {
    const written = this.#results.place(key);
    writeFileSync(written, bytes, { flag: 'wx', mode: 0o600 });
    renameSync(written, this.#results.place(`${key}${answerSuffixes[how]}`));
    this.#tellNews();
  }

  #tellNews(): void {
    try {
      writeSync(this.#news, '\n');
    } catch {
      // The script's own processes have filled the pipe; the call looks without it, too.
    }
  }
}

/** What a function prints: a string as it is, anything else as one line of JSON. */
function textOf(result: unknown): string {
  if (typeof result === 'string') return result;
  return JSON.stringify(result ?? null);
}

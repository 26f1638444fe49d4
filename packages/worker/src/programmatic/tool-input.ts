import { closeSync, constants, fstatSync, openSync, readSync, unlinkSync } from 'node:fs';
import { limits } from '@codelanes/protocol';
import { z } from 'zod';
import type { Directory } from '../files/directory.js';

/** Nobody who hands the arguments on may run out of stack over them. */
const maxDepth = 100;
const inputSchema = z.record(z.string(), z.unknown());

/** Arguments that cannot be handed to a tool; the message is half a sentence. */
export class ToolInputFault extends Error {
  override readonly name = 'ToolInputFault';
}

export interface ToolInput {
  readonly input: Record<string, unknown>;
  readonly bytes: number;
}

/**
 * Reads the arguments of a tool call from the file that it has written, and takes the file away. None are an empty
 * object. The file is the script's: nothing is followed or waited for, and what is read is bounded.
 *
 * @throws {ToolInputFault}
 */
export function parseToolInput(calls: Directory, name: string): ToolInput {
  const bytes = takeFile(calls, name);
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
    value = text === '' ? {} : JSON.parse(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'it is not UTF-8';
    throw new ToolInputFault(`expected one argument, a JSON object, but ${why}`);
  }
  const parsed = inputSchema.safeParse(value);
  if (!parsed.success) throw new ToolInputFault('expected one argument, a JSON object');
  if (isTooDeep(parsed.data)) throw new ToolInputFault(`its arguments are nested more than ${maxDepth} deep`);
  return { input: parsed.data, bytes: bytes.length };
}

function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true;
    level = level.flatMap((each): unknown[] =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
  }
  return false;
}

function takeFile(calls: Directory, name: string): Buffer {
  const place = calls.place(name);
  let descriptor: number;
  try {
    descriptor = openSync(place, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    throw new ToolInputFault('its arguments could not be read');
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw new ToolInputFault('its arguments could not be read');
    const buffer = Buffer.alloc(Math.min(fstatSync(descriptor).size, limits.toolInputBytes) + 1);
    let length = 0;
    for (;;) {
      const read = readSync(descriptor, buffer, length, buffer.length - length, length);
      length += read;
      if (read === 0 || length === buffer.length) break;
    }
    if (length > limits.toolInputBytes) {
      throw new ToolInputFault(`its arguments have more than ${limits.toolInputBytes} bytes`);
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(descriptor);
    removeQuietly(place);
  }
}

function removeQuietly(place: string): void {
  try {
    unlinkSync(place);
  } catch {
    // It is gone, or is a folder of the script's making.
  }
}

import { z } from 'zod';
import { plainText } from '../terminal/plain-text.js';

/** A line as pino writes it; what it says beside that is its details. */
const lineSchema = z
  .looseObject({ msg: z.string().default('') })
  .transform(({ msg, level, time, pid, hostname, name, requestId, ...details }) => ({ msg, details }));

const withMessageSchema = z.looseObject({ message: z.string() });

/** A JSON line of a log as people read it: what happened, and in brackets to whom, where and why. */
export function logText(line: string): string {
  const { msg, details } = lineSchema.parse(JSON.parse(line));
  const said = Object.entries(details).map(([key, value]) => `${key} ${textOf(value)}`);
  return plainText(said.length === 0 ? msg : `${msg} (${said.join(', ')})`);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const error = withMessageSchema.safeParse(value);
  return error.success ? error.data.message : JSON.stringify(value);
}

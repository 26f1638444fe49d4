import { pino, type Logger } from 'pino';
import type { LogFlags } from '../options/log-flags.js';
import { logText } from './log-text.js';

/** Writes what a bridge or worker logs: JSON lines to that descriptor, or text for people to stderr. */
export function loggerOf(who: 'bridge' | 'worker', flags: LogFlags, descriptor: 1 | 2): Logger {
  const options = { name: `codelanes-${who}`, level: flags.logLevel };
  if (flags.logFormat === 'json') return pino(options, pino.destination(descriptor));
  const write = (line: string) => {
    process.stderr.write(`codelanes: The ${who}: ${logText(line)}\n`);
  };
  return pino(options, { write });
}

import { Option } from 'commander';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof levels)[number];

/** How much a bridge or worker logs, as JSON lines. */
export function logLevelOption(): Option {
  return new Option('--log-level <level>', 'what is logged, as JSON lines').choices(levels).default('warn');
}

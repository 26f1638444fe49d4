import type { Command } from 'commander';
import { Option } from 'commander';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const formats = ['json', 'text'] as const;

/** What a bridge or worker logs, and for whom. */
export interface LogFlags {
  readonly logLevel: (typeof levels)[number];
  readonly logFormat: (typeof formats)[number];
}

export function withLogOptions(command: Command): Command {
  return command
    .addOption(new Option('--log-level <level>', 'what is logged').choices(levels).default('warn'))
    .addOption(
      new Option('--log-format <format>', 'json: JSON lines, for programs; text: for people, on stderr')
        .choices(formats)
        .default('json'),
    );
}

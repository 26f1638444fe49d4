import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What of the operator's global configuration commands in lanes see. Keys as Git prints them. */
const kept = ['user.name', 'user.email', 'init.defaultbranch', 'core.autocrlf'] as const;

export type KeptKey = (typeof kept)[number];
export type GlobalSettings = Readonly<Partial<Record<KeptKey, string>>>;

/** Who commits where the operator has told Git no name. */
export const defaultIdentity = {
  'user.name': 'Codelanes agent',
  'user.email': 'agent@codelanes.invalid',
} as const;

/**
 * Reads the operator's own global settings. Started in `/`, where no repository can have a word; files that
 * the global configuration includes are not read. Where Git or the file is missing, nothing is set.
 */
export async function readGlobalSettings(environment: NodeJS.ProcessEnv): Promise<GlobalSettings> {
  const { HOME, PATH, XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL } = environment;
  let listing: string;
  try {
    const run = await promisify(execFile)(
      'git',
      ['config', '--global', '--no-includes', '--null', '--list'],
      {
        cwd: '/',
        env: { HOME, PATH, XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL },
      },
    );
    listing = run.stdout;
  } catch {
    return {};
  }
  const settings: Partial<Record<KeptKey, string>> = {};
  for (const entry of listing.split('\0')) {
    const [name = '', ...value] = entry.split('\n');
    const key = kept.find((candidate) => candidate === name);
    if (key !== undefined && value.length > 0) settings[key] = value.join('\n');
  }
  return settings;
}

/** The text of a global configuration with these settings, and with an identity in any case. */
export function globalConfigText(settings: GlobalSettings): string {
  const known: GlobalSettings = { ...defaultIdentity, ...settings };
  return kept
    .flatMap((key) => {
      const value = known[key];
      if (value === undefined) return [];
      const [section, variable] = key.split('.');
      return [`[${section ?? ''}]\n\t${variable ?? ''} = "${quoted(value)}"\n`];
    })
    .join('');
}

function quoted(value: string): string {
  return value.replace(/["\\]/gu, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

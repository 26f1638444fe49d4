import { liesIn } from '../files/lies-in.js';
import type { Mount, Policy } from '../sandbox/policy.js';
import { scriptPaths } from './inside.js';
import type { ScriptFolder } from './script-folder.js';
import type { ScriptPrograms } from './script-programs.js';

/** The view of a lane's command, with what belongs to a script added. */
export function scriptPolicy(
  policy: Policy,
  folder: Pick<ScriptFolder, 'own' | 'calls' | 'data'>,
  { bash, jq }: Pick<ScriptPrograms, 'bash' | 'jq'>,
): Policy {
  const mounts: readonly Mount[] = [
    { kind: 'readable', path: scriptPaths.own, source: { from: 'path', path: folder.own } },
    { kind: 'writable', path: scriptPaths.calls, source: { from: 'path', path: folder.calls } },
    { kind: 'writable', path: scriptPaths.data, source: { from: 'path', path: folder.data } },
    ...dataElsewhere(policy),
  ];
  // What comes after the view is sealed could not be mounted any more.
  const sealed = policy.mounts.findIndex(({ kind, path }) => kind === 'sealed' && path === '/');
  const before = sealed === -1 ? policy.mounts.length : sealed;
  return {
    ...policy,
    isHeldStill: true,
    mounts: [...policy.mounts.slice(0, before), ...mounts, ...policy.mounts.slice(before)],
    environment: {
      ...policy.environment,
      LIBRECHAT_CODE_DATA_DIR: scriptPaths.data,
      LIBRECHAT_CODE_BASH_PATH: bash,
      ...(jq === undefined ? {} : { LIBRECHAT_CODE_JQ_PATH: jq }),
    },
  };
}

/** Models are told of the other name too; where a lane or the operator has something there, it stays theirs. */
function dataElsewhere({ mounts }: Policy): Mount[] {
  const path = scriptPaths.dataElsewhere;
  const isTaken = mounts.some(
    (mount) => mount.path !== '/' && (liesIn(mount.path, path) || liesIn(path, mount.path)),
  );
  return isTaken ? [] : [{ kind: 'symlink', path, target: scriptPaths.data }];
}

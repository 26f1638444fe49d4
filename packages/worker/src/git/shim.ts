import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the `git` that stands first in a sandbox's search path. It refuses, with a sentence and exit 1, what
 * the mounts of a lane would let fail half done or without a word, and passes everything else on. It is the
 * voice; the mounts are the wall. Returns the folder, which holds nothing else.
 */
export function writeGitShim(folder: string, realGit: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const file = join(folder, 'git');
  // Written beside and renamed, so that a sandbox that starts meanwhile never sees half of it.
  writeFileSync(`${file}.new`, gitShim(realGit));
  chmodSync(`${file}.new`, 0o755);
  renameSync(`${file}.new`, file);
  return folder;
}

/**
 * The script. A call that nothing is said about costs no further process. What is about to be refused is first
 * asked for its repository: only the lane's own is guarded, a scratch repository is the agent's to change.
 */
export function gitShim(realGit: string): string {
  return shimScript.replace('@REAL_GIT@', `'${realGit.replaceAll("'", "'\\''")}'`);
}

const shimScript = `#!/bin/sh
real=@REAL_GIT@
lane=\${CODELANES_LANE:-worktree}
[ "$lane" = plain ] && exec "$real" "$@"

# The global options end at the subcommand: their number is kept in "globals".
globals=0
takes=0
subcommand=
for word in "$@"; do
  if [ "$takes" = 1 ]; then takes=0; globals=$((globals + 1)); continue; fi
  case $word in
    -C | -c | --git-dir | --work-tree | --namespace | --super-prefix | --config-env | --attr-source | --shallow-file)
      takes=1 ;;
    --git-dir=* | --work-tree=* | --namespace=* | --super-prefix=* | --config-env=* | --attr-source=* | --exec-path=*) ;;
    --exec-path | --html-path | --man-path | --info-path | --list-cmds=* | -v | --version | -h | --help) exec "$real" "$@" ;;
    -p | --paginate | -P | --no-pager | --no-replace-objects | --no-lazy-fetch | --no-optional-locks | --no-advice | --bare) ;;
    --literal-pathspecs | --glob-pathspecs | --noglob-pathspecs | --icase-pathspecs) ;;
    -*)
      echo "codelanes: git has no global option $word that is known here; write it after the subcommand or leave it out." >&2
      exit 2 ;;
    *) subcommand=$word; break ;;
  esac
  globals=$((globals + 1))
done
[ -n "$subcommand" ] || exec "$real" "$@"

# Whether the call concerns the lane's own repository; asked only before a refusal.
concerns_lane() {
  at=0
  for word in "$@"; do
    shift
    at=$((at + 1))
    [ "$at" -le "$globals" ] && set -- "$@" "$word"
  done
  common=$("$real" "$@" rev-parse --path-format=absolute --git-common-dir 2>/dev/null) || return 1
  [ "$common" = "$CODELANES_GIT_COMMON_DIR" ] || [ "$common" -ef "$CODELANES_GIT_COMMON_DIR" ]
}

# Each judge looks at the words after the subcommand and sets "reason": checkout (do it there), config, global or prune.
reason=
scope=
refuse_for_lane() { [ "$lane" = worktree ] && reason=checkout; }

judge_worktree() {
  case \${1:-list} in
    list | -h | --help) ;;
    *) refuse_for_lane ;;
  esac
}

judge_config() {
  names=0
  takes=0
  writes=0
  for word in "$@"; do
    if [ "$takes" = 1 ]; then takes=0; continue; fi
    case $word in
      -f | --file | --blob | --file=* | --blob=*) return ;;
      --type | --default | --comment | --value) takes=1 ;;
      --get | --get-all | --get-regexp | --get-urlmatch | --get-color | --get-colorbool | -l | --list) return ;;
      --add | --replace-all | --unset | --unset-all | --rename-section | --remove-section | -e | --edit) writes=1 ;;
      --global) scope=global ;;
      --system) return ;;
      -*) ;;
      get | list) [ "$names" = 0 ] && return ;;
      set | unset | rename-section | remove-section | edit) [ "$names" = 0 ] && writes=1; names=$((names + 1)) ;;
      *) names=$((names + 1)) ;;
    esac
  done
  [ "$writes" = 1 ] || [ "$names" -gt 1 ] || return
  reason=\${scope:-config}
}

judge_branch() {
  for word in "$@"; do
    case $word in
      --) return ;;
      --delete | --delete=*) refuse_for_lane ;;
      --move | --copy | --set-upstream-to | --set-upstream-to=* | --unset-upstream | --edit-description | --track | --track=*) reason=config ;;
      --*) ;;
      -*[mMcCut]*) reason=config ;;
      -*[dD]*) refuse_for_lane ;;
    esac
  done
}

judge_remote() {
  for word in "$@"; do
    case $word in
      -v | --verbose) continue ;;
      add | rm | remove | rename | set-url | set-branches) reason=config ;;
      set-head | prune) refuse_for_lane ;;
    esac
    return
  done
}

judge_submodule() {
  for word in "$@"; do
    case $word in
      -q | --quiet | --cached) continue ;;
      add | init | deinit | sync | set-url | set-branch | absorbgitdirs) reason=config ;;
      update) case " $* " in *" --init "*) reason=config ;; esac ;;
    esac
    return
  done
}

judge_fetch() {
  for word in "$@"; do
    case $word in
      --) return ;;
      --prune | --prune-tags | -p | -P | --unshallow | --depth | --depth=* | --deepen | --deepen=* | --shallow-*) refuse_for_lane ;;
    esac
  done
}

judge() {
  case $subcommand in
    gc | prune | repack | prune-packed | multi-pack-index | pack-refs | for-each-repo | commit-graph) refuse_for_lane ;;
    maintenance)
      case \${1:-} in start | stop | register | unregister) reason=global ;; *) refuse_for_lane ;; esac ;;
    worktree) judge_worktree "$@" ;;
    config) judge_config "$@" ;;
    branch) judge_branch "$@" ;;
    remote) judge_remote "$@" ;;
    submodule) judge_submodule "$@" ;;
    fetch | pull) judge_fetch "$@" ;;
    tag) case \${1:-} in -d | --delete) refuse_for_lane ;; esac ;;
    update-ref) case \${1:-} in -d) refuse_for_lane ;; esac ;;
    reflog) case \${1:-} in expire) refuse_for_lane ;; esac ;;
    sparse-checkout) case \${1:-list} in list | check-rules) ;; *) reason=config ;; esac ;;
    lfs) case \${1:-} in prune) refuse_for_lane ;; install | update) reason=config ;; esac ;;
  esac
}

after_subcommand() {
  shift $((globals + 1))
  judge "$@"
}
after_subcommand "$@"

if [ -n "$reason" ] && concerns_lane "$@"; then
  what="git $subcommand"
  case $reason in
    checkout) echo "codelanes: \\"$what\\" with these arguments is an operation of the checkout: run it without the worktree." >&2 ;;
    global) echo "codelanes: \\"$what\\" would change Git's global configuration, which the worker writes: use \\"git -c name=value ...\\" or variables of the environment." >&2 ;;
    config)
      if [ "$lane" = worktree ]; then
        echo "codelanes: \\"$what\\" with these arguments changes the repository's shared configuration, which is an operation of the checkout: use \\"git -c name=value ...\\" for one command." >&2
      else
        echo "codelanes: \\"$what\\" with these arguments changes the repository's shared configuration, which is refused until sealed storage keeps such changes apart: use \\"git -c name=value ...\\" for one command, or ask the operator." >&2
      fi ;;
  esac
  exit 1
fi

# With shared storage Git cannot take the lock to drop these marks of a finished step, and would report it as unfinished.
case $lane:$subcommand in
  worktree:commit | worktree:cherry-pick | worktree:revert | worktree:rebase | worktree:am | worktree:reset | worktree:merge)
    "$real" "$@"
    status=$?
    for mark in CHERRY_PICK_HEAD REVERT_HEAD; do
      if [ "$status" = 0 ] && [ -e "$CODELANES_GIT_METADATA/$mark" ] && concerns_lane "$@"; then
        rm -f "$CODELANES_GIT_METADATA/$mark"
      fi
    done
    exit "$status" ;;
esac
exec "$real" "$@"
`;

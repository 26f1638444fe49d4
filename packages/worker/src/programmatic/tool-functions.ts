import { bashFunctionName } from '@codelanes/protocol';
import { scriptPaths } from './inside.js';
import type { ScriptPrograms } from './script-programs.js';

/** How the file ends in which a tool call finds what it came to. A long result is copied by a program. */
export const answerSuffixes = { result: '.result', longResult: '.long', error: '.error' } as const;
/** Its presence among the results says that nothing more will come. */
export const closedMark = 'closed';

/**
 * What bash reads before a script: one function for each tool. A call puts its arguments into a file, names it on the
 * pipe of requests, and looks for its answer when there is news and, since another call may have read those, now and
 * then. It finds it where the sandbox cannot change it. No process is started for that, and builtins are called as
 * such, since a tool may bear the name of one.
 */
export function toolFunctions(
  tools: readonly { readonly name: string }[],
  { cat }: Pick<ScriptPrograms, 'cat'>,
): string {
  const functions = tools.map(
    ({ name }, number) => `${bashFunctionName(name)}() { __codelanes_call ${number} "$@"; }`,
  );
  return `${callFunction(cat)}\n${functions.join('\n')}\nbuiltin unset BASH_ENV\n`;
}

const callFunction = (cat: string): string => `
__codelanes_is_closed() {
  [[ -e ${scriptPaths.results}/${closedMark} ]] || builtin return 1
  builtin printf '%s: this script has called too many tools\\n' "\${FUNCNAME[2]}" >&2
}
__codelanes_call() {
  builtin local key="$BASHPID-$SRANDOM" text=
  builtin local answer="${scriptPaths.results}/$key"
  if ((\${#} > 2)); then
    builtin printf '%s: expected one argument, a JSON object\\n' "\${FUNCNAME[1]}" >&2
    builtin return 1
  fi
  __codelanes_is_closed && builtin return 1
  builtin printf '%s' "\${2-}" >|"${scriptPaths.calls}/$key.json" || builtin return 1
  builtin printf '%s %s\\n' "$key" "$1" >>${scriptPaths.requests} || builtin return 1
  until [[ -e $answer${answerSuffixes.result} || -e $answer${answerSuffixes.error} || -e $answer${answerSuffixes.longResult} ]]; do
    __codelanes_is_closed && builtin return 1
    builtin read -r -t 0.05 -u 9 text || builtin true
  done 9<>${scriptPaths.news}
  if [[ -e $answer${answerSuffixes.longResult} ]]; then
    ${cat} "$answer${answerSuffixes.longResult}"
  elif [[ -e $answer${answerSuffixes.result} ]]; then
    IFS= builtin read -r -d '' text <"$answer${answerSuffixes.result}" || builtin true
    builtin printf '%s' "$text"
  else
    IFS= builtin read -r -d '' text <"$answer${answerSuffixes.error}" || builtin true
    builtin printf '%s' "$text" >&2
    builtin return 1
  fi
}`;

/** Words that bash would not call as a function; source: the SDK of LibreChat, which tells models the same names. */
const reservedWords: ReadonlySet<string> = new Set(
  (
    'if then else elif fi case esac for while until do done in function select time coproc ' +
    'declare typeset local readonly export unset'
  ).split(' '),
);

/** Names that what answers a tool call in a script is made of. */
const ownName = /^(?:__codelanes.*|builtin)$/u;

/**
 * The name of the bash function that calls a tool. Hyphens, spaces and dots become `_`, whatever else is no letter,
 * digit or `_` is dropped, a leading digit gets a `_` before it and a reserved word `_tool` after it.
 */
export function bashFunctionName(tool: string): string {
  const plain = tool.replaceAll(/[-\s.]/gu, '_').replaceAll(/[^A-Za-z0-9_]/gu, '');
  const name = /^[0-9]/u.test(plain) ? `_${plain}` : plain;
  return reservedWords.has(name) ? `${name}_tool` : name;
}

/** Why these tools cannot all be functions of one script, as a sentence without its end, or `undefined`. */
export function functionNamesFault(tools: readonly { readonly name: string }[]): string | undefined {
  const known = new Map<string, string>();
  for (const { name } of tools) {
    const functionName = bashFunctionName(name);
    if (functionName === '' || ownName.test(functionName)) {
      return `the tool "${name}" cannot be a bash function`;
    }
    const other = known.get(functionName);
    if (other !== undefined) {
      return `the tools "${other}" and "${name}" would both be the bash function ${functionName}`;
    }
    known.set(functionName, name);
  }
  return undefined;
}

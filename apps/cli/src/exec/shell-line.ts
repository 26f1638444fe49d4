/**
 * The command line that a shell is given. One word is a line for the shell as it stands, so that
 * `-- 'npm ci && npm test'` works; several are a program and its arguments, each kept as it is.
 */
export function shellLine(words: readonly string[]): string {
  const [only] = words;
  return words.length === 1 && only !== undefined ? only : words.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

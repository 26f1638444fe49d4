/*
 * What LibreChat's own client takes for the result of a call. Written for these tests from what that client does, and
 * on purpose without a line of `@codelanes/protocol`: a rule that both had wrong would pass unseen.
 */

/** A request as LibreChat sends it. */
export interface SentRequest {
  readonly protocolVersion: 1;
  readonly operation: string;
  readonly workspaceId: string;
  readonly path?: string;
  readonly [field: string]: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const envelope = ['protocolVersion', 'operation', 'workspaceId'];
const keysOf: Readonly<Record<string, readonly string[]>> = {
  read_file: ['path', 'content', 'startLine', 'endLine', 'truncated', 'nextStartLine'],
  search_text: ['matches', 'truncated'],
  list_files: ['paths', 'truncated', 'nextAfterPath'],
  write_file: ['path', 'created', 'bytesWritten'],
  edit_file: ['path', 'replacements', 'bytesWritten', 'matches'],
  preview_edit: [
    ...['path', 'replacements', 'bytesWritten', 'matches'],
    ...['content', 'hasUtf8Bom', 'baseSha256'],
  ],
  execute_command: ['exitCode', 'signal', 'stdout', 'stderr', 'truncated', 'timedOut'],
};

/** Every rule that the result breaks; a result that breaks none is taken. `laneGit` is a key only where it was agreed. */
export function brokenRules(request: SentRequest, result: unknown, { laneGit = false } = {}): string[] {
  if (typeof result !== 'object' || result === null) return ['it is an object'];
  const fields: Fields = { ...result };
  const known = [...envelope, ...(keysOf[request.operation] ?? []), ...(laneGit ? ['laneGit'] : [])];
  const rules: [string, boolean][] = [
    ['it has no key more', Object.keys(fields).every((key) => known.includes(key))],
    ...envelope.map((key): [string, boolean] => [`it repeats ${key}`, fields[key] === request[key]]),
    ...(rulesOf[request.operation]?.(request, fields) ?? [['its operation is known', false]]),
  ];
  return rules.filter(([, holds]) => !holds).map(([rule]) => rule);
}

type Rules = (request: SentRequest, result: Fields) => [string, boolean][];

const rulesOf: Readonly<Record<string, Rules>> = {
  read_file: (request, result) =>
    request['instructionSha256'] === undefined
      ? readRules(request, result)
      : instructionRules(request, result),
  search_text: (request, { matches, truncated }) => [
    ['truncated is told', typeof truncated === 'boolean'],
    ['no more matches than asked', isList(matches) && matches.length <= numberOr(request['maxResults'], 50)],
    ['each match is one', isList(matches) && matches.every((match) => isMatch(match, request.path))],
  ],
  list_files: listRules,
  write_file: (request, { path, created, bytesWritten }) => [
    ['path is the one that was sent', path === request.path],
    ['created is told', typeof created === 'boolean'],
    ['only a new file is created', request['overwrite'] !== false || created === true],
    ['bytesWritten are those of the content', bytesWritten === bytesOf(request['content'])],
  ],
  edit_file: editRules,
  preview_edit: (request, result) => [
    ...editRules(request, result),
    ['the content is text', isText(result['content'])],
    ['the mark of UTF-8 is told', typeof result['hasUtf8Bom'] === 'boolean'],
    ['the base has a digest', /^[a-f0-9]{64}$/.test(String(result['baseSha256']))],
    [
      'bytesWritten are those of the file',
      result['bytesWritten'] === bytesOf(result['content']) + (result['hasUtf8Bom'] === true ? 3 : 0),
    ],
  ],
  execute_command: commandRules,
};

function readRules(request: SentRequest, result: Fields): [string, boolean][] {
  const { content, endLine, truncated, nextStartLine } = result;
  const first = numberOr(request['startLine'], 1);
  const lines = numberOr(endLine, -1) - first + 1;
  const held = typeof content === 'string' ? content.split('\n').length : -1;
  return [
    ['path is the one that was sent', result['path'] === request.path],
    ['startLine is the one that was sent', result['startLine'] === first],
    ['truncated is told', typeof truncated === 'boolean'],
    ['no more lines than asked', lines >= 0 && lines <= numberOr(request['maxLines'], 200)],
    ['the lines are those of the content', content === '' ? lines <= 1 : held === lines],
    ['1 MiB at most', bytesOf(content) <= 1024 * 1024],
    [
      'the next line is told where there is more',
      truncated === true ? nextStartLine === numberOr(endLine, 0) + 1 : nextStartLine === undefined,
    ],
  ];
}

function instructionRules(request: SentRequest, result: Fields): [string, boolean][] {
  const { content } = result;
  return [
    ['path is the one that was sent', result['path'] === request.path],
    ['32 KiB at most', bytesOf(content) <= 32_768],
    ['it begins with line 1', result['startLine'] === 1],
    [
      'it ends with its last line',
      typeof content === 'string' && result['endLine'] === content.split('\n').length,
    ],
    ['truncated is told', typeof result['truncated'] === 'boolean'],
    ['there is no next line', result['nextStartLine'] === undefined],
  ];
}

function listRules(request: SentRequest, { paths, truncated, nextAfterPath }: Fields): [string, boolean][] {
  const named = isList(paths) ? paths.map(String) : [];
  const before = [...(typeof request['afterPath'] === 'string' ? [request['afterPath']] : []), ...named];
  return [
    ['truncated is told', typeof truncated === 'boolean'],
    ['paths are a list of texts', isList(paths) && paths.every((path) => typeof path === 'string')],
    ['no more paths than asked', named.length <= numberOr(request['maxResults'], 100)],
    ['each is within the path', named.every((path) => isSafe(path) && isWithin(path, request.path))],
    [
      'they rise in byte order, from after the cursor',
      before.every(
        (path, index) =>
          index === 0 || Buffer.compare(Buffer.from(before[index - 1] ?? ''), Buffer.from(path)) < 0,
      ),
    ],
    [
      'the last one is the cursor where there is more',
      truncated === true ? named.length > 0 && nextAfterPath === named.at(-1) : nextAfterPath === undefined,
    ],
  ];
}

function editRules(
  request: SentRequest,
  { path, replacements, bytesWritten, matches }: Fields,
): [string, boolean][] {
  const edits: readonly unknown[] = isList(request['edits']) ? request['edits'] : [];
  const all = edits.map((edit): Fields => (typeof edit === 'object' && edit !== null ? { ...edit } : {}));
  const asked = request['matching'] !== undefined || all.some(({ replaceAll }) => replaceAll !== undefined);
  return [
    ['path is the one that was sent', path === request.path],
    ['each edit is counted', replacements === edits.length],
    ['1 MiB at most', typeof bytesWritten === 'number' && bytesWritten >= 0 && bytesWritten <= 1024 * 1024],
    ['matches are told where they were asked for, and only there', asked === (matches !== undefined)],
    [
      'each edit has a match of its own kind',
      !asked ||
        (isList(matches) &&
          matches.length === all.length &&
          all.every((edit, index) => isEditMatch(matches[index], request, edit))),
    ],
  ];
}

function commandRules(request: SentRequest, result: Fields): [string, boolean][] {
  const { exitCode, signal, stdout, stderr, truncated, timedOut } = result;
  const status =
    typeof exitCode === 'number' && Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 255;
  const stopped = timedOut === true || signal !== undefined;
  return [
    ['its output is text', isText(stdout) && isText(stderr)],
    [
      'no more output than asked',
      bytesOf(stdout) + bytesOf(stderr) <= numberOr(request['maxOutputBytes'], 262_144),
    ],
    ['truncated and timedOut are told', typeof truncated === 'boolean' && typeof timedOut === 'boolean'],
    [
      'its signal is one',
      signal === undefined || (typeof signal === 'string' && /^SIG[A-Z0-9]{1,29}$/.test(signal)),
    ],
    ['it has a status, or was stopped', stopped ? exitCode === null : status],
  ];
}

function isMatch(match: unknown, scope: string | undefined): boolean {
  if (typeof match !== 'object' || match === null) return false;
  const { path, line, column, text, ...more }: Fields = { ...match };
  return (
    Object.keys(more).length === 0 &&
    typeof path === 'string' &&
    isSafe(path) &&
    isWithin(path, scope) &&
    [line, column].every((place) => typeof place === 'number' && Number.isInteger(place) && place >= 1) &&
    typeof text === 'string' &&
    text.length <= 2000
  );
}

const strategies = ['exact', 'line-trimmed', 'whitespace-normalized', 'indentation-flexible'];

function isEditMatch(match: unknown, request: SentRequest, edit: Fields): boolean {
  if (typeof match !== 'object' || match === null) return false;
  const { strategy, occurrences, ...more }: Fields = { ...match };
  return (
    Object.keys(more).length === 0 &&
    strategies.includes(String(strategy)) &&
    (strategy === 'exact' || request['matching'] === 'tolerant') &&
    typeof occurrences === 'number' &&
    (edit['replaceAll'] === true ? occurrences >= 1 : occurrences === 1)
  );
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && Buffer.from(value).toString() === value;
}

function bytesOf(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : Number.NaN;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function isSafe(path: string): boolean {
  const odd = path.split('/').some((segment) => ['', '.', '..'].includes(segment));
  return !odd && path.length <= 4096 && !/[\0\r\n\\]|^[A-Za-z]:/.test(path);
}

function isWithin(path: string, scope: string | undefined): boolean {
  return scope === undefined || path === scope || path.startsWith(`${scope}/`);
}

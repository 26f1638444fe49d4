import { limits, pathFault, type SearchTextRequest, type SearchTextResult } from '@codelanes/protocol';
import type { Directory } from '../files/directory.js';
import { holdsGitSegment } from '../files/git-path.js';
import { readFile } from '../files/read.js';
import { FileRefusal } from '../files/refusal.js';
import { RipgrepFailure, walkWithRipgrep } from './ripgrep.js';
import { linesWith } from './search-lines.js';
import { SmallestPaths } from './smallest-paths.js';
import type { ToolContext } from './tool-context.js';
import { openScope, type WalkScope } from './walk-scope.js';

const timeoutMs = 10_000;
const maxCandidates = 20_000;
/** Larger files are not searched. */
const maxFileBytes = 1024 * 1024;

type Match = SearchTextResult['matches'][number];

interface Search {
  readonly query: string;
  readonly maxResults: number;
  readonly deadline: number;
}

/**
 * Finds lines with a literal text, case and all, in files in byte order of their paths. Ripgrep only says which
 * files to look at; what is told comes from files that were opened confined to the lane, as ripgrep itself
 * could be led out of it by a link that appears while it walks. Files with a NUL or over 1 MiB are passed over.
 */
export async function runSearchText(
  context: ToolContext,
  request: SearchTextRequest,
): Promise<SearchTextResult> {
  const { protocolVersion, operation, workspaceId, query } = request;
  const maxResults = request.maxResults ?? limits.searchDefaultResults;
  const search = { query, maxResults, deadline: performance.now() + timeoutMs };
  const scope = openScope(context, request.path);
  try {
    const candidates = await findCandidates(context, scope, search);
    const matches: Match[] = [];
    for (const path of candidates.paths) {
      checkGoingOn(context.signal, search.deadline);
      // One more than asked shows that the list is cut.
      const room = maxResults + 1 - matches.length;
      matches.push(...(await matchesIn(scope, path, query, room)));
      if (matches.length > maxResults) break;
    }
    const truncated = matches.length > maxResults || candidates.truncated;
    return {
      protocolVersion,
      operation,
      workspaceId,
      matches: matches.slice(0, maxResults),
      truncated,
    };
  } finally {
    scope.directory.close();
  }
}

async function findCandidates(
  { ripgrep, signal }: ToolContext,
  { directory, hidden, prefix, file }: WalkScope,
  { query, deadline }: Search,
): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
  if (file !== undefined) return { paths: [file], truncated: false };
  const found = new SmallestPaths(maxCandidates);
  const search = ['--files-with-matches', '--fixed-strings', '--case-sensitive', '--encoding', 'none'];
  const size = ['--max-filesize', String(maxFileBytes)];
  const walk = {
    executable: ripgrep,
    directory,
    hidden,
    arguments: [...search, ...size, `--regexp=${query}`],
    signal,
    deadline,
  };
  await walkWithRipgrep(walk, (path) => {
    if (pathFault(prefix + path) === undefined && !holdsGitSegment(path)) found.add(path);
  });
  return found.take();
}

async function matchesIn(scope: WalkScope, path: string, query: string, room: number): Promise<Match[]> {
  const bytes = await readPlainFile(scope.directory, path);
  if (bytes === undefined || bytes.includes(0)) return [];
  const full = scope.prefix + path;
  return linesWith(new TextDecoder().decode(bytes), query, room).map((match) => ({ path: full, ...match }));
}

/** The bytes of a file that is still there, without a link on the way and small enough. */
async function readPlainFile(directory: Directory, path: string): Promise<Buffer | undefined> {
  try {
    const file = await readFile(directory, path, { maxBytes: maxFileBytes });
    return file.path === path ? file.bytes : undefined;
  } catch (error) {
    if (error instanceof FileRefusal) return undefined;
    throw error;
  }
}

function checkGoingOn(signal: AbortSignal, deadline: number): void {
  signal.throwIfAborted();
  if (performance.now() > deadline) {
    throw new RipgrepFailure('timeout', 'The search did not end in time.');
  }
}

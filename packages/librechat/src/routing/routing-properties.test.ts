import { compareUtf8, type Operation, type WorkspaceToolResult } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromLaneResult, toLaneRequest, type AdvertisedLanes, type Routing } from '../index.js';

const segment = fc.constantFrom('a', 'b', 'ab', '.worktrees', '.worktrees2', 'x.lock', 'ä', '😀', '\uffee');
const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'));
const lanes: fc.Arbitrary<AdvertisedLanes> = fc
  .uniqueArray(path, { maxLength: 4 })
  .chain((repositories) =>
    fc.record({ repositories: fc.constant(repositories), worktrees: fc.subarray(['', ...repositories]) }),
  );
const operation = fc.constantFrom('read_file', 'search_text', 'list_files', 'write_file', 'edit_file');

function resultOf(paths: string[]): WorkspaceToolResult {
  const result = { protocolVersion: 1, workspaceId: 'primary', operation: 'list_files' } as const;
  return { ...result, paths, truncated: false };
}

function pathsOf(result: WorkspaceToolResult): string[] {
  return result.operation === 'list_files' ? result.paths : [];
}

interface Sent {
  readonly operation: Operation;
  readonly workspaceId: string;
  readonly path?: string;
}

/** The path that a caller sees for what a routed request names; a lane's own directory has none. */
function seenPath(routing: Routing<Sent>): string | undefined {
  const { path } = routing.request;
  if ('reason' in routing) return path;
  if (path === undefined) return routing.prefix.slice(0, -1);
  return pathsOf(fromLaneResult(resultOf([path]), routing.prefix))[0];
}

function prefixOf(routing: Routing<Sent>): string | undefined {
  return 'prefix' in routing ? routing.prefix : undefined;
}

describe('routing', () => {
  it('[L20] gives back the path that was sent', () => {
    fc.assert(
      fc.property(operation, path, lanes, (kind, sent, advertised) => {
        const request: Sent = { workspaceId: 'primary', operation: kind, path: sent };
        expect(seenPath(toLaneRequest(request, advertised))).toBe(sent);
      }),
      { numRuns: 1000 },
    );
  });

  it('[L20] matches only whole segments', () => {
    fc.assert(
      fc.property(path, lanes, fc.constantFrom('x', '-', '.'), (sent, advertised, more) => {
        const request: Sent = { workspaceId: 'primary', operation: 'search_text', path: sent };
        const top = toLaneRequest(request, advertised);
        fc.pre(prefixOf(top) === `${sent}/`);
        expect(prefixOf(toLaneRequest({ ...request, path: sent + more }, advertised))).not.toBe(
          prefixOf(top),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('keeps the byte order of paths under one prefix', () => {
    fc.assert(
      fc.property(fc.uniqueArray(path), path, (paths, prefix) => {
        const sorted = [...paths].sort(compareUtf8);
        const prefixed = pathsOf(fromLaneResult(resultOf(sorted), `${prefix}/`));
        expect(prefixed).toEqual([...prefixed].sort(compareUtf8));
      }),
    );
  });

  it('[L21] changes nothing where nothing is advertised', () => {
    fc.assert(
      fc.property(operation, path, (kind, sent) => {
        const request = { workspaceId: 'primary', operation: kind, path: sent };
        expect(toLaneRequest(request, { repositories: [], worktrees: [] }).request).toBe(request);
      }),
    );
  });
});

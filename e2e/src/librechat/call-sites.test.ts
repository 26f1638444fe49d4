import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

const page = readFileSync(path('../../../docs/librechat-call-sites.md'), 'utf8');
const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);

/** Code that must not compile, or else the compiler checks nothing. */
const wrong = `
  import type { CodeWorkspaceSelection } from 'librechat-data-provider';
  import { resolveWorkspace } from '@codelanes/librechat';
  export const selection: CodeWorkspaceSelection = { environmentId: 'e', workspaceId: 'w', lane: 'a' };
  resolveWorkspace({ selection });
`;

/** A folder from which the packages are found as a project would find them. */
let folder: string;
/** What the compiler says of the code, by the declarations that are published. */
let said: readonly string[];

beforeAll(async () => {
  const cache = path('../../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'call-sites-'));
  const files = { 'package.json': JSON.stringify({ type: 'module' }), 'wrong.ts': wrong };
  const code = Object.fromEntries(blocks.map((block, index) => [`block-${index + 1}.ts`, block]));
  for (const [name, content] of Object.entries({ ...files, ...code }))
    writeFileSync(join(folder, name), content);
  said = (await compile('wrong.ts', ...Object.keys(code))).split('\n').filter((line) => line !== '');
}, 300_000);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function compile(...files: readonly string[]): Promise<string> {
  const strictly = ['--strict', '--noUncheckedIndexedAccess', '--noUnusedLocals', '--noUnusedParameters'];
  const as = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--skipLibCheck', '--noEmit'];
  const compiler = path('../../../node_modules/typescript/bin/tsc');
  const args = [compiler, '--ignoreConfig', '--pretty', 'false', ...strictly, ...as, ...files];
  return run(process.execPath, args, { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)),
  );
}

describe('docs/librechat-call-sites.md', () => {
  it('has code for each call site that it names', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(7);
    const code = blocks.join('\n');
    const named = page.split('\n').flatMap((line) => {
      const [, , called = ''] = line.startsWith('| `packages') ? line.split('|') : [];
      return [...called.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    });
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !code.includes(name))).toEqual([]);
  });

  it('has code that compiles against what LibreChat and this package publish', () => {
    expect(said.filter((line) => !/^(?:wrong\.ts| )/.test(line))).toEqual([]);
  });

  it('would not compile with a key that the published types do not have', () => {
    const text = said.join('\n');
    expect(text).toContain("'lane' does not exist in type 'CodeWorkspaceSelection'");
    expect(text).toContain("Property 'status' is missing");
  });
});

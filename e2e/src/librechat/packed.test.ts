import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const run = promisify(execFile);
const packages = fileURLToPath(new URL('../../../packages', import.meta.url));

/** A folder in which the packages are installed as npm would install them, from what would be published. */
let folder: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-packed-')));
  const scope = join(folder, 'node_modules', '@codelanes');
  for (const name of ['protocol', 'librechat']) {
    const [unpacked, tarballs] = [join(scope, name), join(folder, 'tarballs', name)];
    mkdirSync(unpacked, { recursive: true });
    mkdirSync(tarballs, { recursive: true });
    await run('pnpm', ['pack', '--pack-destination', tarballs], { cwd: join(packages, name) });
    const [tarball = ''] = readdirSync(tarballs);
    await run('tar', ['-xzf', join(tarballs, tarball), '-C', unpacked, '--strip-components=1']);
  }
  const zod = realpathSync(join(packages, 'protocol', 'node_modules', 'zod'));
  symlinkSync(zod, join(folder, 'node_modules', 'zod'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const use = `
  const routed = librechat.toLaneRequest(
    { protocolVersion: 1, operation: 'read_file', workspaceId: 'w', path: '.worktrees/a/x' },
    { repositories: [], worktrees: [''] },
  );
  console.log(JSON.stringify([routed.request.worktree, typeof librechat.executeWorkspaceTool]));
`;

describe('the published package', () => {
  it.each([
    ['import', 'module', `import * as librechat from '@codelanes/librechat';`],
    ['require', 'commonjs', `const librechat = require('@codelanes/librechat');`],
  ])('works by %s', async (_, type, load) => {
    const { stdout, stderr } = await run(process.execPath, [`--input-type=${type}`, '--eval', load + use], {
      cwd: folder,
    });
    expect(JSON.parse(stdout)).toEqual(['a', 'function']);
    expect(stderr).toBe('');
  });

  it('depends on the protocol, and on nothing else', () => {
    const manifest = readFileSync(
      join(folder, 'node_modules', '@codelanes', 'librechat', 'package.json'),
      'utf8',
    );
    const { dependencies, engines } = z
      .object({ dependencies: z.record(z.string(), z.string()), engines: z.object({ node: z.string() }) })
      .parse(JSON.parse(manifest));
    expect(Object.keys(dependencies)).toEqual(['@codelanes/protocol']);
    expect(engines.node).toBe('>=20.19.0');
  });

  it('has no test in it', () => {
    const source = join(folder, 'node_modules', '@codelanes', 'librechat');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
    expect(files).toContain(join('dist', 'index.js'));
    expect(files.filter((file) => /\.test\.|testing/.test(file))).toEqual([]);
  });
});

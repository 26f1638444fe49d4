import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { luaScripts } from './lua-scripts.generated.js';

const build = fileURLToPath(new URL('../../../scripts/build-lua.mjs', import.meta.url));

describe('the module of Lua scripts', () => {
  it('is what the scripts give', async () => {
    await expect(promisify(execFile)(process.execPath, [build, '--check'])).resolves.toBeDefined();
  });

  it.each(Object.entries(luaScripts))('knows the digest of %s', (_, { text, sha1 }) => {
    expect(createHash('sha1').update(text).digest('hex')).toBe(sha1);
  });
});

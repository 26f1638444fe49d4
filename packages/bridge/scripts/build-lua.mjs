import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Makes src/scheduler/redis/lua-scripts.generated.ts of the Lua scripts: comments taken out, text escaped, each
 * include once; a transition that another script names becomes a function of it. `--check` writes nothing and fails where the module is not what the scripts give. The name of a
 * script ends in its number of keys; using another number fails too.
 */
const folder = fileURLToPath(new URL('../src/scheduler/redis/lua', import.meta.url));
const target = fileURLToPath(new URL('../src/scheduler/redis/lua-scripts.generated.ts', import.meta.url));
const includeLine = /^--- @(include|transition) "([a-z-]+)"$/;

/** Paths of a file and of all that it includes, each once and after what it includes itself. */
function partsOf(path, parts = [], open = []) {
  if (open.includes(path)) {
    throw new Error(`includes go in a circle: ${[...open, path].map((one) => basename(one)).join(' → ')}`);
  }
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const [, kind, name] = includeLine.exec(line) ?? [];
    if (kind === undefined && line.startsWith('--- @')) {
      throw new Error(`${path}:${index + 1}: not an include: ${line}`);
    }
    if (kind === 'include') partsOf(join(folder, 'includes', `${name}.lua`), parts, [...open, path]);
    if (kind === 'transition') partsOf(join(folder, scriptNamed(name)), parts, [...open, path]);
  }
  if (!parts.includes(path)) parts.push(path);
  return parts;
}

function scriptNamed(name) {
  const file = readdirSync(folder).find((candidate) => wordsOf(candidate)[1] === name);
  if (file === undefined) throw new Error(`there is no script ${name}`);
  return file;
}

function codeOf(path) {
  return readFileSync(path, 'utf8')
    .replace(/^--\[\[[\s\S]*?^\]\]$/gm, '')
    .split('\n')
    .filter((line) => !/^\s*(--.*)?$/.test(line))
    .join('\n');
}

/** The code of a part of a script: an include as it is, a script that is part of another one as a function. */
function partOf(path) {
  if (dirname(path) !== folder) return codeOf(path);
  return `transitions['${wordsOf(basename(path))[1]}'] = function()\n${codeOf(path)}\nend`;
}

/** The words and the number of keys in the name of a script. */
function wordsOf(file) {
  return /^([a-z]+(?:-[a-z]+)*)-(\d+)\.lua$/.exec(file) ?? [];
}

function compile(file) {
  const [, words, count] = wordsOf(file);
  if (words === undefined) throw new Error(`${file}: a script is named <name>-<number of keys>.lua`);
  const name = words.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
  const parts = partsOf(join(folder, file));
  const text = [...parts.slice(0, -1).map(partOf), codeOf(parts.at(-1))].join('\n');
  const used = [...new Set([...text.matchAll(/KEYS\[(\d+)\]/g)].map((match) => Number(match[1])))];
  const keys = Number(count);
  if (used.length !== keys || used.some((key) => key < 1 || key > keys)) {
    throw new Error(`${file}: uses KEYS ${used.sort().join(', ')}, but its name says ${keys}`);
  }
  return { name, keys, parts, sha1: createHash('sha1').update(text).digest('hex') };
}

function escaped(text) {
  return text.replace(/\\/g, '\\\\').replace(/`/g, '\\`').replace(/\$\{/g, '\\${');
}

function moduleOf(scripts) {
  const includes = [...new Set(scripts.flatMap(({ parts }) => parts.slice(0, -1)))];
  const nameOf = (path) =>
    dirname(path) === folder ? `${wordsOf(basename(path))[1]}Transition` : basename(path, '.lua');
  const lines = [
    '// Made by scripts/build-lua.mjs from lua/*.lua. Do not edit.',
    '',
    ...includes.map((path) => `const ${nameOf(path)} = \`${escaped(partOf(path))}\`;\n`),
    '/** Every Lua script by name: its text, the SHA-1 of its text, and the number of its keys. */',
    'export const luaScripts = {',
  ];
  for (const { name, keys, parts, sha1 } of scripts) {
    const own = `\`${escaped(codeOf(parts.at(-1)))}\``;
    const texts = [...parts.slice(0, -1).map(nameOf), own];
    lines.push(`  ${name}: {`, `    keys: ${keys},`, `    sha1: '${sha1}',`);
    lines.push(`    text: [`, ...texts.map((text) => `      ${text},`), `    ].join('\\n'),`, '  },');
  }
  return `${lines.join('\n')}\n} as const;\n`;
}

const files = readdirSync(folder)
  .filter((file) => file.endsWith('.lua'))
  .sort();
const made = moduleOf(files.map(compile));
if (!process.argv.includes('--check')) writeFileSync(target, made);
else if (readFileSync(target, 'utf8') !== made) {
  console.error('lua-scripts.generated.ts is out of date: run node scripts/build-lua.mjs');
  process.exitCode = 1;
}

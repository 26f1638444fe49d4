import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));
const testFolders = ['packages', 'apps', 'e2e', 'bench'];
const notOurs = new Set(['node_modules', 'dist', 'fixtures', '.turbo', '.reports']);

/** A test that says which requirement it proves. */
export interface Citation {
  readonly id: string;
  readonly file: string;
  readonly title: string;
}

/**
 * The ids that test titles of a source name in brackets, as in `it('[L12] starts no Git process', …)`; several
 * may stand in one pair, parted by commas.
 */
export function citationsIn(source: string): Omit<Citation, 'file'>[] {
  const titles = [...source.matchAll(/\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)].map((match) => match[2] ?? '');
  return titles.flatMap((title) =>
    [...title.matchAll(/\[([^\]]*)\]/g)]
      .flatMap((match) => (match[1] ?? '').split(','))
      .map((id) => id.trim())
      .filter((id) => /^[A-Z]+[0-9]+$/.test(id))
      .map((id) => ({ id, title })),
  );
}

/** Every citation of every test of the repository. */
export function readCitations(): Citation[] {
  return testFolders
    .flatMap((folder) => testFilesUnder(join(repositoryRoot, folder)))
    .flatMap((file) =>
      citationsIn(readFileSync(file, 'utf8')).map((citation) => ({
        ...citation,
        file: relative(repositoryRoot, file),
      })),
    );
}

function testFilesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : testFilesUnder(path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

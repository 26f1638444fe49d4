import { z } from 'zod';
import { relativePathSchema } from '../identifiers.js';
import { limits } from '../limits.js';

/** What LibreChat's workers keep beside a script of theirs, in whichever folder. */
const reservedNames: ReadonlySet<string> = new Set(['_ptc_history.json', '_ptc_pending_result.json']);

/** Whether a file would stand where a script or its replayed calls do in LibreChat's workers. */
function isReserved(name: string): boolean {
  return name.toLowerCase() === 'main.sh' || reservedNames.has(baseOf(name));
}

function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).toLowerCase();
}

/** Bytes that a text of Base64 stands for. */
function base64Length(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

/** A path beneath the data folder of a script. */
const scriptFileNameSchema = relativePathSchema.refine(
  (name) => !isReserved(name),
  'a file may not bear a name that scripts reserve',
);

/** A file that is handed into or out of a script, its bytes in Base64. */
export const scriptFileSchema = z.strictObject({
  name: scriptFileNameSchema,
  content: z
    .string()
    .regex(/^[A-Za-z0-9+/]*={0,2}$/u, 'expected Base64')
    .refine((text) => text.length % 4 === 0, 'expected Base64')
    .refine(
      (text) => base64Length(text) <= limits.programmaticFileBytes,
      `a file has at most ${limits.programmaticFileBytes} bytes`,
    ),
});
export type ScriptFile = z.infer<typeof scriptFileSchema>;

/** Files of a script; no name leads through another, and all together are bounded. */
export const scriptFilesSchema = z
  .array(scriptFileSchema)
  .max(limits.programmaticFiles)
  .refine((files) => nestedName(files) === undefined, 'a file may not have the name of another, or lie in it')
  .refine(
    (files) =>
      files.reduce((sum, { content }) => sum + base64Length(content), 0) <= limits.programmaticTotalBytes,
    `files have at most ${limits.programmaticTotalBytes} bytes together`,
  );

function nestedName(files: readonly ScriptFile[]): string | undefined {
  const names = new Set(files.map(({ name }) => name));
  if (names.size < files.length) return files.at(-1)?.name;
  return [...names].find((name) => {
    const segments = name.split('/');
    return segments.some((_, depth) => depth > 0 && names.has(segments.slice(0, depth).join('/')));
  });
}

const extensions: ReadonlySet<string> = new Set(
  // Programs and what they are made of.
  (
    'c cs cpp go java js kt kts lua php pl ps1 py r rb rs scala sh sql swift ts jsx tsx groovy bat cmd vbs ' +
    // What is shown.
    'css htm html less sass scss svg svelte vue eot ttf woff woff2 ' +
    // Text and data.
    'adoc asciidoc md rst tex txt wiki log csv json bson json5 jsonl parquet tsv xml yaml yml ics ical ifb icalendar ' +
    // Settings.
    'conf env gitignore ini properties toml tf tfvars tfstate hcl dockerfile dockerignore helmignore helmfile ' +
    'jenkinsfile vagrantfile eslintrc prettierrc editorconfig nomad ' +
    // Documents and images.
    'doc docx pdf ppt pptx xls xlsx xlsb odt ods odp rtf avif bmp gif ico jpeg jpg png tif tiff webp ' +
    // Archives.
    '7z bz2 gz gzip rar tar zip deb rpm'
  ).split(' '),
);

/**
 * Whether a file that a script left in its data folder is handed back: by its extension or, without one, by its whole
 * name. The list is the one that LibreChat's file gateway keeps to.
 */
export function isHandedBack(name: string): boolean {
  const base = baseOf(name);
  return extensions.has(base.slice(base.lastIndexOf('.') + 1)) && !isReserved(name);
}

import { createHash } from 'node:crypto';
import {
  editsOf,
  limits,
  reportsMatches,
  type EditFileRequest,
  type EditFileResult,
  type PreviewEditRequest,
} from '@codelanes/protocol';
import type { Directory } from '../files/directory.js';
import { readFile, type FileVersion } from '../files/read.js';
import { refuseGitPath } from './git-guard.js';
import { applyEdits, tooLarge } from './matching/apply-edits.js';
import { decodeUtf8, notText } from './utf8-text.js';

const bom = '\ufeff';

/** A file as an edit found it. */
export interface BaseFile {
  /** After links, relative to the lane. */
  readonly path: string;
  readonly version: FileVersion;
  readonly sha256: string;
  /** Without a byte order mark. */
  readonly text: string;
  readonly hasBom: boolean;
}

/** What an edit makes of it. */
export interface EditedFile {
  /** Without a byte order mark. */
  readonly text: string;
  readonly bytes: Buffer;
  /** The fields that preview and edit tell alike. */
  readonly told: Pick<EditFileResult, 'replacements' | 'bytesWritten' | 'matches'>;
}

/**
 * Reads what is to be edited: a text file of at most 1 MiB.
 *
 * @throws FileRefusal, or CodelanesError `INVALID_REQUEST` where it is not UTF-8.
 */
export async function readBase(directory: Directory, path: string): Promise<BaseFile> {
  const file = await readFile(directory, path, { maxBytes: limits.writeFileBytes });
  refuseGitPath(file.path, path);
  const content = decodeUtf8(file.bytes);
  if (content === undefined) throw notText(path);
  const hasBom = content.startsWith(bom);
  return {
    path: file.path,
    version: file.version,
    sha256: createHash('sha256').update(file.bytes).digest('hex'),
    text: hasBom ? content.slice(1) : content,
    hasBom,
  };
}

/** Applies the edits of a request; a byte order mark stays where it was. Throws as `applyEdits`. */
export function editBase(base: BaseFile, request: EditFileRequest | PreviewEditRequest): EditedFile {
  const edits = editsOf(request).map((edit) => ({
    ...edit,
    oldText: withoutMark(base, edit.oldText),
    newText: withoutMark(base, edit.newText),
  }));
  const { text, matches } = applyEdits(base.text, edits, request.matching ?? 'exact');
  const bytes = Buffer.from(base.hasBom ? bom + text : text);
  if (bytes.length > limits.writeFileBytes) throw tooLarge();
  const told = { replacements: edits.length, bytesWritten: bytes.length };
  return { text, bytes, told: reportsMatches(request) ? { ...told, matches: [...matches] } : told };
}

/** A caller that copied the beginning of the file copied the mark with it. */
function withoutMark({ hasBom }: BaseFile, text: string): string {
  return hasBom && text.length > 1 && text.startsWith(bom) ? text.slice(1) : text;
}

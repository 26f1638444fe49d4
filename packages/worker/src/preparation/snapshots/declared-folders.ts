import { segmentsOf, type Directory } from '../../files/directory.js';
import { FileRefusal } from '../../files/refusal.js';

/** Where a declared folder is or would be: the folder above it, held open, and its name. */
export interface DeclaredFolder {
  readonly path: string;
  readonly parent: Directory;
  readonly name: string;
}

/**
 * Opens what lies above each declared folder, following no link. The caller closes them.
 *
 * @throws {FileRefusal} for one that is missing or behind a link.
 */
export function openDeclared(top: Directory, paths: readonly string[]): readonly DeclaredFolder[] {
  const opened: DeclaredFolder[] = [];
  try {
    for (const path of paths) {
      const segments = segmentsOf(path);
      opened.push({ path, parent: top.walk(segments.slice(0, -1)), name: segments.at(-1) ?? '' });
    }
    return opened;
  } catch (error) {
    closeDeclared(opened);
    throw error;
  }
}

/** As `openDeclared`, but `undefined` unless each of them is absent and can be put in its place. */
export function openAbsent(top: Directory, paths: readonly string[]): readonly DeclaredFolder[] | undefined {
  let opened: readonly DeclaredFolder[];
  try {
    opened = openDeclared(top, paths);
  } catch (error) {
    if (error instanceof FileRefusal) return undefined;
    throw error;
  }
  if (opened.every(({ parent, name }) => parent.look(name) === undefined)) return opened;
  closeDeclared(opened);
  return undefined;
}

/** Whether each of them is absent and can be put in its place. */
export function areAbsent(top: Directory, paths: readonly string[]): boolean {
  const opened = openAbsent(top, paths);
  if (opened !== undefined) closeDeclared(opened);
  return opened !== undefined;
}

export function closeDeclared(folders: readonly DeclaredFolder[]): void {
  for (const { parent } of folders) parent.close();
}

/** Whether a path is another one or lies beneath it; both absolute and canonical. */
export function liesIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** Code points that HFS+ leaves out when it compares names. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/**
 * Whether some file system takes this one path segment for `.git`: in any case, with characters that HFS+
 * ignores, with the trailing dots and spaces or the stream suffix that NTFS drops, or as its short name.
 */
export function isGitSegment(segment: string): boolean {
  const folded = segment
    .replace(ignoredByHfs, '')
    .toLowerCase()
    .replace(/:.*$/su, '')
    .replace(/[. ]+$/u, '');
  return folded === '.git' || folded === 'git~1';
}

/** Whether any segment of a path is Git's own storage, which no file tool changes. */
export function holdsGitSegment(path: string): boolean {
  return path.split(/[/\\]/u).some(isGitSegment);
}

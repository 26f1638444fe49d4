/**
 * Why a path was refused.
 *
 * - `not_found`: nothing bears that name.
 * - `symlink`: a symbolic link stands where none is followed, or too many follow each other.
 * - `not_a_file`, `not_a_directory`: something of another kind bears the name.
 * - `outside`: the path, or a link on its way, leaves the directory that confines it.
 * - `exists`: something is there already that may not be replaced.
 * - `changed`: what is there is not what the caller saw.
 * - `too_large`: more bytes than the caller accepts.
 * - `git_path`: a path that belongs to Git's own storage.
 * - `denied`: the operating system refused it (permissions, read-only, no space).
 */
export type FileFault =
  | 'not_found'
  | 'symlink'
  | 'not_a_file'
  | 'not_a_directory'
  | 'outside'
  | 'exists'
  | 'changed'
  | 'too_large'
  | 'git_path'
  | 'denied';

/** A path that was refused; `message` is a sentence for people, `path` is relative to the confining directory. */
export class FileRefusal extends Error {
  override readonly name = 'FileRefusal';
  readonly fault: FileFault;
  readonly path: string;

  constructor(fault: FileFault, path: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
    this.path = path;
  }
}

const faults: Readonly<Record<string, readonly [FileFault, string]>> = {
  ENOENT: ['not_found', 'does not exist'],
  ESTALE: ['not_found', 'does not exist any more'],
  ENOTDIR: ['not_a_directory', 'is not in a directory'],
  EISDIR: ['not_a_file', 'is a directory'],
  ENOTEMPTY: ['not_a_file', 'is a directory'],
  ELOOP: ['symlink', 'is a symbolic link'],
  EEXIST: ['exists', 'exists already'],
  EACCES: ['denied', 'may not be accessed by the worker'],
  EPERM: ['denied', 'may not be changed by the worker'],
  EROFS: ['denied', 'lies on a read-only file system'],
  ENOSPC: ['denied', 'does not fit: the disk is full'],
  EDQUOT: ['denied', 'does not fit: the disk quota is used up'],
  EFBIG: ['denied', 'is larger than the file system allows'],
  EXDEV: ['denied', 'lies on another file system'],
  ENAMETOOLONG: ['denied', 'has a name longer than the file system allows'],
  EINVAL: ['denied', 'has a name that the file system does not allow'],
};

/** Turns an error of the file system into a refusal that names the path; anything else is passed on. */
export function refusalOf(error: unknown, path: string): unknown {
  if (error instanceof FileRefusal || !(error instanceof Error) || !('code' in error)) return error;
  const known = faults[String(error.code)];
  if (known === undefined) return error;
  const [fault, words] = known;
  return new FileRefusal(fault, path, `"${path}" ${words}.`, { cause: error });
}

import { constants, type BigIntStats } from 'node:fs';

/** Whether something is a plain file of this user's alone, with one name: nobody else can have written it. */
export function isPrivateFile({ uid, mode, nlink }: BigIntStats): boolean {
  const isClosed = (Number(mode) & 0o170077) === constants.S_IFREG;
  return isClosed && Number(uid) === process.getuid?.() && nlink === 1n;
}

/** Whether something is a folder of this user's alone. */
export function isPrivateFolder({ uid, mode }: BigIntStats): boolean {
  return (Number(mode) & 0o170077) === constants.S_IFDIR && Number(uid) === process.getuid?.();
}

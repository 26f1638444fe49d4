import { vi } from 'vitest';
import { Directory } from '../directory.js';
import { FileRefusal } from '../refusal.js';

/** Root may look into every folder: with this, tests meet those that are closed to their owner as any other user does. */
export function meetClosedFolders(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called on the folder that is asked for
  const { list } = Directory.prototype;
  vi.spyOn(Directory.prototype, 'list').mockImplementation(function (this: Directory) {
    if ((this.stats.mode & 0o400n) === 0n) throw new FileRefusal('denied', '.', 'It is closed.');
    return list.call(this);
  });
}

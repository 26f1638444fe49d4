import { describe, expect, it } from 'vitest';
import { MountTable } from './mount-table.js';

const table = new MountTable(
  [
    '21 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw',
    '22 21 0:20 / /proc rw - proc proc rw',
    '30 21 259:2 /home/me/src/app /mnt/app rw - ext4 /dev/root rw',
    '31 21 259:2 /home/me/conf /home/me/src/with\\040blank rw - ext4 /dev/root rw',
    '32 21 259:3 / /data rw - xfs /dev/data rw',
    '',
  ].join('\n'),
);

describe('MountTable', () => {
  it.each([
    ['/home/me', { device: '259:2', path: '/home/me' }],
    ['/mnt/app/lib', { device: '259:2', path: '/home/me/src/app/lib' }],
    ['/mnt/application', { device: '259:2', path: '/mnt/application' }],
    ['/data', { device: '259:3', path: '/' }],
    ['/home/me/src/with blank/env.yaml', { device: '259:2', path: '/home/me/conf/env.yaml' }],
  ])('places %s', (path, place) => {
    expect(table.placeOf(path)).toEqual(place);
  });

  it.each([
    ['a path beneath the folder', '/home/me/src/app', '/home/me/src', true],
    ['a path beside it', '/home/me/conf', '/home/me/src/app', false],
    ['a mount of a folder beneath it', '/mnt/app/env.yaml', '/home/me/src', true],
    ['a folder that is mounted in it', '/home/me/conf/env.yaml', '/home/me/src', true],
    ['the same path of another device', '/data/home/me/src', '/home/me/src', false],
    ['the folder above', '/home/me', '/mnt/app', false],
  ])('tells whether %s can be reached from it', (_, path, folder, reachable) => {
    expect(table.isReachable(path, folder)).toBe(reachable);
  });

  it('reads the table of this machine', () => {
    expect(MountTable.ofThisProcess().placeOf('/proc/self')?.path).toMatch(/self$/u);
  });
});

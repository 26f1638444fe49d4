import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import { systemCallFilter } from './system-calls.js';

const allowed = 0x7fff0000;
const refused = { EPERM: 0x00050001, EINVAL: 0x00050016, ENOSYS: 0x00050026 };
const audit = { x64: 0xc000003e, x86: 0x40000003, arm64: 0xc00000b7, arm: 0x40000028, s390: 0x80000016 };

/** What the kernel would do: runs a filter over one system call. */
function verdict(filter: Buffer, code: number, call: number, args: readonly bigint[] = []): number {
  const asked = Buffer.alloc(64);
  asked.writeUInt32LE(call, 0);
  asked.writeUInt32LE(code, 4);
  args.forEach((arg, index) => asked.writeBigUInt64LE(arg, 16 + 8 * index));
  let held = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const value = filter.readUInt32LE(at + 4);
    const jump = (isSo: boolean): number => 8 * filter.readUInt8(at + (isSo ? 2 : 3));
    switch (filter.readUInt16LE(at)) {
      case 0x20:
        held = asked.readUInt32LE(value);
        break;
      case 0x15:
        at += jump(held === value);
        break;
      case 0x45:
        at += jump((held & value) !== 0);
        break;
      case 0x06:
        return value;
      default:
        throw new Error('An instruction of an unknown kind.');
    }
  }
  throw new Error('The filter has no end.');
}

function filterOf(architecture: string, heldStill = false): Buffer {
  const filter = systemCallFilter({ heldStill }, architecture);
  if (filter === undefined) throw new Error(`There is no filter for ${architecture}.`);
  return filter;
}

const kinds = [
  { on: 'x64', code: audit.x64, chmod: [90, 91], chmodAt: [268, 452], fcntl: [72], timerCreate: 222 },
  { on: 'x64', code: audit.x86, chmod: [15, 94], chmodAt: [306, 452], fcntl: [55, 221], timerCreate: 259 },
  { on: 'arm64', code: audit.arm64, chmod: [52], chmodAt: [53, 452], fcntl: [25], timerCreate: 107 },
  { on: 'arm64', code: audit.arm, chmod: [15, 94], chmodAt: [333, 452], fcntl: [55, 221], timerCreate: 257 },
];

describe.each(kinds)('the calls of code $code on $on', ({ on, code, chmod, chmodAt, fcntl, timerCreate }) => {
  it.each([0o4755n, 0o6711n, 0xffff_ffff_0000_4000n | 0o4000n])(
    'never give a file the bit that sets the user (%o)',
    (mode) => {
      const filter = filterOf(on);
      expect(chmod.map((call) => verdict(filter, code, call, [0n, mode]))).toEqual(
        chmod.map(() => refused.EPERM),
      );
      expect(chmodAt.map((call) => verdict(filter, code, call, [0n, 0n, mode]))).toEqual(
        chmodAt.map(() => refused.EPERM),
      );
    },
  );

  it('give every other', () => {
    const filter = filterOf(on);
    expect([...chmod].map((call) => verdict(filter, code, call, [0o4000n, 0o2775n]))).toEqual(
      chmod.map(() => allowed),
    );
    expect(chmodAt.map((call) => verdict(filter, code, call, [0o4000n, 0o4000n, 0o777n]))).toEqual(
      chmodAt.map(() => allowed),
    );
  });

  it('let nobody choose the signal that a file sends, and do all else to it', () => {
    const filter = filterOf(on);
    for (const call of fcntl) {
      expect(verdict(filter, code, call, [3n, 10n, 18n])).toBe(refused.EINVAL);
      expect(verdict(filter, code, call, [3n, 0xffff_ffff_0000_000an])).toBe(refused.EINVAL);
      expect(verdict(filter, code, call, [10n, 4n, 10n])).toBe(allowed);
    }
  });

  it('let nobody who is held still choose what a clock sends, wherever it says so', () => {
    const filter = filterOf(on, true);
    for (const where of [1n, 0x1_0000_0000n, 0xffff_0000_0000_0000n]) {
      expect(verdict(filter, code, timerCreate, [1n, where])).toBe(refused.ENOSYS);
    }
    expect(verdict(filter, code, timerCreate, [1n, 0n])).toBe(allowed);
    expect(verdict(filterOf(on), code, timerCreate, [1n, 1n])).toBe(allowed);
  });

  it('are no others in disguise', () => {
    const filter = filterOf(on);
    expect(verdict(filter, code, 0x40000000 + (chmod[0] ?? 0), [0n, 0o4755n])).toBe(refused.ENOSYS);
    expect(verdict(filter, audit.s390, 1)).toBe(refused.ENOSYS);
    expect(verdict(filter, code, 1, [0n, 0o4755n, 0o4755n])).toBe(allowed);
  });
});

it('are let through on a machine whose calls are not known here', () => {
  expect(systemCallFilter({ heldStill: true }, 'riscv64')).toBeUndefined();
});

describe('in a lane', () => {
  let fixture: LaneFixture;
  beforeAll(() => {
    fixture = new LaneFixture(['a']);
  });
  afterAll(() => {
    fixture.remove();
  });

  it('no program is made that runs as the user of the worker, whoever starts it', async () => {
    const got = await fixture.breakThrough('a', {
      chmod: 'cp /bin/true p; chmod u+s p',
      install: 'install -m 4755 /bin/true i',
      'fchmod of an open file': `perl -e 'open(F, ">>", "f") or die; chmod(04755, *F) or die'`,
      'with the group': 'cp /bin/true g; chmod 6755 g',
      'made so, then filled': `perl -e 'use Fcntl; sysopen(F, "m", O_CREAT|O_RDWR, 04755) or die; syswrite(F, "x") or die; exit !((stat F)[2] & 04000)'`,
      'what is let through': 'cp /bin/true t; chmod 1777 t; mkdir d; chmod 2775 d; timeout 60 true',
    });
    expect(got).toEqual(['what is let through']);
    const modes = ['p', 'f', 'g', 'm'].map((name) => statSync(join(fixture.path('a'), name)).mode & 0o4000);
    expect(modes).toEqual([0, 0, 0, 0]);
  });
});

import { describe, expect, it } from 'vitest';
import { isPublic } from './machine-resolution.js';
import { TranslatedAddresses } from './translated-addresses.js';

/** A translator of a provider, whose prefix looks public. */
const behind = (...answers: readonly string[]) => new TranslatedAddresses(() => Promise.resolve(answers));

const answered = (code: string) => Object.assign(new Error(`queryAaaa ${code} ipv4only.arpa`), { code });

describe('addresses that a translator of the network carries', () => {
  // The addresses of ipv4only.arpa and of 10.0.0.1 for each length of a prefix.
  it.each([
    [32, '2a01:4f8:c000:aa::', '2a01:4f8:a00:1::'],
    [40, '2a01:4f8:1c0:0:aa::', '2a01:4f8:10a:0:1::'],
    [48, '2a01:4f8:122:c000:0:aa00::', '2a01:4f8:122:a00:0:100::'],
    [56, '2a01:4f8:122:3c0:0:aa::', '2a01:4f8:122:30a:0:1::'],
    [64, '2a01:4f8:122:344:c0:0:aa00::', '2a01:4f8:122:344:a:0:100::'],
    [96, '2a01:4f8:122:344::c000:aa', '2a01:4f8:122:344::a00:1'],
  ])('are found under a prefix of %s bits, and private ones refused', async (_, wellKnown, toPrivate) => {
    const translator = behind(wellKnown);
    expect(await translator.carriedBy(wellKnown)).toBe('192.0.0.170');
    expect(await translator.carriedBy(toPrivate)).toBe('10.0.0.1');
    expect(await isPublic(toPrivate, translator)).toBe(false);
    expect(await isPublic(toPrivate, behind())).toBe(true);
  });

  it('are refused where they are loopback, link-local or metadata, and open where they are public', async () => {
    const translator = behind('2a01:4f8:122:344::c000:aa', '2a01:4f8:122:344::c000:ab');
    for (const [carried, open] of [
      ['7f00:1', false],
      ['a9fe:a9fe', false],
      ['c0a8:1', false],
      ['808:808', true],
    ] as const) {
      expect([carried, await isPublic(`2a01:4f8:122:344::${carried}`, translator)]).toEqual([carried, open]);
    }
    expect(await isPublic('2a00:1450:4001::200e', translator)).toBe(true);
  });

  it.each(['ENODATA', 'ENOTFOUND'])(
    'are none in IPv4, in what is no address, and where the answer is %s',
    async (code) => {
      const without = new TranslatedAddresses(() => Promise.reject(answered(code)));
      for (const address of ['8.8.8.8', 'example.org', '2a01:4f8:122:344::a00:1']) {
        expect(await without.carriedBy(address)).toBeUndefined();
      }
      expect(await isPublic('8.8.8.8', without)).toBe(true);
      expect(await isPublic('10.0.0.1', without)).toBe(false);
    },
  );

  it.each(['ESERVFAIL', 'ETIMEOUT', 'ECONNREFUSED', 'EREFUSED'])(
    'are not known after %s: no IPv6 address passes for public, IPv4 goes on, and the next connection asks again',
    async (code) => {
      const answers = [
        () => Promise.reject(answered(code)),
        () => Promise.resolve(['2a01:4f8:122:344::c000:aa']),
      ];
      const translator = new TranslatedAddresses(() => answers.shift()?.() ?? Promise.resolve([]));
      await expect(isPublic('2a01:4f8:122:344::a00:1', translator)).rejects.toMatchObject({ code });
      expect(await isPublic('8.8.8.8', translator)).toBe(true);
      expect(answers).toHaveLength(1);
      expect(await isPublic('2a01:4f8:122:344::a00:1', translator)).toBe(false);
      expect(await isPublic('2a01:4f8:122:344::808:808', translator)).toBe(true);
      expect(answers).toEqual([]);
    },
  );

  it('are looked for once in a while, and not for IPv4', async () => {
    let now = 0;
    const asked: string[] = [];
    const translator = new TranslatedAddresses(
      (name) => (asked.push(name), Promise.resolve([])),
      () => now,
    );
    await translator.carriedBy('8.8.8.8');
    expect(asked).toEqual([]);
    await translator.carriedBy('2a00:1450:4001::200e');
    await translator.carriedBy('2a00:1450:4001::200e');
    expect(asked).toEqual(['ipv4only.arpa']);
    now = 11 * 60_000;
    await translator.carriedBy('2a00:1450:4001::200e');
    expect(asked).toHaveLength(2);
  });
});

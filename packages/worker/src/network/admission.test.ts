import { describe, expect, it } from 'vitest';
import type { OpenNetwork } from '../environment/network-policy.js';
import { admit, type Lookup } from './admission.js';
import { isPublicAddress } from './public-address.js';
import { parseConnectTarget } from './target.js';
import { domain } from './testing/proxy-under-test.js';

const allowed: OpenNetwork = {
  kind: 'allowed',
  domains: [
    { host: 'registry.example', subdomains: false, ports: [80, 443] },
    { host: 'cdn.example', subdomains: true, ports: [80, 443] },
    domain('git.example', 8443),
  ],
};
const open: OpenNetwork = { kind: 'public' };
const publicAddress = '93.184.215.14';

function ask(policy: OpenNetwork, written: string, lookup: Lookup = () => Promise.resolve([publicAddress])) {
  const target = parseConnectTarget(written);
  if (target === undefined) throw new Error(`"${written}" is no target.`);
  return admit(target, policy, { lookup, permits: isPublicAddress });
}

const forbidden = (sentence: string) => ({
  status: 403,
  message: expect.stringContaining(sentence) as string,
});

describe('a connection', () => {
  it('may be made to an allowed domain, at its ports', async () => {
    for (const target of [
      'registry.example:443',
      'REGISTRY.example.:80',
      'a.b.cdn.example:443',
      'git.example:8443',
    ]) {
      expect(await ask(allowed, target)).toEqual([publicAddress]);
    }
  });

  it.each([
    'other.example:443',
    'xregistry.example:443',
    'registry.example.evil.example:443',
    'sub.registry.example:443',
    'cdn.example:443',
    'evilcdn.example:443',
    'xn--bcher-kva.example:443',
    'registry:443',
    'localhost:443',
  ])("may not be made to %s, which is nobody's entry", async (target) => {
    await expect(ask(allowed, target)).rejects.toMatchObject(
      forbidden('is not on the list of allowed domains'),
    );
  });

  it('may not be made to another port than an entry opens', async () => {
    for (const target of [
      'registry.example:22',
      'registry.example:8443',
      'git.example:443',
      'registry.example:25',
    ]) {
      await expect(ask(allowed, target)).rejects.toMatchObject(forbidden('is not on the list'));
    }
    await expect(ask(open, 'example.org:22')).rejects.toMatchObject(forbidden('ports 80 and 443 only'));
  });

  it('may be made to every public host where the network is public, by name or address', async () => {
    expect(await ask(open, 'example.org:443')).toEqual([publicAddress]);
    expect(await ask(open, '1.1.1.1:443')).toEqual(['1.1.1.1']);
    expect(await ask(open, '[2606:4700:4700::1111]:80')).toEqual(['2606:4700:4700::1111']);
  });

  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0177.1',
    '127.1',
    '169.254.169.254',
    '10.0.0.1',
    '[::1]',
    '[::]',
    '[fd00:ec2::254]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
  ])('may not be made to %s, however public the network is', async (host) => {
    await expect(ask(open, `${host}:80`)).rejects.toMatchObject(forbidden('not public'));
  });

  it('may not be made to an address by an allow-list, as it has none', async () => {
    await expect(ask(allowed, `${publicAddress}:443`)).rejects.toMatchObject(
      forbidden('an address cannot be allowed'),
    );
  });

  it('goes to what was checked: private answers are left out, and only such answers refuse it', async () => {
    const answering = (...addresses: string[]) =>
      ask(allowed, 'registry.example:443', () => Promise.resolve(addresses));
    expect(await answering('10.0.0.1', publicAddress, '::1')).toEqual([publicAddress]);
    for (const address of [
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '::1',
      '::ffff:127.0.0.1',
      'fe80::1%lo',
      'registry.example',
    ]) {
      await expect(answering(address)).rejects.toMatchObject(forbidden('not public'));
    }
    await expect(answering()).rejects.toMatchObject(forbidden('not public'));
  });

  it('asks for a name once, and never for one that is not allowed', async () => {
    const asked: string[] = [];
    const lookup: Lookup = (name) => {
      asked.push(name);
      return Promise.resolve([publicAddress]);
    };
    await ask(allowed, 'Registry.Example.:443', lookup);
    await expect(ask(allowed, 'secret-in-a-name.evil.example:443', lookup)).rejects.toThrow();
    await expect(ask(open, 'example.org:25', lookup)).rejects.toThrow();
    expect(asked).toEqual(['registry.example']);
  });

  it('that cannot be resolved is no denial, and tells nothing of the resolver', async () => {
    const lookup: Lookup = () => Promise.reject(new Error('ENOTFOUND at 10.9.8.7'));
    await expect(ask(allowed, 'registry.example:443', lookup)).rejects.toMatchObject({
      status: 502,
      message: 'registry.example:443 cannot be reached: its name could not be resolved.',
    });
  });

  it('that is denied says how the operator can allow it', async () => {
    await expect(ask(allowed, 'new.example:443')).rejects.toThrow(
      'The operator can allow it: add "new.example" to `network: allow:` in the environment\'s definition and restart the worker.',
    );
    await expect(ask(allowed, 'db:443')).rejects.toThrow('A name without a dot cannot be allowed.');
  });

  it('that is denied at another port of a public network says that a list has to take its place', async () => {
    await expect(ask(open, 'new.example:8443')).rejects.toThrow(
      'new.example:8443 is refused: a public network opens the ports 80 and 443 only. The operator can allow it: put `network: allow:` with "new.example:8443", and with every other domain that is needed, in place of `network: public` in the environment\'s definition and restart the worker.',
    );
    await expect(ask(open, '1.1.1.1:8443')).rejects.toThrow('An address cannot be allowed there');
  });

  it('that is denied by a network of its own names the repository whose it is', async () => {
    await expect(ask({ ...allowed, repository: 'libs/api' }, 'new.example:443')).rejects.toThrow(
      'add "new.example" to `network: allow:` of the repository "libs/api" in the environment\'s definition',
    );
    await expect(ask({ ...open, repository: 'libs/api' }, 'new.example:8443')).rejects.toThrow(
      'in place of `network: public` of the repository "libs/api" in the environment\'s definition',
    );
  });

  it('goes to what could be judged, and where nothing could it is no denial', async () => {
    const target = parseConnectTarget('registry.example:443');
    if (target === undefined) throw new Error('It is a target.');
    const answering = (...addresses: string[]) =>
      admit(target, allowed, {
        lookup: () => Promise.resolve(addresses),
        permits: (address) =>
          address.includes(':') ? Promise.reject(new Error('ESERVFAIL')) : isPublicAddress(address),
      });
    expect(await answering('2606:4700:4700::1111', publicAddress)).toEqual([publicAddress]);
    await expect(answering('2606:4700:4700::1111', '10.0.0.1')).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('cannot be reached: the name service did not say') as string,
    });
  });
});

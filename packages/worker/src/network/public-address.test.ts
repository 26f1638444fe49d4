import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from './public-address.js';

const refused: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1', '127.1.2.3', '::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
  'link-local': ['169.254.1.1', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1'],
  shared: ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  broadcast: ['255.255.255.255'],
  metadata: [
    '169.254.169.254',
    '169.254.170.2',
    'fd00:ec2::254',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
  ],
  mapped: ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1'],
  Teredo: ['2001:0:53aa:64c:0:0:80ff:fffe', '2001::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '2001:2::1'],
  reserved: ['240.0.0.1', '192.0.0.1', '100::1', '4000::1', '8000::1', 'e000::1'],
  'no address': [
    '',
    'localhost',
    'example.org',
    '1.2.3',
    '0x7f.1',
    '010.0.0.1',
    '2130706433',
    '1.2.3.4.',
    ' 1.2.3.4',
    '[::1]',
  ],
};

describe('an address that the network may reach', () => {
  it('is one of the public internet', () => {
    const open = [
      '1.1.1.1',
      '8.8.8.8',
      '93.184.215.14',
      '172.32.0.1',
      '2606:4700:4700::1111',
      '2a00:1450:4001::200e',
    ];
    expect(open.filter((address) => !isPublicAddress(address))).toEqual([]);
  });

  it.each(Object.entries(refused))('is none that is %s', (_range, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });

  it("is none of the machine's own, whatever its range", () => {
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    expect(own.map(({ address }) => address).filter(isPublicAddress)).toEqual([]);
  });

  it('never carries an IPv4 address within an IPv6 one', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const high = ((a << 8) | b).toString(16);
        const low = ((c << 8) | d).toString(16);
        const forms = [
          `::ffff:${address}`,
          `::${address}`,
          `64:ff9b::${high}:${low}`,
          `2002:${high}:${low}::1`,
          `2001:0:${high}:${low}::1`,
        ];
        expect(forms.filter(isPublicAddress)).toEqual([]);
      }),
    );
  });
});

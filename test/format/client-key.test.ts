import { describe, expect, it } from 'vitest';
import { clientKey, networkKey } from '../../compiler/format/client-key.ts';

describe('clientKey()', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1', null],
    ['::ffff:10.0.0.1', '10.0.0.1', null],
    ['2001:db8:0:1::5', '2001:db8:0:1::/64', '2001:db8:0::/48'],
    ['2001:db8:0:1:ffff:2:3:4', '2001:db8:0:1::/64', '2001:db8:0::/48'],
    ['2001:0DB8:00F0::1', '2001:db8:f0:0::/64', '2001:db8:f0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
    ['', '', null],
  ])('counts %s as %s, in the network %s', (address, key, network) => {
    expect(clientKey(address)).toBe(key);
    expect(networkKey(address)).toBe(network);
  });
});

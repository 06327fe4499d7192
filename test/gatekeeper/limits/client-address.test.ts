import { describe, expect, it } from 'vitest';
import { clientAddress, trustedProxies } from '../../../gatekeeper/limits/client-address.ts';

const NOBODY = trustedProxies('');
const PROXIES = trustedProxies('10.0.0.1, 192.168.0.0/16, fd00::/8');

describe('clientAddress()', () => {
  it('I46: believes no forwarding header of a stranger', () => {
    expect(clientAddress('1.2.3.4', '9.9.9.9', NOBODY)).toBe('1.2.3.4');
    expect(clientAddress('1.2.3.4', '9.9.9.9', PROXIES)).toBe('1.2.3.4');
    expect(clientAddress('10.0.0.2', '9.9.9.9', PROXIES)).toBe('10.0.0.2');
  });

  it('takes the last hop that no trusted proxy is', () => {
    expect(clientAddress('10.0.0.1', '9.9.9.9', PROXIES)).toBe('9.9.9.9');
    expect(clientAddress('::ffff:10.0.0.1', '9.9.9.9', PROXIES)).toBe('9.9.9.9');
    expect(clientAddress('10.0.0.1', '6.6.6.6, 9.9.9.9, 192.168.3.4', PROXIES)).toBe('9.9.9.9');
    expect(clientAddress('fd00::1', '2001:db8::1', PROXIES)).toBe('2001:db8::1');
  });

  it('takes a hop with a port for its address, so that proxies which name one tell clients apart', () => {
    expect(clientAddress('10.0.0.1', '9.9.9.9:4000', PROXIES)).toBe('9.9.9.9');
    expect(clientAddress('10.0.0.1', '6.6.6.6, [2001:db8::1]:65535', PROXIES)).toBe('2001:db8::1');
    expect(clientAddress('10.0.0.1', '9.9.9.9, [fd00::7], 192.168.3.4:80', PROXIES)).toBe(
      '9.9.9.9',
    );
    const none = ['9.9.9.9:', '9.9.9.9:port', '[9.9.9.9', '[]:80', 'host:80', ':80', '9.9.9:80'];
    for (const hop of none) {
      expect(clientAddress('10.0.0.1', `6.6.6.6, ${hop}`, PROXIES), hop).toBe('10.0.0.1');
    }
  });

  it('I46: stops at a hop that is no address, whatever stands before it', () => {
    expect(clientAddress('10.0.0.1', '6.6.6.6, unknown', PROXIES)).toBe('10.0.0.1');
    expect(clientAddress('10.0.0.1', '6.6.6.6, , 192.168.0.9', PROXIES)).toBe('192.168.0.9');
    expect(clientAddress('10.0.0.1', null, PROXIES)).toBe('10.0.0.1');
  });
});

describe('trustedProxies()', () => {
  it('refuses what is no address and says what to give', () => {
    for (const list of ['proxy.local', '10.0.0.0/33', '10.0.0.0/x', '::1/129', '1.2.3.4/8/8']) {
      expect(() => trustedProxies(list), list).toThrow(/give 10\.0\.0\.1 or/);
    }
  });
});

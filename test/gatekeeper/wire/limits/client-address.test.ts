import { describe, expect, it } from 'vitest';
import {
  clientAddress,
  type Surroundings,
  surelyClient,
  trustedProxies,
} from '../../../../gatekeeper/wire/limits/client-address.ts';

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

describe('surelyClient()', () => {
  const PLAIN = { forwardedFor: null, via: null };
  const NONE = { proxies: trustedProxies(''), isPublic: true };
  const LOCAL = { ...NONE, isPublic: false };
  const FRONT = { ...NONE, proxies: trustedProxies('10.0.0.1') };

  it.each<[string, Parameters<typeof surelyClient>[1], Surroundings, string]>([
    ['203.0.113.9', PLAIN, NONE, '203.0.113.9'],
    ['127.0.0.1', PLAIN, LOCAL, '127.0.0.1'],
    ['10.0.0.1', { ...PLAIN, forwardedFor: '203.0.113.9' }, FRONT, '203.0.113.9'],
    ['10.0.0.1', { ...PLAIN, forwardedFor: 'a, 203.0.113.9', via: '1.1 x' }, FRONT, '203.0.113.9'],
  ])('I59: knows the client of %s with %j', (socket, ...[facts, around, client]) => {
    expect(surelyClient(socket, facts, around)).toBe(client);
  });

  it.each([
    ['203.0.113.9', { ...PLAIN, forwardedFor: '198.51.100.7' }, NONE],
    ['203.0.113.9', { ...PLAIN, via: '1.1 proxy' }, NONE],
    ['127.0.0.1', { ...PLAIN, via: '1.1 proxy' }, LOCAL],
    ['127.0.0.1', PLAIN, NONE],
    ['::ffff:172.17.0.1', PLAIN, NONE],
    ['fd00::1', PLAIN, NONE],
    ['10.0.0.1', PLAIN, FRONT],
    ['10.0.0.1', { ...PLAIN, forwardedFor: '10.0.0.1' }, FRONT],
    ['10.0.0.1', { ...PLAIN, forwardedFor: 'nobody' }, FRONT],
    ['10.0.0.2', { ...PLAIN, forwardedFor: '203.0.113.9' }, FRONT],
  ])('I59: does not know that of %s with %j', (socket, facts, around) => {
    expect(surelyClient(socket, facts, around)).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { isLoopback } from '../../../gatekeeper/system/loopback.ts';

describe('isLoopback()', () => {
  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.5.5.5', '::1', '[::1]', '::ffff:127.0.0.1'])(
    'knows "%s", as a setting, a URL or a socket spells it',
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  it.each([
    '',
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '127.evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'evil.example/127.0.0.1',
    '::1%eth0',
  ])('does not take "%s" for this machine', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});

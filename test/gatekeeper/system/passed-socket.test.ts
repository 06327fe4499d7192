import { describe, expect, it } from 'vitest';
import { passedSocket } from '../../../gatekeeper/system/passed-socket.ts';

describe('passedSocket()', () => {
  it('takes the one socket that was passed to this process', () => {
    expect(passedSocket({ LISTEN_PID: '7', LISTEN_FDS: '1' }, 7)).toBe(3);
  });

  it.each([
    [{}],
    [{ LISTEN_FDS: '1' }],
    [{ LISTEN_PID: '7' }],
    [{ LISTEN_PID: '8', LISTEN_FDS: '1' }],
  ])('takes none that was not: %j', (env) => {
    expect(passedSocket(env, 7)).toBe(null);
  });

  it('refuses several: one of them would be open and never answer', () => {
    expect(() => passedSocket({ LISTEN_PID: '7', LISTEN_FDS: '2' }, 7)).toThrow(
      /LISTEN_FDS is "2", .* keep one ListenStream= in the \.socket unit$/,
    );
  });
});

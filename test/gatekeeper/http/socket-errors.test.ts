import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { refuseFraming } from '../../../gatekeeper/http/socket-errors.ts';

function refused(code: string): string {
  const socket = new PassThrough();
  refuseFraming(code, socket as unknown as Socket);
  return String(socket.read() ?? '');
}

describe('refuseFraming()', () => {
  it.each([
    ['HPE_HEADER_OVERFLOW', '431'],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413'],
    ['ERR_HTTP_REQUEST_TIMEOUT', '408'],
    ['HPE_INVALID_METHOD', '400'],
  ])('answers %s once with %s and closes', (code, status) => {
    const text = refused(code);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toContain('Connection: close');
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('writes nothing to a socket that is gone', () => {
    const socket = new PassThrough();
    socket.destroy();
    expect(() => refuseFraming('X', socket as unknown as Socket)).not.toThrow();
  });
});

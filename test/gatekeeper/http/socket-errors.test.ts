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
    ['HPE_HEADER_OVERFLOW', '431', 'Headers longer than 16 KB; payment headers hold at most 8 KB'],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413', 'Not a valid HTTP request'],
    ['ERR_HTTP_REQUEST_TIMEOUT', '408', 'Not a valid HTTP request'],
    ['HPE_INVALID_METHOD', '400', 'Not a valid HTTP request'],
  ])('answers %s once with %s and closes', (code, status, error) => {
    const text = refused(code);
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toEqual({ error, no_charge: true });
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

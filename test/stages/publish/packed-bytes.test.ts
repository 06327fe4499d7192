import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packedBytes } from '../../../compiler/stages/publish/press.ts';

const BYTES = Buffer.from(JSON.stringify(Array.from({ length: 2000 }, (_, at) => ({ at }))));

describe('packedBytes()', () => {
  it('unpacks to the same bytes, and is far shorter', () => {
    const [br, gzip] = [packedBytes(BYTES, 'br'), packedBytes(BYTES, 'gzip')];
    expect(brotliDecompressSync(br)).toEqual(BYTES);
    expect(gunzipSync(gzip)).toEqual(BYTES);
    expect(gzip.length).toBeLessThan(BYTES.length / 4);
    expect(br.length).toBeLessThan(gzip.length);
  });

  it('names no system and no time, so it is the same everywhere and always', () => {
    const gzip = packedBytes(BYTES, 'gzip');
    expect(gzip.subarray(4, 8)).toEqual(Buffer.alloc(4));
    expect(gzip[9]).toBe(255);
    expect(packedBytes(BYTES, 'gzip')).toEqual(gzip);
    expect(packedBytes(BYTES, 'br')).toEqual(packedBytes(BYTES, 'br'));
  });
});

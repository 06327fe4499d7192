import { hash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';

// Every compile writes the same descriptions under two codings, which is half of what a compile of three readings
// costs. The same bytes under the same settings give the same result, so a worker packs them once for all its tests.
// A setup file runs again for each test file; what it imports does not.

/** Beyond this many bytes of results nothing more is kept. */
const KEPT_BYTES_MAX = 64 * 2 ** 20;

type Pack = (input: zlib.InputType, options?: object) => Buffer<ArrayBuffer>;

const kept = new Map<string, Buffer<ArrayBuffer>>();
let keptBytes = 0;

/** The same function, which remembers what it made. */
function once(name: string, pack: Pack): Pack {
  return (input, options = {}) => {
    if (!(input instanceof Uint8Array)) return pack(input, options);
    const key = `${name} ${JSON.stringify(options)} ${hash('sha256', input, 'hex')}`;
    const known = kept.get(key);
    // A copy, since whoever packs may write into it.
    if (known !== undefined) return Buffer.from(known);
    const made = pack(input, options);
    if (keptBytes + made.length <= KEPT_BYTES_MAX) {
      kept.set(key, Buffer.from(made));
      keptBytes += made.length;
    }
    return made;
  };
}

zlib.brotliCompressSync = once('brotli', zlib.brotliCompressSync);
zlib.gzipSync = once('gzip', zlib.gzipSync);
zlib.deflateSync = once('deflate', zlib.deflateSync);
syncBuiltinESMExports();

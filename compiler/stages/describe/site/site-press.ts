import { GZIP_END } from '../../../contract/site.ts';
import type { Press } from '../../publish/press.ts';
import { gzipBytes } from './gzip-bytes.ts';

/** Less is not worth a second file. */
const PACKED_BYTES_MIN = 4096;

export function isPacked(bytes: Uint8Array): boolean {
  return bytes.length >= PACKED_BYTES_MIN;
}

/** Writes a file of the page, and, unless it is short, the same under gzip beside it. */
export function pressPacked(
  press: Pick<Press, 'file'>,
  path: string,
  content: string | Buffer,
): void {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  press.file(path, bytes);
  if (isPacked(bytes)) press.file(path + GZIP_END, gzipBytes(bytes));
}

import { GZIP_END } from '../../../contract/site.ts';
import type { Press } from '../../publish/press.ts';
import { gzipBytes } from './gzip-bytes.ts';

/** Writes a file of the page, and the same under gzip beside it. */
export function pressPacked(press: Pick<Press, 'file'>, path: string, text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  press.file(path, bytes);
  press.file(path + GZIP_END, gzipBytes(bytes));
}

import type { StaticRow } from '../../compiler/contract/static-files.ts';
import type { StaticFile } from '../answers/service.ts';
import { type Header, jsonReply } from '../http/reply.ts';
import { SITE_POLICY } from '../release/page-parts.ts';

/** Seconds that anybody may keep a file that a later release may replace. */
const RELEASE_MAX_AGE_S = 60;

const CACHE = {
  immutable: 'public, max-age=604800, immutable',
  release: `public, max-age=${RELEASE_MAX_AGE_S}`,
} as const;
const METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** What a reply says of a file of this hash. */
export function sentAs(
  { contentType, cache, site }: Pick<StaticRow, 'contentType' | 'cache' | 'site'>,
  sha256: string,
): { readonly headers: readonly Header[]; readonly etag: string } {
  const etag = `"${sha256.slice(0, 32)}"`;
  const headers: Header[] = [
    ['content-type', contentType],
    ['etag', etag],
    ['cache-control', CACHE[cache]],
    ['x-content-type-options', 'nosniff'],
    ...(site === true ? SITE_POLICY : []),
  ];
  return { headers, etag };
}

/** The refusal of any other method than that of a file; null for one that it answers. */
export function wrongMethod(path: string, method: string): StaticFile | null {
  if (METHODS.includes(method)) return null;
  const error = `${method} is not a method of ${path.slice(0, 200)}; send GET`;
  const reply = jsonReply(405, { error, allow: METHODS }, [['allow', METHODS.join(', ')]]);
  return { reply, etag: null };
}

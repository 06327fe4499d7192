import { findStaticFile } from '../../compiler/contract/static-files.ts';
import { type Header, jsonReply, type Reply } from '../http/reply.ts';
import { codedFile } from './coded-file.ts';
import { SITE_POLICY } from './page-parts.ts';
import type { ReleaseReader } from './release-index.ts';

/** Seconds that anybody may keep a file that a later release may replace. */
const RELEASE_MAX_AGE_S = 60;

const CACHE = {
  immutable: 'public, max-age=604800, immutable',
  release: `public, max-age=${RELEASE_MAX_AGE_S}`,
} as const;
const METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** A request for a file. */
interface Asked {
  readonly path: string;
  readonly method: string;
  readonly acceptEncoding: string;
}

interface GivenFile {
  readonly reply: Reply;
  readonly etag: string | null;
}

/** The file that a path names, as it stands in the release; null at once when the release has none there. */
export function staticFile(
  { path, method, acceptEncoding }: Asked,
  reader: ReleaseReader,
): Promise<GivenFile> | null {
  const found = findStaticFile(path);
  if (found === null || !reader.release.has(found.path)) return null;
  if (METHODS.includes(method)) return storedFile(found, acceptEncoding, reader);
  return Promise.resolve({ reply: wrongMethod(path, method), etag: null });
}

async function storedFile(
  { row, path }: NonNullable<ReturnType<typeof findStaticFile>>,
  acceptEncoding: string,
  { release, spend }: ReleaseReader,
): Promise<GivenFile> {
  const { place, headers: coded } = codedFile(path, acceptEncoding, release);
  const { bytes, sha256 } = await release.body(place, spend);
  const etag = `"${sha256.slice(0, 32)}"`;
  const headers: Header[] = [
    ['content-type', row.contentType],
    ['etag', etag],
    ['cache-control', CACHE[row.cache]],
    ['x-content-type-options', 'nosniff'],
    ...(row.site === true ? SITE_POLICY : []),
    ...coded,
  ];
  return { reply: { status: 200, headers, body: bytes }, etag };
}

function wrongMethod(path: string, method: string): Reply {
  const error = `${method} is not a method of ${path.slice(0, 200)}; send GET`;
  return jsonReply(405, { error, allow: METHODS }, [['allow', METHODS.join(', ')]]);
}

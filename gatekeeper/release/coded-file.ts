import { packedPath } from '../../compiler/contract/codings.ts';
import { acceptedCoding } from '../http/accepted-coding.ts';
import type { Header } from '../http/reply.ts';
import type { ReleaseIndex } from './release-index.ts';

/** The stored form of a file that a client likes best. */
export interface CodedFile {
  readonly place: string;
  /** What its reply says about that. */
  readonly headers: readonly Header[];
}

const VARY: Header = ['vary', 'accept-encoding'];

/** A file that has a packed form is sent packed to who takes it; one that has none is sent as it is. */
export function codedFile(path: string, acceptEncoding: string, release: ReleaseIndex): CodedFile {
  if (!release.has(packedPath(path, 'gzip'))) return { place: path, headers: [] };
  const coding = acceptedCoding(acceptEncoding);
  const packed = coding === null ? null : packedPath(path, coding);
  if (coding === null || !release.has(packed)) return { place: path, headers: [VARY] };
  return { place: packed, headers: [VARY, ['content-encoding', coding]] };
}

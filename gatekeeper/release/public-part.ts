import { type PublicFile, publicFileUrl } from '../../compiler/contract/public-files.ts';
import { FILES_NAME } from '../../compiler/contract/release.ts';
import { hexInTurns } from '../system/in-turns.ts';
import { oncePerRelease, perRelease } from './per-release.ts';
import { DamagedFileError } from './read-body.ts';
import type { ReleaseIndex, ReleaseReader } from './release-index.ts';

/** Longest file of an earlier release that is given, whose size no list at hand says. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

const publicLines = perRelease(async ({ files, head }: ReleaseIndex) => {
  const bytes = files.publicLines();
  const sha256 = await hexInTurns(bytes);
  return { bytes, sha256, isSigned: `sha256:${sha256}` === head.public_files?.sha256 };
});

/** Whether the head signs a list of what anybody may have; older ones do not. */
export function hasPublicList({ head }: ReleaseIndex): boolean {
  return head.public_files !== undefined;
}

/** The lines of the list that anybody may have, with their sha256 in hex; throws where they are not those of the head. */
export async function publicList(
  release: ReleaseIndex,
): Promise<{ readonly bytes: Buffer; readonly sha256: string }> {
  const lines = await publicLines(release);
  if (lines.isSigned) return lines;
  throw new DamagedFileError(
    `Cannot serve "${FILES_NAME}": its public lines are not those of the head; compile again`,
  );
}

/** Files that are being read, by the URL of each. */
const reading = oncePerRelease(() => new Map<string, Promise<Buffer | null>>());

/**
 * The bytes of a public file of this release, or of an earlier one that is still kept, so that a download outlives a switch; null
 * where there is none. They stay out of the memory that is for buyers, and many who ask at once share one reading.
 */
export function publicBytes(file: PublicFile, reader: ReleaseReader): Promise<Buffer | null> {
  const files = reading(reader.release);
  const url = publicFileUrl(file);
  const known = files.get(url);
  if (known !== undefined) return known;
  const bytes = readPublic(file, reader).finally(() => files.delete(url));
  files.set(url, bytes);
  return bytes;
}

async function readPublic(
  { path, sha256 }: PublicFile,
  { release, spend }: ReleaseReader,
): Promise<Buffer | null> {
  const listed = release.files.get(path);
  if (listed?.sha256 === sha256) return release.place.body(listed, spend);
  return release.place.kept({ path, sha256, size: KEPT_BYTES_MAX }, spend);
}

import { createHash, hash } from 'node:crypto';
import type { Sha256 } from '../../../compiler/format/merkle.ts';
import type { FileEntry } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';

/** A listed file that is missing, changed or not a plain file: never served, never charged. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';
  /** Who threw it has said so in the log. */
  readonly isLogged: boolean;

  constructor(message: string, options: ErrorOptions & { isLogged?: boolean } = {}) {
    super(message, options);
    this.isLogged = options.isLogged ?? false;
  }
}

/** A listed file that cannot be had at this moment, and nobody knows more: never served, never charged. */
export class UnreachableFileError extends Error {
  override readonly name = 'UnreachableFileError';
  readonly isLogged = true;
}

/** Whether the log says already what is wrong with a file. */
export function isLogged(error: unknown): boolean {
  const isOurs = error instanceof DamagedFileError || error instanceof UnreachableFileError;
  return isOurs && error.isLogged;
}

/** How a file of at most so many bytes comes off the disk, or so many from a place on; tests replace it. */
export type ReadFile = (path: string, max: number, start?: number) => Promise<Buffer>;

/** Reads a listed file of a data folder and checks its hash; throws a DamagedFileError for any difference. */
export async function readBody(data: string, entry: FileEntry, read: ReadFile): Promise<Buffer> {
  const place = `${data}/${storedPath(entry.path, entry.sha256)}`;
  const bytes = await read(place, entry.size).catch((cause: unknown) => {
    throw new DamagedFileError(`Cannot serve "${entry.path}": unreadable; compile again`, {
      cause,
    });
  });
  if (hasHash(bytes, entry.sha256)) return bytes;
  throw new DamagedFileError(`Cannot serve "${entry.path}": hash differs; compile again`);
}

/** Whether bytes have this sha256, in hex. */
export function hasHash(bytes: Buffer, sha256: string): boolean {
  return createHash('sha256').update(bytes).digest('hex') === sha256;
}

export const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer');

const NAME = '"_citation":';

/** More than any citation is long. */
const CITATION_BYTES_MAX = 16 * 1024;

/** The JSON text of the citation of a stored body, or of its end: it is the last member of every sealed body. */
export function citationText(body: string): string {
  const text = body.trimEnd();
  return text.slice(text.lastIndexOf(NAME) + NAME.length, -1);
}

/** The citation of a stored or delivered body, however long that is; null for a body that ends otherwise. */
export function citationOf(body: Buffer): Readonly<Record<string, unknown>> | null {
  const end = body.subarray(-CITATION_BYTES_MAX).toString('utf8');
  if (!end.includes(NAME)) return null;
  try {
    return JSON.parse(citationText(end));
  } catch {
    return null;
  }
}

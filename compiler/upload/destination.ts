import type { FileEntry } from '../contract/release.ts';

/** A file of a data folder, read and checked. */
export interface LocalFile {
  /** Where it stands on this machine. */
  readonly place: string;
  readonly bytes: Buffer;
}

/** A place that releases are published to. Paths are those below a data folder. */
export interface Destination {
  /** For people; it holds no secret. */
  readonly name: string;
  /** How many files may be written at once. */
  readonly parallel: number;
  /** The bytes of a file; null where there is none. Throws an UploadError, beyond `max` bytes a LongerError. */
  read(path: string, max: number): Promise<Buffer | null>;
  /** Writes a file whole or not at all; throws an UploadError. */
  write(path: string, file: LocalFile): Promise<void>;
  /** Whether a file is there that an earlier run wrote, where a power cut could have undone that. */
  holds?(path: string, file: Pick<FileEntry, 'sha256' | 'size'>): boolean;
  /** Makes a release the current one; everything else of it was written before. */
  switchTo(release: string, head: LocalFile): Promise<void>;
  /** Removes a file, which may be gone already; null where that is not possible. */
  readonly remove: ((path: string) => Promise<void>) | null;
  close(): Promise<void>;
}

/** Why a release could not be published; nothing that was served has changed. */
export class UploadError extends Error {
  override readonly name = 'UploadError';
}

/** A file there has more bytes than what was published. */
export class LongerError extends UploadError {}

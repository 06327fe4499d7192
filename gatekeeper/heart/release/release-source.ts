import { messageOf } from '../../../compiler/format/errors.ts';
import type { FileEntry, Release } from '../../../compiler/format/release.ts';
import { MINT_PATH } from '../../settle/token.ts';
import type { Spend } from '../../wire/cost.ts';
import { DamagedFileError } from './read-body.ts';

export interface ReleaseFolder {
  /** Names of the releases there, in no order; rejects where nobody can tell. */
  names(): Promise<readonly string[]>;
  /** One of them; throws a StartError when its head cannot be read. */
  place(name: string): Promise<ReleasePlace>;
}

/** Which bytes of a file are wanted. */
export interface LogPart {
  /** Most bytes that are read. */
  readonly max: number;
  /** Where they begin; the whole file is wanted where it is absent. */
  readonly start?: number;
  /** Why they are not what was wanted, as far as whoever asks can tell; null where they are. */
  readonly fault: (bytes: Buffer) => string | null;
}

/** What such a check throws, in words; null where it throws nothing. */
export function faultOf(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Bytes of a file of the log; throws a DamagedFileError where there is none. */
export async function readLog(
  place: Pick<ReleasePlace, 'log'>,
  path: string,
  part: LogPart,
): Promise<Buffer> {
  const bytes = await place.log(path, part);
  if (bytes !== null) return bytes;
  throw new DamagedFileError(`Cannot read the log: "${path}" is missing; restore it from a copy`);
}

/** A release where it stands. Nothing that comes from there is trusted before it was checked. */
export interface ReleasePlace {
  /** Equal for the same release of the same source. */
  readonly mark: string;
  /** The bytes of RELEASE_NAME. */
  readonly head: Buffer;
  /** Whether its files are still there, as far as a quick look tells. */
  isThere(): Promise<boolean>;
  /** The bytes of FILES_NAME, at most `max`; throws a StartError when they cannot be read. */
  list(head: Release, max: number): Promise<Buffer>;
  /**
   * Bytes of a file of the log, which stands beside the releases, by its path below the data folder; null where there is no
   * such file. Rejects like `body`.
   */
  log(path: string, part: LogPart): Promise<Buffer | null>;
  /** What is made of the log now; where that fails, what was made of it before and is still good. */
  lasting(make: () => Promise<Buffer>, isGood: (bytes: Buffer) => boolean): Promise<Buffer>;
  /** The checked bytes of a listed file, at somebody's cost; throws a DamagedFileError or an UnreachableFileError. */
  body(entry: FileEntry, spend: Spend): Promise<Buffer>;
  /**
   * The same of a file that an earlier release may have listed; null where none is at hand under both its path and its hash.
   * `size` is the most that is read.
   */
  kept(entry: FileEntry, spend: Spend): Promise<Buffer | null>;
}

/** A checked release, as far as a source needs to know it. */
export interface KnownRelease {
  readonly place: ReleasePlace;
  readonly head: Release;
  readonly files: {
    get(path: string): FileEntry | undefined;
    values(): Iterable<FileEntry>;
  };
}

/** Where releases are read from: a folder of this machine, or a host that serves such a folder. */
export interface ReleaseSource {
  /** Where the newest release stands among others; absent where only that one can be had. */
  readonly folder?: ReleaseFolder;
  /** How often `mark` is asked when nothing else reports a change, in milliseconds. */
  readonly pollMs: number;
  /** The mark of the newest release; null when it cannot be read. Never rejects. */
  mark(): Promise<string | null>;
  /** The newest release; throws a StartError that tells what to do when there is none. */
  newest(): Promise<ReleasePlace>;
  /** The release that was served last, where this source keeps a copy of it; null for none. */
  kept?(): Promise<ReleasePlace | null>;
  /** Brings close what is likely to be asked of a release, before it takes the place of another one. Never rejects. */
  prepare?(next: KnownRelease, current: KnownRelease | null): Promise<void>;
  /** Says which release is served from now on. Never rejects. */
  served?(release: KnownRelease): Promise<void>;
  /** Calls back when there may be a newer release; null or absent where only asking tells. */
  watch?(changed: () => void): { close(): void } | null;
  /** What keeps a newer release from being found and is not told to the state of the service; null when nothing does. */
  failure?(): string | null;
  close(): Promise<void>;
}

/** What a release says about one operation; every description and every refusal says exactly this. */
export interface Offer {
  /** Something is stored, so that a request is answered. */
  readonly sellsNow: boolean;
  /** Decimal USD of `request`, '0' for what is free. */
  readonly priceUsd: string;
  /** A canonical target that answers 402 or 200. */
  readonly request: string;
  /** Main members of an answer; null where nothing is paid. */
  readonly output: Readonly<Record<string, unknown>> | null;
  /** The entry of the compiled manifest. */
  readonly entry: Readonly<Record<string, unknown>> & { readonly subjects?: readonly string[] };
}

/** What is offered, by path of the operation, in the order of the table; what the operator left off is missing. */
export type Offers = ReadonlyMap<string, Offer>;

/** What the operator should know where a release offers subscriptions that this gatekeeper cannot sell. */
export function subscriptionWarnings(offers: Offers, hasSecret: boolean): readonly string[] {
  if (hasSecret || !offers.has(MINT_PATH)) return [];
  return [
    'The release offers subscriptions, and no secret is set to sign tokens with: these operations answer 501. Set ' +
      'SIGNALPRESS_TOKEN_SECRET, or compile with --no-subscriptions',
  ];
}

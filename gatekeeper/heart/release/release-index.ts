import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import type { KeyHistory } from '../../../compiler/format/key-history.ts';
import type { Release } from '../../../compiler/format/release.ts';
import { filePath } from '../../../compiler/products/shapes/path.ts';
import {
  deliveredText,
  mayOweRequestTime,
  wholeSecond,
} from '../../../compiler/products/shapes/request-time.ts';
import type { Spend } from '../../wire/cost.ts';
import { BoundedMap, OwnValues } from '../../wire/maps.ts';
import type { ListedFiles } from './listed-files.ts';
import type { Offers, ReleasePlace } from './release-source.ts';

/** A stored body whose hash was checked when it was read. */
export interface Body {
  readonly bytes: Buffer;
  readonly sha256: string;
  /** Whether it has members of request time when it is delivered. */
  readonly isTimed: boolean;
  /** What is worked out of it, for as long as it is in memory. */
  readonly own: OwnValues;
}

/** A release for one request, which pays for the files that have to be read. */
export interface ReleaseReader {
  readonly release: ReleaseIndex;
  readonly spend: Spend;
}

export interface ReadOptions {
  readonly memoryBytes?: number;
  /** Told of each body that is asked for: whether it was in memory. */
  readonly onRead?: (isCached: boolean) => void;
  /** A clock that never goes back, in milliseconds; that of the process unless given. */
  readonly now?: () => number;
}

/** Bytes of bodies kept in memory when the operator sets nothing else; the system keeps the files that are read often. */
const MEMORY_BYTES = 12 * 1024 * 1024;

/** Bytes of bodies that are kept as they were delivered last. */
const DELIVERED_BYTES_MAX = 4 * 1024 * 1024;

/** One verified release: paths, sizes and hashes in memory, bodies on demand. */
export class ReleaseIndex {
  readonly head: Release;
  /** Every key of the issuer; the one of the head alone where the release lists none. */
  readonly keys: KeyHistory;
  readonly place: ReleasePlace;
  readonly files: ListedFiles;
  readonly catalog: Catalog;
  readonly offers: Offers;
  readonly #cache: BoundedMap<string, Body>;
  readonly #loading = new Map<string, Promise<Body>>();
  /** Timed bodies as they are delivered in some second, by the hash of the stored body, which decides all but the second. */
  readonly #delivered = new BoundedMap<string, { bytes: Buffer; second: number }>({
    bytes: DELIVERED_BYTES_MAX,
    isByUse: true,
  });
  readonly options: ReadOptions;
  /** What its readers work out of it (`perRelease`). */
  readonly own = new OwnValues();

  constructor(
    place: ReleasePlace,
    listed: Pick<ReleaseIndex, 'head' | 'keys' | 'files' | 'catalog' | 'offers'>,
    options: ReadOptions = {},
  ) {
    this.place = place;
    this.head = listed.head;
    this.keys = listed.keys;
    this.files = listed.files;
    this.catalog = listed.catalog;
    this.offers = listed.offers;
    this.#cache = new BoundedMap({ bytes: options.memoryBytes ?? MEMORY_BYTES, isByUse: true });
    this.options = options;
  }

  has(path: string | null): path is string {
    return path !== null && this.files.has(path);
  }

  /** The body of a listed path at somebody's cost; throws a Damaged- or UnreachableFileError, a RangeError when not listed. */
  async body(path: string, spend: Spend): Promise<Body> {
    const known = this.#cache.get(path) ?? this.#loading.get(path);
    this.options.onRead?.(known !== undefined);
    if (known !== undefined) return known;
    const entry = this.files.get(path);
    if (entry === undefined) throw new RangeError(`Cannot read "${path}": not in the release`);
    const loading = this.place
      .body(entry, spend)
      .then((bytes) => {
        const body = {
          bytes,
          sha256: entry.sha256,
          isTimed: mayOweRequestTime(bytes),
          own: new OwnValues(),
        };
        this.#cache.set(path, body, bytes.length);
        return body;
      })
      .finally(() => this.#loading.delete(path));
    this.#loading.set(path, loading);
    return loading;
  }

  /** The bytes of a body at an instant: those of the release where nothing in it depends on time, else made once a second. */
  bytesAt({ bytes: stored, isTimed, sha256 }: Body, now: number): Buffer {
    if (!isTimed) return stored;
    const second = wholeSecond(now);
    const known = this.#delivered.get(sha256);
    if (known?.second === second) return known.bytes;
    const bytes = Buffer.from(deliveredText(stored.toString('utf8'), second));
    this.#delivered.set(sha256, { bytes, second }, bytes.length);
    return bytes;
  }
}

/** The path of the file of a request; null for values that no file name can be made of. */
export function requestFile(...request: Parameters<typeof filePath>): string | null {
  try {
    return filePath(...request);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * Works something out once for each release, which holds it: two may be asked about in turn while one takes the place of the
 * other. A failure is not kept.
 */
export function perRelease<Value>(
  make: (release: ReleaseIndex) => Value,
): (release: ReleaseIndex) => Value {
  return (release) => release.own.once(make, release);
}

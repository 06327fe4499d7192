import { BUILTIN } from '../catalog/builtin.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { CATALOG_URL, RELEASE_URL } from '../catalog/static-files.ts';
import { parseCatalog } from '../catalog/whole-catalog.ts';
import { answerBytes } from '../format/answer-bytes.ts';
import { messageOf } from '../format/errors.ts';
import { networkFault } from '../format/network-fault.ts';
import { HEAD_BYTES_MAX, isStale } from '../format/release.ts';
import type { KeyTrust } from '../verify/key-trust.ts';
import { type ProvenCatalog, provenCatalog } from '../verify/signed-head.ts';
import { ClientError } from './client-error.ts';
import type { TripOptions } from './payment-trip.ts';

export interface CatalogSource {
  /** What bodies and requests mean. */
  readonly known: () => Promise<Catalog>;
  /** What is sold now; rejects where the service serves nothing but a release that its issuer gave up. */
  readonly forSale: () => Promise<Catalog>;
  /** Asks the service again for what it sells now; null where the catalogue was given. */
  readonly newest: (() => Promise<Catalog>) | null;
}

/** A catalogue that was there from the start: the built-in one, or that of a `catalog.json`. */
export function fixedCatalog(file: Uint8Array | undefined): CatalogSource {
  const catalog = file === undefined ? BUILTIN : parseCatalog(file);
  const known = async (): Promise<Catalog> => catalog;
  return { known, forSale: known, newest: null };
}

/**
 * The catalogue that a service gives away, asked for when it is needed and kept. A service can replay an old one, signed as
 * it is: of those that this source was given, an older one never takes the place of a newer one, and nothing is bought by one
 * that is past its `valid_until`. `now` is in epoch milliseconds.
 */
export function catalogOfService(address: CatalogAddress, now: () => number): CatalogSource {
  let newest: ProvenCatalog | null = null;
  let asked: Promise<ProvenCatalog> | null = null;
  const ask = async (): Promise<ProvenCatalog> => {
    const found = await servedCatalog(address);
    if (newest === null || found.head.sequence >= newest.head.sequence) newest = found;
    return newest;
  };
  const asking = (): Promise<ProvenCatalog> => {
    asked ??= ask().finally(() => {
      asked = null;
    });
    return asked;
  };
  const current = ({ catalog, head }: ProvenCatalog): Catalog => {
    if (!isStale(head, now())) return catalog;
    throw new ClientError(
      `Cannot buy by the catalogue of "${address.root}": its release was valid until ${head.valid_until}; ask when the service has a newer one`,
      { code: 'failed' },
    );
  };
  return {
    known: async () => (newest ?? (await asking())).catalog,
    forSale: async () => {
      const isOld = newest === null || isStale(newest.head, now());
      return current(newest === null || isOld ? await asking() : newest);
    },
    newest: async () => current(await asking()),
  };
}

/** A release may change between the two files. */
const TRIES = 2;

/** Where a service gives its catalogue away, and whose signature it has to have. */
export interface CatalogAddress extends Pick<TripOptions, 'fetch' | 'timeoutMs'> {
  /** Public address of the service, without a slash at its end. */
  readonly root: string;
  readonly trusted: KeyTrust;
}

/** The catalogue that a service gives away, proven by its signed head; rejects with a ClientError where it is not. */
export async function servedCatalog(source: CatalogAddress): Promise<ProvenCatalog> {
  let cause: unknown;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const head = await bytesAt(RELEASE_URL, source, HEAD_BYTES_MAX);
    const catalog = await bytesAt(CATALOG_URL, source);
    try {
      return provenCatalog({ head, catalog, ...source.trusted });
    } catch (error) {
      cause = error;
    }
  }
  const why = messageOf(cause);
  throw new ClientError(`Cannot rely on the catalogue of "${source.root}": ${why}`, {
    code: 'failed',
    cause,
  });
}

async function bytesAt(
  path: string,
  { root, fetch, timeoutMs }: CatalogAddress,
  max?: number,
): Promise<Uint8Array> {
  const url = root + path;
  try {
    const response = await fetch(new Request(url, { signal: AbortSignal.timeout(timeoutMs) }));
    if (response.status !== 200) throw new RangeError(`status ${response.status}`);
    return await answerBytes(response, max);
  } catch (cause) {
    const known = cause instanceof RangeError ? cause.message : networkFault(cause)?.words;
    const why = known ?? 'no readable answer';
    throw new ClientError(`Cannot read "${url}": ${why}`, { code: 'failed', cause });
  }
}

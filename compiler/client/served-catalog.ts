import { networkFault } from '../contract/network-fault.ts';
import { HEAD_BYTES_MAX } from '../contract/release.ts';
import { CATALOG_URL, RELEASE_URL } from '../contract/static-files.ts';
import type { KeyTrust } from '../verify/key-trust.ts';
import { type ProvenCatalog, provenCatalog } from '../verify/proven-catalog.ts';
import { answerBytes } from './answer-bytes.ts';
import { ClientError } from './client-error.ts';
import type { TripOptions } from './payment-trip.ts';

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
  const why = cause instanceof Error ? cause.message : String(cause);
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

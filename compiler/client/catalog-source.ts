import { BUILTIN } from '../contract/catalog/builtin.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import { parseCatalog } from '../contract/catalog/whole-catalog.ts';
import { isStale } from '../contract/release.ts';
import type { ProvenCatalog } from '../verify/proven-catalog.ts';
import { ClientError } from './client-error.ts';
import { type CatalogAddress, servedCatalog } from './served-catalog.ts';

/** What a service sells. */
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
    if (isStale(head, now())) throw stale(address.root, head.valid_until);
    return catalog;
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

function stale(root: string, until: string | undefined): ClientError {
  return new ClientError(
    `Cannot buy by the catalogue of "${root}": its release was valid until ${until}; ask when the service has a newer one`,
    { code: 'failed' },
  );
}

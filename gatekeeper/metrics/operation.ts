import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { findRow } from '../../compiler/contract/route.ts';
import { HEALTH_PATH, METRICS_PATH } from '../http/own-paths.ts';
import { BoundedMap } from '../system/bounded-map.ts';

/** Paths of the table that are remembered; those with a hash in them have no end. */
const KNOWN_MAX = 4096;

/**
 * Names what was asked, in as many words as the table has rows and a few more. A path that a stranger made up is never
 * one of them: metrics are kept for ever.
 */
export class Operations {
  readonly #known = new BoundedMap<string, string>(KNOWN_MAX);
  readonly #catalog: () => Catalog;

  /** `catalog` is that of the release which is served. */
  constructor(catalog: () => Catalog) {
    this.#catalog = catalog;
  }

  /** `path` as the log has it: in brackets where no request was read. */
  of(path: string, status: number): string {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const row = findRow(path, this.#catalog())?.row.path;
    if (row !== undefined) {
      this.#known.set(path, row);
      return row;
    }
    if (path === HEALTH_PATH || path === METRICS_PATH) return path;
    if (path.startsWith('(')) return 'refused';
    return status === 404 || status === 405 ? 'unknown' : 'file';
  }
}

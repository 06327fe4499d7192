import { defined } from '../../../compiler/format/defined.ts';
import { firstHistory, formatKeyHistory } from '../../../compiler/format/key-history.ts';
import type { Release } from '../../../compiler/format/release.ts';
import { releaseEntryBytes } from '../../../compiler/format/release-entry.ts';
import { tilePath } from '../../../compiler/format/tiles.ts';
import { appendEntries, edgeTiles, type TreeEdge } from '../../../compiler/release/log-tree.ts';
import { canonicalHash } from '../../../compiler/verify/body-check.ts';
import { DID, entryOf, noteOf, SEED, signedHeadText } from './lying-service.ts';

interface Grown {
  readonly as_of: string;
  readonly head?: Partial<Release>;
  readonly seed?: number;
}

/** The files of an honest service over years: partial tiles of older sizes go, so that each release costs the same. */
export class GrowingService extends Map<string, Buffer | Uint8Array | string | null> {
  readonly #edge: TreeEdge = { size: 0, rows: [], bundle: [] };
  #newest: Release | null = null;

  constructor() {
    super();
    this.set('/.well-known/keys.json', formatKeyHistory(firstHistory(DID)));
  }

  /** Entries of the log. */
  get count(): number {
    return this.#edge.size;
  }

  publish({ as_of, head = {}, seed = SEED }: Grown): void {
    const members: Partial<Release> = {
      sequence: (this.#newest?.sequence ?? 0) + 1,
      as_of,
      previous: this.#newest === null ? null : canonicalHash(this.#newest),
      ...head,
    };
    const text = signedHeadText(members, seed);
    this.#newest = JSON.parse(text) as Release;
    const before = edgeTiles(this.count).map(tilePath);
    const grown = appendEntries(this.#edge, [releaseEntryBytes(entryOf(this.#newest))]);
    const now = new Set(edgeTiles(this.count).map(tilePath));
    for (const path of before) if (!now.has(path)) this.delete(`/${path}`);
    for (const [path, bytes] of grown) this.set(`/${path}`, bytes);
    this.set('/.well-known/release.json', text);
    this.set('/log/checkpoint', noteOf(this.#edge, seed));
  }

  /** The newest head. */
  get newest(): Release {
    return defined(this.#newest ?? undefined, 'a release');
  }
}

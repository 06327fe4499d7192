import { hash } from 'node:crypto';
import { logOrigin } from '../../compiler/contract/checkpoint.ts';
import { defined } from '../../compiler/contract/defined.ts';
import { firstHistory, formatKeyHistory } from '../../compiler/contract/key-history.ts';
import { hashOfSubtrees, leafHash, nodeHash, subtreesOf } from '../../compiler/contract/merkle.ts';
import type { Release } from '../../compiler/contract/release.ts';
import { logEntry, parseTilePath, TILE_HEIGHT } from '../../compiler/contract/tiles.ts';
import { canonicalHash } from '../../compiler/verify/body-check.ts';
import { hashes } from '../stages/anchor/memory-log.ts';
import { InventedLog } from '../witness/invented-log.ts';
import { BASE_URL, DID, SEED, signedHeadText } from './lying-service.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

interface Grown {
  readonly as_of: string;
  /** Entries beside that of the head. */
  readonly entries?: number;
  readonly head?: Partial<Release>;
  readonly seed?: number;
}

/** The files of an honest service over years: a tile is made when it is asked for, so that each release costs the same. */
export class GrowingService extends Map<string, Buffer | Uint8Array | string | null> {
  /** Hashes of complete subtrees, by height. */
  readonly #levels: Uint8Array[][] = [[]];
  readonly #signers = new Map<number, InventedLog>();
  #newest: Release | null = null;

  constructor() {
    super();
    this.set('/.well-known/keys.json', formatKeyHistory(firstHistory(DID)));
  }

  /** Entries of the log. */
  get count(): number {
    return this.#levels[0]?.length ?? 0;
  }

  publish({ as_of, entries = 10, head = {}, seed = SEED }: Grown): void {
    for (const entry of hashes(this.count, entries)) this.#append(entry);
    const members: Partial<Release> = {
      sequence: (this.#newest?.sequence ?? 0) + 1,
      as_of,
      previous: this.#newest === null ? null : canonicalHash(this.#newest),
      log_index: this.count,
      ...head,
    };
    const text = signedHeadText(members, seed);
    this.#newest = JSON.parse(text) as Release;
    this.#append(canonicalHash(this.#newest));
    this.set('/.well-known/release.json', text);
    this.set('/log/checkpoint', this.#signer(seed).note(this.count, this.#root()));
  }

  /** The newest head. */
  get newest(): Release {
    return defined(this.#newest ?? undefined, 'a release');
  }

  override get(path: string): Buffer | Uint8Array | string | null {
    const tile = parseTilePath(path.slice(1));
    if (tile === null || tile.level === 'entries') return super.get(path) ?? null;
    const { level, index, width } = tile;
    const start = index * 2 ** TILE_HEIGHT;
    const row = this.#levels[level * TILE_HEIGHT] ?? [];
    return start + width > row.length ? null : Buffer.concat(row.slice(start, start + width));
  }

  #append(entry: string): void {
    let added = leafHash(logEntry(entry), sha256);
    for (let height = 0; ; height += 1) {
      const row = this.#levels[height] ?? [];
      this.#levels[height] = row;
      row.push(added);
      if (row.length % 2 === 1) return;
      added = nodeHash(defined(row.at(-2), 'the left hash'), added, sha256);
    }
  }

  #root(): Uint8Array {
    const subtrees = subtreesOf({ start: 0, end: this.count });
    const all = subtrees.map(({ height, index }) => this.#levels[height]?.[index]);
    return hashOfSubtrees(
      all.map((each) => defined(each, 'a subtree')),
      sha256,
    );
  }

  #signer(seed: number): InventedLog {
    const known = this.#signers.get(seed);
    if (known !== undefined) return known;
    const signer = new InventedLog({ origin: logOrigin(BASE_URL), seed });
    this.#signers.set(seed, signer);
    return signer;
  }
}

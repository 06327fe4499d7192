import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { textHash } from '../format/text-hash.ts';
import { LineSpill } from '../release/line-spill.ts';
import { ForgottenError } from '../system/compile-error.ts';
import { readPlain, STORED_BYTES_MAX } from '../system/plain-file.ts';
import { type KnownEntity, parseKnown, parseLatest } from './past-text.ts';
import type { Latest } from './timeline.ts';

const NEWLINE = 0x0a;
const TAB = 0x09;
/** Of lines of all signals in memory, before they go to the disk. */
const HELD_BYTES_MAX = 16_000_000;
/** Of those of one signal, however many there are. */
const HELD_BYTES_MIN = 500_000;

/** Shelves divide this number, so that what is grouped by it has whole shelves. */
const SHELVES_MAX = 256;
const SHELVES = [
  [SHELVES_MAX, 2_000_000],
  [16, 100_000],
] as const;

/** On how many shelves the entities of a signal are kept, by the bytes of its first lines. */
export function shelvesFor(bytes: number): number {
  return SHELVES.find(([, least]) => bytes >= least)?.[0] ?? 1;
}

/** The shelf of an entity; `shelves` divides SHELVES_MAX. */
export function shelfOf(entity: string, shelves: number): number {
  return textHash(entity) % shelves;
}

/** Where the entities of a signal stand; plain data, so that it can go to a worker. */
export interface Shelves {
  /** Path and sha256, hex, of each shelf; null for one without entities. */
  readonly files: readonly ({ readonly path: string; readonly sha256: string } | null)[];
}

/** The entities of a signal as the previous compile left them, one shelf in memory at a time. */
export class KnownEntities {
  readonly #shelves: Shelves | null;
  #open = -1;
  #lines: ReadonlyMap<string, string> = new Map();

  /** Null where nothing is remembered. */
  constructor(shelves: Shelves | null) {
    this.#shelves = shelves;
  }

  get(entity: string): KnownEntity | null {
    const text = this.#text(entity);
    return text === null ? null : parseKnown(text);
  }

  latest(entity: string): Latest | null {
    const text = this.#text(entity);
    return text === null ? null : parseLatest(text);
  }

  /** The latest reading of every entity, in no order. */
  *all(): Generator<Latest> {
    for (const shelf of this.#shelves?.files.keys() ?? []) {
      for (const text of this.#opened(shelf).values()) yield parseLatest(text);
    }
  }

  /** Entities in an order in which each shelf is opened once. */
  byShelf(entities: readonly string[]): readonly string[] {
    const length = this.#shelves?.files.length ?? 1;
    return [...entities].sort(
      (a, b) => shelfOf(a, length) - shelfOf(b, length) || (a < b ? -1 : 1),
    );
  }

  #text(entity: string): string | null {
    if (this.#shelves === null) return null;
    return this.#opened(shelfOf(entity, this.#shelves.files.length)).get(entity) ?? null;
  }

  #opened(shelf: number): ReadonlyMap<string, string> {
    if (shelf !== this.#open) {
      this.#lines = entitiesIn(this.#shelves?.files[shelf] ?? null);
      this.#open = shelf;
    }
    return this.#lines;
  }
}

function entitiesIn(file: Shelves['files'][number]): ReadonlyMap<string, string> {
  if (file === null) return new Map();
  const bytes = existsSync(file.path) ? readPlain(file.path, STORED_BYTES_MAX) : Buffer.alloc(0);
  if (hash('sha256', bytes, 'hex') !== file.sha256) {
    throw new ForgottenError(`Cannot use "${file.path}": not what was written`);
  }
  return parseShelf(bytes);
}

/** Lines `<entity>` tab text, by their entities. */
function parseShelf(bytes: Buffer): Map<string, string> {
  const lines = new Map<string, string>();
  for (let start = 0; start < bytes.length; ) {
    const tab = bytes.indexOf(TAB, start);
    const end = bytes.indexOf(NEWLINE, tab);
    lines.set(bytes.toString('latin1', start, tab), bytes.toString('utf8', tab + 1, end));
    start = end + 1;
  }
  return lines;
}

/** How many shelves there are to be, and how many signals share the memory. */
interface Room {
  readonly count: number;
  readonly signals: number;
}

/** Collects the entities of a signal for the next compile, in memory that does not grow. */
export class ShelfNotes {
  readonly #spill: LineSpill;
  readonly #before: Shelves | null;
  readonly #count: number;

  /** `before` is what the previous compile left, of which what this one does not touch stays. */
  constructor(folder: string, before: Shelves | null, { count, signals }: Room) {
    const endOf = (bytes: Buffer, start: number): number => bytes.indexOf(NEWLINE, start) + 1;
    const groupOf = (bytes: Buffer, start: number): number =>
      shelfOf(bytes.toString('latin1', start, bytes.indexOf(TAB, start)), count);
    const heldMax = Math.max(HELD_BYTES_MIN, HELD_BYTES_MAX / signals);
    this.#spill = new LineSpill(folder, { endOf, groupOf, groups: count }, heldMax);
    this.#before = before;
    this.#count = count;
  }

  /** As the previous compile left them. */
  get before(): Shelves['files'] {
    return this.#before?.files ?? Array.from({ length: this.#count }, () => null);
  }

  /** Lines `<entity>` tab text. */
  add(lines: Uint8Array): void {
    this.#spill.add(lines);
  }

  /** The shelves that changed, whole. */
  *changed(): Generator<readonly [shelf: number, bytes: Buffer]> {
    for (let shelf = 0; shelf < this.#count; shelf += 1) {
      const fresh = this.#spill.take(shelf);
      if (fresh.length > 0) yield [shelf, this.#whole(shelf, fresh)];
    }
  }

  #whole(shelf: number, fresh: Buffer): Buffer {
    const before = this.#before?.files[shelf] ?? null;
    if (before === null) return fresh;
    const lines = new Map([...entitiesIn(before), ...parseShelf(fresh)]);
    return Buffer.from([...lines].map(([entity, text]) => `${entity}\t${text}\n`).join(''));
  }
}

import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LINE_BYTES_MAX, readLines } from './read-lines.ts';
import type { StoredReading } from './read-signal.ts';
import type { Reading } from './reading.ts';
import { ENTITY_READINGS_MAX } from './timeline.ts';

/** Input of a signal up to this size is grouped in memory; more goes through partitions on disk. */
export const SIGNAL_BYTES_IN_MEMORY = 4_000_000;
/** Input bytes of one partition; a reading in memory takes some ten times its line. */
const PARTITION_BYTES = 1_000_000;
const PARTITIONS_MAX = 512;
const BUFFER_CHARS = 16_384;
/** A header and a line of the longest kind, numbers such as 1e15 written out. */
const SPILL_LINE_BYTES_MAX = 10 * LINE_BYTES_MAX;
/** Different texts that are kept once instead of once a reading. */
const SHARED_MAX = 1000;

/** Collects the readings of a signal by entity, in memory that does not grow with the input. */
export interface Grouping {
  add(stored: StoredReading): void;
  /** Groups of whole entities, a bounded number of readings at a time. */
  groups(): Iterable<Map<string, StoredReading[]>>;
  dispose(): void;
}

/** Chooses memory or disk by the size of the signal's files; `folder` is created when needed. */
export function grouping(bytes: number, folder: string): Grouping {
  return bytes <= SIGNAL_BYTES_IN_MEMORY ? memoryGrouping() : diskGrouping(bytes, folder);
}

function memoryGrouping(): Grouping {
  const all = new Map<string, StoredReading[]>();
  return {
    add: (stored) => addTo(all, stored),
    groups: () => [all],
    dispose: () => all.clear(),
  };
}

/** One more than the limit is kept of an entity, enough to be refused for it. */
function addTo(groups: Map<string, StoredReading[]>, stored: StoredReading): void {
  const group = groups.get(stored.reading.entity);
  if (group === undefined) groups.set(stored.reading.entity, [stored]);
  else if (group.length <= ENTITY_READINGS_MAX) group.push(stored);
}

function diskGrouping(bytes: number, folder: string): Grouping {
  mkdirSync(folder, { recursive: true });
  const count = Math.min(PARTITIONS_MAX, Math.ceil(bytes / PARTITION_BYTES));
  const spills = Array.from({ length: count }, (_, index) => new Spill(join(folder, `${index}`)));
  return {
    add: (stored) => spills[partitionOf(stored.reading.entity, count)]?.add(stored),
    *groups() {
      for (const spill of spills) spill.close();
      for (const spill of spills) yield spill.read();
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** FNV-1a over UTF-16 code units: spreads entities evenly and always the same way. */
function partitionOf(entity: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < entity.length; at++) {
    hash = Math.imul(hash ^ entity.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0) % count;
}

/** One partition on disk: checked readings as JSON lines, private to this compile. */
class Spill {
  readonly #path: string;
  readonly #file: number;
  #held = '';

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'w');
  }

  add(stored: StoredReading): void {
    this.#held += `${JSON.stringify(stored)}\n`;
    if (this.#held.length > BUFFER_CHARS) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  read(): Map<string, StoredReading[]> {
    const groups = new Map<string, StoredReading[]>();
    const shared = new Shared();
    for (const { bytes } of readLines(this.#path, SPILL_LINE_BYTES_MAX)) {
      if (bytes === null) throw new RangeError('Cannot read a partition: a line beyond its limit');
      const stored = JSON.parse(
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(),
      );
      addTo(groups, shared.of(stored as StoredReading));
    }
    rmSync(this.#path);
    return groups;
  }

  #flush(): void {
    writeSync(this.#file, this.#held);
    this.#held = '';
  }
}

/** Keeps one copy of what most readings of a file repeat: its name and its sources. */
class Shared {
  readonly #texts = new Map<string, string>();
  readonly #sources = new Map<string, Reading['sources']>();

  of(stored: StoredReading): StoredReading {
    const { reading } = stored;
    const sources = keep(this.#sources, JSON.stringify(reading.sources), reading.sources);
    const entity = keep(this.#texts, reading.entity, reading.entity);
    const collected_at = keep(this.#texts, reading.collected_at, reading.collected_at);
    const file = keep(this.#texts, stored.file, stored.file);
    return { ...stored, file, reading: { ...reading, entity, collected_at, sources } };
  }
}

function keep<T>(known: Map<string, T>, text: string, value: T): T {
  const kept = known.get(text);
  if (kept !== undefined) return kept;
  if (known.size < SHARED_MAX) known.set(text, value);
  return value;
}

import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { textHash } from '../format/text-hash.ts';
import { LINE_BYTES_MAX, readLines } from './read-lines.ts';
import type { StoredReading } from './read-signal.ts';
import type { Reading } from './reading.ts';
import { ENTITY_READINGS_MAX } from './timeline.ts';

/** Input of a signal up to this size is grouped in memory; more goes through partitions on disk. */
export const SIGNAL_BYTES_IN_MEMORY = 4_000_000;
/** Input bytes of one partition; a reading in memory takes some ten times its line. */
const PARTITION_BYTES = 1_000_000;
const PARTITIONS_MAX = 1024;
const BUFFER_CHARS = 8192;
/** A line of the longest kind with its header, numbers such as 1e15 written out. */
const SPILL_LINE_BYTES_MAX = 10 * LINE_BYTES_MAX;
/** Characters of repeated texts that are kept once instead of once a reading. */
const SHARED_CHARS_MAX = 1_000_000;

/** Collects the readings of a signal by entity, in memory that does not grow with the input. */
interface Grouping {
  add(stored: StoredReading): void;
  /** Groups of whole entities, a bounded number of readings at a time. */
  groups(): Iterable<Map<string, StoredReading[]>>;
  dispose(): void;
}

/** Chooses memory or disk by how many bytes of files are to be grouped; `folder` is created when needed. */
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
  const shared = new SharedSources();
  return {
    add: (stored) => spills[textHash(stored.reading.entity) % count]?.add(toRow(stored, shared)),
    *groups() {
      for (const spill of spills) {
        const group = new Map<string, StoredReading[]>();
        for (const row of spill.rows()) addTo(group, fromRow(row, shared));
        yield group;
      }
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A stored reading as it is spilled; most readings of a signal repeat their sources. */
type SpilledReading = readonly [
  reading: Omit<Reading, 'sources'>,
  sources: number | Reading['sources'],
  batch: number,
  file: string,
  line: number,
  at: number,
  size: number,
];

function toRow(stored: StoredReading, shared: SharedSources): SpilledReading {
  const { reading, batch, file, line, at, size } = stored;
  const { sources, ...rest } = reading;
  return [rest, shared.toRow(sources), batch, file, line, at, size];
}

function fromRow(row: SpilledReading, shared: SharedSources): StoredReading {
  const [rest, sources, batch, file, line, at, size] = row;
  return { reading: { ...rest, sources: shared.fromRow(sources) }, batch, file, line, at, size };
}

/** Keeps one copy of equal sources, as long as their texts are short enough together. */
class SharedSources {
  readonly #indexes = new Map<string, number>();
  readonly #kept: Reading['sources'][] = [];
  #chars = 0;

  toRow(sources: Reading['sources']): SpilledReading[1] {
    const text = JSON.stringify(sources);
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    if (this.#chars + text.length > SHARED_CHARS_MAX) return sources;
    this.#chars += text.length;
    this.#indexes.set(text, this.#kept.length);
    return this.#kept.push(sources) - 1;
  }

  fromRow(sources: SpilledReading[1]): Reading['sources'] {
    if (typeof sources !== 'number') return sources;
    const kept = this.#kept[sources];
    if (kept === undefined)
      throw new RangeError(`Cannot read a partition: no sources of number ${sources}`);
    return kept;
  }
}

/** One partition on disk: checked readings as JSON lines, private to this compile. */
class Spill {
  readonly #path: string;
  #held: string[] = [];
  #chars = 0;

  constructor(path: string) {
    this.#path = path;
  }

  add(row: SpilledReading): void {
    const text = JSON.stringify(row);
    this.#held.push(text);
    this.#chars += text.length;
    if (this.#chars > BUFFER_CHARS) this.#flush();
  }

  *rows(): Generator<SpilledReading> {
    this.#flush();
    for (const { bytes } of readLines(this.#path, { bytesMax: SPILL_LINE_BYTES_MAX })) {
      if (bytes === null) throw new RangeError('Cannot read a partition: a line beyond its limit');
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
      if (text !== '') yield JSON.parse(text);
    }
    rmSync(this.#path);
  }

  /** Opened and closed each time, since the partitions of all jobs are more than a process may hold open. */
  #flush(): void {
    appendFileSync(this.#path, `${this.#held.join('\n')}\n`);
    this.#held = [];
    this.#chars = 0;
  }
}

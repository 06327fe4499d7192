import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredReading } from './read-signal.ts';

/** Input of a signal up to this size is grouped in memory; more goes through partitions on disk. */
export const SIGNAL_BYTES_IN_MEMORY = 12_000_000;
const PARTITION_BYTES = 3_000_000;
const PARTITIONS_MAX = 512;
const BUFFER_CHARS = 32_768;

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

function addTo(groups: Map<string, StoredReading[]>, stored: StoredReading): void {
  const group = groups.get(stored.reading.entity);
  if (group === undefined) groups.set(stored.reading.entity, [stored]);
  else group.push(stored);
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
    for (const line of readFileSync(this.#path, 'utf8').split('\n')) {
      if (line !== '') addTo(groups, JSON.parse(line) as StoredReading);
    }
    rmSync(this.#path);
    return groups;
  }

  #flush(): void {
    writeSync(this.#file, this.#held);
    this.#held = '';
  }
}

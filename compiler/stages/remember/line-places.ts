import { closeSync, readSync } from 'node:fs';
import { openPlain } from '../../verify/plain-file.ts';
import type { SnapshotFile } from '../intake/list-snapshots.ts';
import { readLines } from '../intake/read-lines.ts';
import { ReadingReader, type StoredReading } from '../intake/read-signal.ts';
import { ForgottenError } from './forgotten-error.ts';

const NEWLINE = 0x0a;
const TAB = 0x09;

/** Where a line stands: number of its file, offset and length in bytes. */
export type LinePlace = readonly [file: number, at: number, size: number];

/** What is remembered of an entity. */
export interface KnownEntity {
  readonly places: readonly LinePlace[];
  /** What the release said of it, see formatSaid. */
  readonly said: string;
}

/** A line of the list of places: an entity, where its lines stand and what was said. Entities are ASCII without white space. */
export function formatPlaces(entity: string, { places, said }: KnownEntity): string {
  return `${entity}\t${places.map((place) => place.join(':')).join(',')}\t${said}\n`;
}

/** Reads back what formatPlaces wrote after the entity and its tab. */
function parsePlaces(text: string): KnownEntity {
  const [cells = '', said = ''] = text.split('\t');
  const places = cells.split(',').map((cell): LinePlace => {
    const [file = Number.NaN, at = Number.NaN, size = Number.NaN] = cell.split(':').map(Number);
    return [file, at, size];
  });
  return { places, said };
}

/** Calls back with each entity of a list of places, and where its line begins and ends. */
function eachEntity(
  list: Buffer,
  visit: (entity: string, start: number, end: number) => void,
): void {
  for (let start = 0; start < list.length; ) {
    const end = list.indexOf(NEWLINE, start) + 1;
    if (end === 0) throw new ForgottenError('Cannot read places: cut off');
    visit(list.toString('latin1', start, list.indexOf(TAB, start)), start, end);
    start = end;
  }
}

/** What is remembered of those entities that are asked for. */
export function findPlaces(
  list: Buffer,
  wanted: { has(entity: string): boolean },
): Map<string, KnownEntity> {
  const found = new Map<string, KnownEntity>();
  eachEntity(list, (entity, start, end) => {
    if (!wanted.has(entity)) return;
    found.set(entity, parsePlaces(list.toString('latin1', start + entity.length + 1, end - 1)));
  });
  return found;
}

/** A list of places with the lines of some entities in place of their own, or added. */
export function replacePlaces(list: Buffer, lines: ReadonlyMap<string, string>): Buffer[] {
  const parts: Buffer[] = [];
  const left = new Map(lines);
  let from = 0;
  eachEntity(list, (entity, start, end) => {
    const line = left.get(entity);
    if (line === undefined) return;
    parts.push(list.subarray(from, start), Buffer.from(line, 'latin1'));
    left.delete(entity);
    from = end;
  });
  return [...parts, list.subarray(from), Buffer.from([...left.values()].join(''), 'latin1')];
}

/** Reads single lines of a signal's files again. */
export class PlacedLines {
  readonly #signalId: string;
  readonly #files: readonly SnapshotFile[];
  /** Position of each file in batch order. */
  readonly #batches: readonly number[];
  readonly #open = new Map<number, { readonly handle: number; readonly reader: ReadingReader }>();

  /** `files` as places number them, `ordered` in batch order. */
  constructor(signalId: string, files: readonly SnapshotFile[], ordered: readonly SnapshotFile[]) {
    this.#signalId = signalId;
    this.#files = files;
    this.#batches = files.map(({ name }) => ordered.findIndex((file) => file.name === name));
  }

  read([number, at, size]: LinePlace): StoredReading {
    const file = this.#files[number];
    const batch = this.#batches[number] ?? -1;
    if (file === undefined || batch < 0) throw new ForgottenError(`Cannot find file ${number}`);
    const { handle, reader } = this.#opened(number, file);
    const bytes = Buffer.allocUnsafe(size);
    const isWhole = readSync(handle, bytes, 0, size, at) === size;
    const read = isWhole ? reader.read({ number: 0, bytes, at }) : null;
    if (read === null || !('ok' in read)) {
      throw new ForgottenError(`Cannot read "${file.name}" at ${at}`);
    }
    return { reading: read.ok, batch, file: file.name, line: 0, at, size };
  }

  close(): void {
    for (const { handle } of this.#open.values()) closeSync(handle);
    this.#open.clear();
  }

  #opened(number: number, file: SnapshotFile) {
    const known = this.#open.get(number);
    if (known !== undefined) return known;
    const reader = new ReadingReader(this.#signalId);
    // The first line may be a header, which all others inherit from.
    for (const line of readLines(file.path)) {
      reader.read(line);
      break;
    }
    const opened = { handle: openPlain(file.path), reader };
    this.#open.set(number, opened);
    return opened;
  }
}

import { readSignal, type StoredReading } from '../stages/intake/read-signal.ts';
import { ForgottenError } from '../stages/remember/forgotten-error.ts';
import {
  findPlaces,
  type KnownEntity,
  type LinePlace,
  PlacedLines,
} from '../stages/remember/line-places.ts';
import { readPlain, STORED_BYTES_MAX } from '../verify/plain-file.ts';
import type { JobChunk } from './chunk-builder.ts';
import {
  type Former,
  type JobResult,
  type SignalChange,
  type SignalJob,
  SignalRun,
} from './signal-job.ts';

/** Lines in memory at a time; an entity with more comes alone. */
export const LINES_HELD = 20_000;

/** Reads the new files of a signal, and again all lines of the entities that they name. */
export function runSignalChange(
  job: SignalJob & { readonly change: SignalChange },
  emit: (chunk: JobChunk) => void,
): JobResult {
  const { signal, change } = job;
  const run = new SignalRun(job, emit);
  const added = new Map<string, LinePlace[]>();
  const note = ({ reading, ...line }: StoredReading): void => {
    const place: LinePlace = [change.known.length + line.batch, line.at, line.size];
    const places = added.get(reading.entity);
    if (places === undefined) added.set(reading.entity, [place]);
    else places.push(place);
  };
  const read = readSignal({ ...signal, files: change.added }, note, job);
  if (read.problems.length > 0) return { ...run.result(read), problems: read.problems };
  const list = change.places === null ? Buffer.alloc(0) : placesIn(change.places);
  const before = findPlaces(list, added);
  const lines = new PlacedLines(signal.signal_id, [...change.known, ...change.added], signal.files);
  try {
    const linesOf = (entity: string): number =>
      (before.get(entity)?.places.length ?? 0) + (added.get(entity)?.length ?? 0);
    for (const entities of portions([...added.keys()].sort(), linesOf)) {
      readAgain(run, lines, { entities, before, added });
    }
    return run.result(read);
  } finally {
    lines.close();
  }
}

function placesIn(path: string): Buffer {
  try {
    return readPlain(path, STORED_BYTES_MAX);
  } catch (cause) {
    throw new ForgottenError(`Cannot read "${path}"`, { cause });
  }
}

interface Portion {
  readonly entities: readonly string[];
  readonly before: ReadonlyMap<string, KnownEntity>;
  readonly added: ReadonlyMap<string, readonly LinePlace[]>;
}

function readAgain(run: SignalRun, lines: PlacedLines, { entities, before, added }: Portion): void {
  const stored = new Map<string, readonly StoredReading[]>();
  const former = new Map<string, Former>();
  for (const entity of entities) {
    const remembered = before.get(entity);
    const known = remembered?.places.map((place) => lines.read(place)) ?? [];
    if (remembered !== undefined) former.set(entity, { stored: known, said: remembered.said });
    stored.set(entity, [...known, ...(added.get(entity) ?? []).map((place) => lines.read(place))]);
  }
  run.change(stored, former);
}

/** Entities in order, as many at a time as have a bounded number of lines together. */
export function* portions(
  entities: readonly string[],
  linesOf: (entity: string) => number,
): Generator<readonly string[]> {
  let held: string[] = [];
  let count = 0;
  for (const entity of entities) {
    const more = linesOf(entity);
    if (count + more > LINES_HELD && held.length > 0) {
      yield held;
      held = [];
      count = 0;
    }
    held.push(entity);
    count += more;
  }
  if (held.length > 0) yield held;
}

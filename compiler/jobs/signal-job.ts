import { join } from 'node:path';
import { type Line, lineOf, type Signal, signalOf } from '../contract/lines.ts';
import { CITY_ADD_ONS } from '../contract/products.ts';
import { censusLine } from '../stages/assemble/census.ts';
import type { CityReading } from '../stages/assemble/city-readings.ts';
import { entityFiles, recordPath } from '../stages/assemble/entity-files.ts';
import { coreFields, type EntityFacts, entityFacts } from '../stages/assemble/entity-record.ts';
import { legReading } from '../stages/assemble/leg.ts';
import type { Problem } from '../stages/intake/compile-error.ts';
import type { SignalFiles, SnapshotFile } from '../stages/intake/list-snapshots.ts';
import { grouping } from '../stages/intake/partition.ts';
import type { Rejects } from '../stages/intake/quarantine.ts';
import { type IntakeRules, readSignal, type StoredReading } from '../stages/intake/read-signal.ts';
import type { Reading } from '../stages/intake/reading.ts';
import { buildTimeline, type Timeline } from '../stages/intake/timeline.ts';
import { formatPlaces, type LinePlace } from '../stages/remember/line-places.ts';
import {
  citationOf,
  type Issuer,
  makeSealer,
  type Sealer,
  signingKey,
} from '../stages/seal/sealer.ts';
import { NO_SIGNATURES } from '../stages/seal/signature-store.ts';
import { ChunkBuilder, type JobChunk } from './chunk-builder.ts';
import { ChunkMemories, chunkMemory } from './chunk-memory.ts';
import { formatSaid, parseSaid } from './said-files.ts';

/** Everything that the job of one signal needs; plain data, so that it can go to a worker. */
export interface SignalJob extends IntakeRules {
  readonly signal: SignalFiles;
  readonly issuer: Issuer;
  readonly seed: Uint8Array;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
  /** Set when the output of the previous release is kept, except for the entities that some new files name. */
  readonly change: SignalChange | null;
}

export interface SignalChange {
  /** Files as the remembered places number them; the added ones go on from there. */
  readonly known: readonly SnapshotFile[];
  readonly added: readonly SnapshotFile[];
  /** The remembered list of places; null for a signal that is new. */
  readonly places: string | null;
}

/** An entity as the previous release has it: its readings, and what was said, see formatSaid. */
export interface Former {
  readonly stored: readonly StoredReading[];
  readonly said: string;
}

/** What a job counted; of a change only the difference to the previous release. */
export interface JobResult {
  readonly signal_id: string;
  readonly readings: number;
  readonly entities: number;
  readonly revisions: number;
  readonly repeats: number;
  readonly rejects: Rejects;
  readonly problems: readonly Problem[];
  /** sha256 of each file that was read whole, by its name. */
  readonly digests: Readonly<Record<string, string>>;
}

/**
 * Intake, derive, assemble and seal of a share of one signal. The bytes of its files are handed over too: creating
 * files from several threads makes the file system's locks cost more than the threads save.
 */
export function runSignalJob(job: SignalJob, emit: (chunk: JobChunk) => void): JobResult {
  const id = job.signal.signal_id;
  const { index, of } = job.share;
  const groups = grouping(job.signal.bytes / of, join(job.scratch, `${id}-${index}`));
  try {
    const read = readSignal(job.signal, (stored) => groups.add(stored), job);
    const run = new SignalRun(job, emit);
    if (read.problems.length > 0) return { ...run.result(read), problems: read.problems };
    for (const group of groups.groups()) run.group(group);
    return run.result(read);
  } finally {
    groups.dispose();
  }
}

type Read = Pick<JobResult, 'readings' | 'rejects' | 'digests'>;

/** The state of one running job: its output so far and its counts. */
export class SignalRun {
  readonly #signal: Signal;
  readonly #line: Line;
  /** Names of the batches, in batch order. */
  readonly #batches: readonly string[];
  readonly #numberOf: ReadonlyMap<string, number>;
  readonly #sealer: Sealer;
  readonly #emit: (chunk: JobChunk) => void;
  readonly #problems: Problem[] = [];
  readonly #memories = new ChunkMemories();
  /** Of the readings of the entities that are held. */
  #hashes = new Map<Reading, string>();
  #held: ChunkBuilder;
  #former: ChunkBuilder;
  #entities = 0;
  #revisions = 0;
  #repeats = 0;

  constructor(job: SignalJob, emit: (chunk: JobChunk) => void) {
    const id = job.signal.signal_id;
    const signal = signalOf(id);
    const line = lineOf(id);
    if (signal === undefined || line === undefined)
      throw new RangeError(`Cannot run the job of signal "${id}": not in the table`);
    const { files } = job.signal;
    const numbered = job.change === null ? files : [...job.change.known, ...job.change.added];
    this.#signal = signal;
    this.#line = line;
    this.#batches = files.map((file) => file.batch);
    this.#numberOf = new Map(numbered.map(({ name }, number) => [name, number]));
    // Bodies of a signal are made only when they changed, so a remembered signature would never be used.
    this.#sealer = makeSealer(job.issuer, signingKey(job.seed), NO_SIGNATURES);
    this.#emit = emit;
    this.#held = new ChunkBuilder(id, this.#memories.next());
    this.#former = new ChunkBuilder(id, chunkMemory());
  }

  /** Entities in the order of their ids, whatever order they were stored in. */
  group(stored: ReadonlyMap<string, readonly StoredReading[]>): void {
    for (const entity of [...stored.keys()].sort()) this.#add(entity, stored.get(entity) ?? []);
    this.#flush();
  }

  /** Entities, of which the previous release has those of `former`, with the same readings. */
  change(
    stored: ReadonlyMap<string, readonly StoredReading[]>,
    former: ReadonlyMap<string, Former>,
  ): void {
    for (const [entity, readings] of stored) {
      const before = former.get(entity);
      if (before !== undefined) this.#takeAway(entity, before);
      this.#add(entity, readings);
    }
    this.#flush();
  }

  result({ readings, rejects, digests }: Read): JobResult {
    return {
      signal_id: this.#signal.id,
      readings,
      entities: this.#entities,
      revisions: this.#revisions,
      repeats: this.#repeats,
      rejects,
      problems: this.#problems,
      digests,
    };
  }

  #add(entity: string, stored: readonly StoredReading[]): void {
    const outcome = buildTimeline(entity, stored);
    if ('problem' in outcome) {
      this.#problems.push(outcome.problem);
      return;
    }
    const timeline = outcome.ok;
    const said = this.#entity(timeline);
    const places = stored.map((line) => this.#placeOf(line));
    this.#held.places += formatPlaces(entity, { places, said });
    this.#count(timeline, 1);
    if (this.#held.isFull) this.#flush();
  }

  #takeAway(entity: string, { stored, said }: Former): void {
    const outcome = buildTimeline(entity, stored);
    const latest = 'problem' in outcome ? undefined : outcome.ok.readings.at(-1);
    if ('problem' in outcome || latest === undefined) {
      throw new RangeError(`Cannot take "${entity}" away: refused`);
    }
    const facts = { signal: this.#signal, timeline: outcome.ok, latest };
    for (const file of parseSaid(recordPath(this.#signal.id, entity), said)) {
      this.#former.path(file.path);
      this.#former.citation(facts, file);
    }
    this.#former.latest(facts, this.#hashOf(latest));
    this.#count(outcome.ok, -1);
  }

  #placeOf({ file, at, size }: StoredReading): LinePlace {
    return [this.#numberOf.get(file) ?? -1, at, size];
  }

  readonly #hashOf = (reading: Reading): string => {
    const known = this.#hashes.get(reading);
    if (known !== undefined) return known;
    const hash = this.#sealer.recordHash(coreFields(this.#signal, reading));
    this.#hashes.set(reading, hash);
    return hash;
  };

  /** Returns what is said, for the next compile. */
  #entity(timeline: Timeline): string {
    const hashOf = this.#hashOf;
    const facts = entityFacts(this.#signal, timeline, hashOf);
    const { bare, record, files } = entityFiles(facts, this.#sealer, hashOf);
    const said = files.map(({ path, body }) => {
      return { path, record_hash: citationOf(body)?.record_hash };
    });
    for (const file of files) this.#held.file(file);
    for (const file of said) this.#held.citation(facts, file);
    this.#held.sample(facts, record);
    this.#held.latest(facts, hashOf(facts.latest));
    this.#held.leaves(facts, { hashOf, batches: this.#batches });
    this.#join(facts, bare);
    return formatSaid(said);
  }

  #join(facts: EntityFacts, record: CityReading['record']): void {
    const leg = legReading(facts);
    this.#held.catalog(leg);
    this.#held.census += censusLine(facts);
    if (isJoined(this.#line, leg.entity)) this.#held.leg(leg);
    const inCity = Object.values(CITY_ADD_ONS).flat() as string[];
    if (inCity.includes(leg.signal_id)) this.#held.city({ record, leg });
  }

  #count(timeline: Timeline, sign: 1 | -1): void {
    this.#entities += sign;
    this.#revisions += sign * timeline.replaced.length;
    this.#repeats += sign * timeline.repeats;
  }

  #flush(): void {
    const chunk = this.#held.build(this.#former);
    if (chunk !== null) this.#emit(chunk);
    this.#held = new ChunkBuilder(this.#signal.id, this.#memories.next());
    this.#former = new ChunkBuilder(this.#signal.id, chunkMemory());
    this.#hashes = new Map();
  }
}

/** True when some bundle of the line, or its life-cycle answer, reads this entity. */
function isJoined(line: Line, entity: string): boolean {
  if (line.bundle === undefined) return false;
  if (line.open || line.entities.includes(entity)) return true;
  const mapped = Object.values(line.entityOf ?? {});
  return mapped.some((map) => Object.values(map).includes(entity));
}

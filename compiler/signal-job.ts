import { join } from 'node:path';
import { type Line, lineOf, type Signal, signalOf } from './contract/lines.ts';
import {
  type FileEntry,
  formatCatalogRow,
  formatFiles,
  formatLeaf,
  formatVerifyEntry,
} from './contract/release.ts';
import { censusLine } from './stages/assemble/census.ts';
import { CITY_ADD_ONS, type CityReading } from './stages/assemble/city-readings.ts';
import { entityFiles, type PublishedFile, recordPath } from './stages/assemble/entity-files.ts';
import { coreFields, type EntityFacts, entityFacts } from './stages/assemble/entity-record.ts';
import { type LegReading, legReading } from './stages/assemble/leg.ts';
import type { Problem } from './stages/intake/compile-error.ts';
import type { SignalFiles } from './stages/intake/list-snapshots.ts';
import { grouping } from './stages/intake/partition.ts';
import { readSignal, type StoredReading } from './stages/intake/read-signal.ts';
import type { Reading } from './stages/intake/reading.ts';
import { buildTimeline, type Timeline } from './stages/intake/timeline.ts';
import { fileEntry } from './stages/publish/file-writer.ts';
import {
  citationOf,
  type Issuer,
  makeSealer,
  type Sealer,
  signingKey,
} from './stages/seal/sealer.ts';
import {
  openSignatureStore,
  type SignaturePlace,
  signaturePlace,
} from './stages/seal/signature-store.ts';

/** Entities whose output is held before it is handed over. */
const CHUNK_ENTITIES = 64;

/** Everything that the job of one signal needs; plain data, so that it can go to a worker. */
export interface SignalJob {
  readonly signal: SignalFiles;
  readonly issuer: Issuer;
  readonly seed: Uint8Array;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
  /** Folders of signatures, see SignaturePlace. */
  readonly signatures: SignaturePlace;
}

/** What a job hands over while it runs. */
export interface JobChunk {
  /** Files as formatFiles writes them, and their bytes one behind the other in the same order. */
  readonly files: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly catalog: string;
  /** Rows of the census of the signal, as censusLine writes them. */
  readonly census: string;
  readonly verify: string;
  /** What the log is to hold, see formatLeaf. */
  readonly leaves: string;
  readonly legs: readonly LegReading[];
  readonly cities: readonly CityReading[];
  readonly sample: { readonly signal_id: string; readonly entity: string; readonly record: object };
}

export interface JobResult {
  readonly readings: number;
  readonly entities: number;
  readonly revisions: number;
  readonly repeats: number;
  readonly problems: readonly Problem[];
}

/**
 * Intake, derive, assemble and seal of one signal. The bytes of its files are handed over too: creating
 * files from several threads makes the file system's locks cost more than the threads save.
 */
export function runSignalJob(job: SignalJob, emit: (chunk: JobChunk) => void): JobResult {
  const id = job.signal.signal_id;
  const groups = grouping(job.signal.bytes, join(job.scratch, id));
  try {
    const read = readSignal(job.signal, (stored) => groups.add(stored));
    const run = new SignalRun(job, emit);
    if (read.problems.length > 0) return { ...run.result(), problems: read.problems };
    for (const group of groups.groups()) run.group(group);
    return run.finish(read.readings);
  } finally {
    groups.dispose();
  }
}

/** The state of one running job: its output so far and its counts. */
class SignalRun {
  readonly #signal: Signal;
  readonly #line: Line;
  /** Names of the batches, in batch order. */
  readonly #batches: readonly string[];
  readonly #sealer: Sealer;
  readonly #emit: (chunk: JobChunk) => void;
  readonly #saveSignatures: () => void;
  readonly #problems: Problem[] = [];
  #held = new ChunkBuilder();
  #entities = 0;
  #revisions = 0;
  #repeats = 0;

  constructor(job: SignalJob, emit: (chunk: JobChunk) => void) {
    const id = job.signal.signal_id;
    const signal = signalOf(id);
    const line = lineOf(id);
    if (signal === undefined || line === undefined)
      throw new RangeError(`Cannot find signal "${id}"`);
    const store = openSignatureStore(signaturePlace(job.signatures, job.issuer.did, id));
    this.#signal = signal;
    this.#line = line;
    this.#batches = job.signal.files.map((file) => file.batch);
    this.#sealer = makeSealer(job.issuer, signingKey(job.seed), store);
    this.#emit = emit;
    this.#saveSignatures = () => store.save();
  }

  /** Entities in the order of their ids, whatever order they were stored in. */
  group(stored: ReadonlyMap<string, readonly StoredReading[]>): void {
    for (const entity of [...stored.keys()].sort()) {
      const outcome = buildTimeline(entity, stored.get(entity) ?? []);
      if ('problem' in outcome) this.#problems.push(outcome.problem);
      else this.#entity(outcome.ok);
    }
    this.#flush();
  }

  finish(readings: number): JobResult {
    if (this.#problems.length === 0) this.#saveSignatures();
    return { ...this.result(), readings };
  }

  result(): JobResult {
    return {
      readings: 0,
      entities: this.#entities,
      revisions: this.#revisions,
      repeats: this.#repeats,
      problems: this.#problems,
    };
  }

  #entity(timeline: Timeline): void {
    const hashes = new Map<Reading, string>();
    const hashOf = (reading: Reading): string => {
      const known = hashes.get(reading);
      if (known !== undefined) return known;
      const hash = this.#sealer.recordHash(coreFields(this.#signal, reading));
      hashes.set(reading, hash);
      return hash;
    };
    const facts = entityFacts(this.#signal, timeline, hashOf);
    const { bare, record, files } = entityFiles(facts, this.#sealer, hashOf);
    for (const file of files) {
      this.#held.file(file);
      this.#held.citation(facts, file);
    }
    this.#held.sample(facts, record);
    this.#held.readings(facts, { hashOf, batches: this.#batches });
    this.#join(facts, bare);
    this.#count(timeline);
    if (this.#held.entities >= CHUNK_ENTITIES) this.#flush();
  }

  #join(facts: EntityFacts, record: CityReading['record']): void {
    const leg = legReading(facts);
    this.#held.catalog(leg, record.update_status.state);
    this.#held.census += censusLine(facts);
    if (isJoined(this.#line, leg.entity)) this.#held.legs.push(leg);
    const inCity = Object.values(CITY_ADD_ONS).flat() as string[];
    if (inCity.includes(leg.signal_id)) this.#held.cities.push({ record, leg });
  }

  #count(timeline: Timeline): void {
    this.#entities += 1;
    this.#revisions += timeline.replaced.length;
    this.#repeats += timeline.repeats;
  }

  #flush(): void {
    const chunk = this.#held.build();
    this.#held = new ChunkBuilder();
    if (chunk !== null) this.#emit(chunk);
  }
}

/** True when some bundle of the line, or its life-cycle answer, reads this entity. */
function isJoined(line: Line, entity: string): boolean {
  if (line.bundle === undefined) return false;
  if (line.open || line.entities.includes(entity)) return true;
  const mapped = Object.values(line.entityOf ?? {});
  return mapped.some((map) => Object.values(map).includes(entity));
}

/** What the look-up entries and leaves of readings are made of. */
interface Origins {
  readonly hashOf: (reading: Reading) => string;
  readonly batches: readonly string[];
}

/** Gathers the output of some entities. */
class ChunkBuilder {
  readonly #files: { readonly entry: FileEntry; readonly bytes: Buffer }[] = [];
  readonly legs: LegReading[] = [];
  readonly cities: CityReading[] = [];
  entities = 0;
  census = '';
  #catalog = '';
  #verify = '';
  #leaves = '';
  #sample: JobChunk['sample'] | null = null;

  file({ path, body, text }: PublishedFile): void {
    const bytes = Buffer.from(text ?? JSON.stringify(body), 'utf8');
    this.#files.push({ entry: fileEntry(path, bytes), bytes });
  }

  sample(facts: EntityFacts, record: object): void {
    const { signal, latest } = facts;
    this.#sample ??= { signal_id: signal.id, entity: latest.entity, record };
  }

  catalog(leg: LegReading, update_state: string): void {
    const { signal_id, entity, entity_name, observed_at, band, record_hash } = leg;
    this.entities += 1;
    this.#catalog += formatCatalogRow({
      signal_id,
      entity,
      entity_name,
      observed_at,
      band,
      record_hash,
      update_state,
    });
  }

  /** Every citation has a look-up entry, since its verify_url names its own hash. */
  citation({ signal, latest }: EntityFacts, { path, body }: PublishedFile): void {
    const record_hash = citationOf(body)?.record_hash;
    if (record_hash === undefined) return;
    this.#verify += formatVerifyEntry({
      record_hash,
      kind: 'citation',
      state: 'current',
      file: path,
      signal_id: signal.id,
      entity: latest.entity,
      observed_at: latest.observed_at,
    });
  }

  /** Every reading has a look-up entry: the latest as current, all others as superseded. */
  readings({ signal, timeline, latest }: EntityFacts, { hashOf, batches }: Origins): void {
    const file = recordPath(signal.id, latest.entity);
    for (const reading of [...timeline.replaced, ...timeline.readings]) {
      const record_hash = hashOf(reading);
      const batch = batches[timeline.batchOf.get(reading) ?? 0] ?? '';
      this.#leaves += formatLeaf({ batch, record_hash });
      this.#verify += formatVerifyEntry({
        record_hash,
        kind: 'reading',
        state: reading === latest ? 'current' : 'superseded',
        file: reading === latest ? file : null,
        signal_id: signal.id,
        entity: reading.entity,
        observed_at: reading.observed_at,
      });
    }
  }

  build(): JobChunk | null {
    if (this.#sample === null) return null;
    const files = this.#files.sort((a, b) => (a.entry.path < b.entry.path ? -1 : 1));
    return {
      files: formatFiles(files.map((file) => file.entry)),
      bytes: joined(files.map((file) => file.bytes)),
      catalog: this.#catalog,
      census: this.census,
      verify: this.#verify,
      leaves: this.#leaves,
      legs: this.legs,
      cities: this.cities,
      sample: this.#sample,
    };
  }
}

/** One memory of its own, so that it can be given to another thread without a copy. */
function joined(parts: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

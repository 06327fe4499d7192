import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { defined } from '../../format/errors.ts';
import { CITIES } from '../../products/cities.ts';
import type { Line } from '../../products/shapes/line.ts';
import { segmentPath } from '../../products/shapes/series.ts';
import type { Ground } from '../../readings/entity-past.ts';
import { type Grown, growPast } from '../../readings/grow-past.ts';
import { type KnownFiles, knownFilesOf } from '../../readings/known-batches.ts';
import { KnownEntities, type Shelves } from '../../readings/known-entities.ts';
import { byBatch, type SnapshotFile } from '../../readings/list-snapshots.ts';
import { grouping } from '../../readings/partition.ts';
import type { KnownEntity } from '../../readings/past-text.ts';
import {
  type IntakeRules,
  type Rejects,
  readSignal,
  type StoredReading,
} from '../../readings/read-signal.ts';
import type { Reading } from '../../readings/reading.ts';
import { readRemembered } from '../../release/release-list.ts';
import { ForgottenError, type InputFault } from '../../system/compile-error.ts';
import { type Issuer, makeSealer, type Sealer } from '../../system/sealer.ts';
import { ChunkBuilder, ChunkMemories, type JobChunk } from './chunk-builder.ts';
import { entityFiles } from './entity-files.ts';
import { coreFields, entityFacts } from './entity-record.ts';
import { sourcedRow } from './series.ts';

/** Everything that the job of one signal needs; nothing that cannot be copied to a worker. */
export interface SignalJob extends IntakeRules {
  readonly signal_id: string;
  /** Files that no earlier compile read, oldest batch first; all of them where nothing is remembered. */
  readonly added: readonly SnapshotFile[];
  /** Files that earlier compiles read; needed when something old about an entity changes. */
  readonly known: KnownFiles;
  /** What the previous compile remembers of its entities; null where nothing is. */
  readonly shelves: Shelves | null;
  /** Days that a series delivers, back from its newest snapshot. */
  readonly seriesDays: number;
  /** The data folder: segments of series are read there. */
  readonly data: string;
  readonly issuer: Issuer;
  /** What signs; reading it from its seed takes as long as ten signatures. */
  readonly key: KeyObject;
  readonly scratch: string;
}

/** What a job counted; for remembered figures only the difference. */
export interface JobResult {
  readonly signal_id: string;
  readonly readings: number;
  readonly entities: number;
  readonly revisions: number;
  readonly repeats: number;
  readonly rejects: Rejects;
  readonly faults: readonly InputFault[];
  /** sha256 of each file that was read whole, by its name. */
  readonly digests: Readonly<Record<string, string>>;
}

/**
 * Settles the new lines of a share of one signal upon what is remembered of their entities, and makes every file that follows
 * from an entity alone. A whole compile is the same with an empty memory. The bytes of the files are handed over too: creating
 * files from several threads makes the file system's locks cost more than the threads save.
 */
export function runSignalJob(job: SignalJob, emit: (chunk: JobChunk) => void): JobResult {
  const run = new SignalRun(job, emit);
  const read = run.settle(job.added);
  if (run.isBehind) run.lookBack();
  return run.result(read);
}

type Read = Pick<JobResult, 'readings' | 'rejects' | 'digests' | 'faults'>;

class SignalRun {
  readonly #job: SignalJob;
  readonly #known: KnownEntities;
  readonly #sealer: Sealer;
  readonly #emit: (chunk: JobChunk) => void;
  readonly #faults: InputFault[] = [];
  readonly #memories = new ChunkMemories();
  /** Entities that only all of their lines tell about. */
  readonly #behind = new Set<string>();
  #held: ChunkBuilder;
  #entities = 0;
  #revisions = 0;
  #repeats = 0;

  constructor(job: SignalJob, emit: (chunk: JobChunk) => void) {
    this.#job = job;
    this.#known = new KnownEntities(job.shelves);
    // Bodies of a signal are made only when they changed, so a remembered signature would never be used.
    this.#sealer = makeSealer(job.issuer, job.key);
    this.#emit = emit;
    this.#held = new ChunkBuilder(job.signal_id, this.#memories.next());
  }

  get isBehind(): boolean {
    return this.#behind.size > 0 && this.#faults.length === 0;
  }

  settle(files: readonly SnapshotFile[]): Read {
    return this.#read(files, this.#job, (entity, lines, batches) => {
      const known = this.#known.get(entity);
      const growth = growPast(known?.past ?? null, lines, this.#ground(batches));
      if ('isBehind' in growth) this.#behind.add(entity);
      else if ('fault' in growth) this.#faults.push(growth.fault);
      else this.#publish(growth.ok, known);
    });
  }

  /** Reads all lines of the entities that are behind. Throws a ForgottenError where a file is not what it was. */
  lookBack(): void {
    const { signal_id, added, known } = this.#job;
    const before = knownFilesOf(signal_id, known);
    const files = [...before, ...added].sort(byBatch);
    const rules = { ...this.#job, only: this.#behind };
    // Their lines were judged when they were read first.
    const { digests } = this.#read(files, rules, (entity, lines, batches) => {
      const growth = growPast(null, lines, this.#ground(batches));
      if ('fault' in growth) this.#faults.push(growth.fault);
      else if ('ok' in growth) this.#publish(growth.ok, this.#known.get(entity));
      else throw new RangeError(`Cannot settle "${entity}": behind its own lines`);
    });
    const other = before.find(({ name, sha256 }) => digests[name] !== sha256);
    if (other === undefined) return;
    throw new ForgottenError(`Cannot go on: "${other.name}" holds something else`);
  }

  result({ readings, rejects, digests, faults }: Read): JobResult {
    return {
      signal_id: this.#job.signal_id,
      readings,
      entities: this.#entities,
      revisions: this.#revisions,
      repeats: this.#repeats,
      rejects,
      faults: [...faults, ...this.#faults],
      digests,
    };
  }

  #read(
    files: readonly SnapshotFile[],
    rules: IntakeRules,
    take: (entity: string, lines: readonly StoredReading[], batches: readonly string[]) => void,
  ): Read {
    const { signal_id, scratch, share } = this.#job;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const groups = grouping(bytes / share.of, join(scratch, `${signal_id}-${share.index}`));
    try {
      const read = readSignal({ signal_id, files, bytes }, (stored) => groups.add(stored), rules);
      if (read.faults.length > 0) return read;
      const batches = files.map((file) => file.batch);
      for (const group of groups.groups()) {
        for (const entity of this.#known.byShelf([...group.keys()])) {
          take(entity, defined(group.get(entity), 'the lines of an entity'), batches);
        }
        this.#flush();
      }
      return read;
    } finally {
      groups.dispose();
    }
  }

  #ground(batches: readonly string[]): Ground {
    const { data, entry, seriesDays } = this.#job;
    const { signal } = entry;
    return {
      signal,
      batches,
      seriesDays,
      hashOf: this.#hashOf,
      rowOf: (reading, record_hash) => sourcedRow(signal, reading, record_hash),
      readSegment: (entity, { before, count, size, sha256 }) => {
        const place = { start: before.rows, count };
        const path = segmentPath({ signal_id: signal.id, entity }, place);
        return readRemembered(data, { path, size, sha256 });
      },
    };
  }

  /** Hands over what follows from an entity, and takes back what the previous release says of it. */
  #publish(grown: Grown, known: KnownEntity | null): void {
    const { entry, signal_id } = this.#job;
    const facts = entityFacts(entry, grown, this.#hashOf);
    const { entity } = facts.latest;
    const made = entityFiles(facts, grown, this.#sealer);
    this.#held.entity(facts, { grown, ...made, known });
    if (isJoined(entry.line, signal_id, entity)) this.#held.join(entity, known === null);
    this.#entities += known === null ? 1 : 0;
    this.#revisions += grown.past.revisions - (known?.past.revisions ?? 0);
    this.#repeats += grown.past.repeats - (known?.past.repeats ?? 0);
    if (this.#held.isFull) this.#flush();
  }

  readonly #hashOf = (reading: Reading): string =>
    this.#sealer.recordHash(coreFields(this.#job.entry.signal, reading));

  #flush(): void {
    const chunk = this.#held.build();
    if (chunk !== null) this.#emit(chunk);
    this.#held = new ChunkBuilder(this.#job.signal_id, this.#memories.next());
  }
}

/** True when some joined body reads this entity: a bundle of the line, its life-cycle answer or a city add-on. */
function isJoined(line: Line, signalId: string, entity: string): boolean {
  if (CITIES.some(({ signals }) => signals.includes(signalId))) return true;
  if (line.bundle === undefined) return false;
  if (line.open || line.entities.includes(entity)) return true;
  const mapped = Object.values(line.entityOf ?? {});
  return mapped.some((map) => Object.values(map).includes(entity));
}

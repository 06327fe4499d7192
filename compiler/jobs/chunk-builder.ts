import { type FileEntry, formatCatalogRow, formatVerifyEntry } from '../contract/release.ts';
import type { CityReading } from '../stages/assemble/city-readings.ts';
import { type PublishedFile, recordPath } from '../stages/assemble/entity-files.ts';
import type { EntityFacts } from '../stages/assemble/entity-record.ts';
import type { LegReading } from '../stages/assemble/leg.ts';
import type { Reading } from '../stages/intake/reading.ts';
import { fileEntry } from '../stages/publish/file-writer.ts';
import { formatLeaf, type LeafLines } from '../stages/publish/leaf-lines.ts';
import type { ChunkMemory } from './chunk-memory.ts';
import type { SaidFile } from './said-files.ts';

/** What a job hands over while it runs; its bytes are valid until as many more chunks were taken as there are ChunkMemories. */
export interface JobChunk {
  readonly signal_id: string;
  /** Files, and their bytes one behind the other in the same order. */
  readonly files: readonly FileEntry[];
  readonly bytes: Uint8Array;
  readonly catalog: string;
  /** Rows of the census of the signal, as censusLine writes them. */
  readonly census: string;
  /** Look-up entries, see formatVerifyEntry. */
  readonly verify: Uint8Array;
  /** What the log is to hold. */
  readonly leaves: LeafLines;
  /** LegReading of each entity that some bundle reads: `<entity>` tab JSON. */
  readonly legs: string;
  /** CityReading of each entity, where the signal is read by a city add-on: `<entity>` tab JSON. */
  readonly cities: string;
  /** Where the lines of each entity stand, see formatPlaces. */
  readonly places: string;
  readonly sample: { readonly entity: string; readonly record: object };
  /** What the previous release said of these entities and this one does not. */
  readonly gone: { readonly paths: readonly string[]; readonly verify: string };
}

/** What look-up entries are about. */
type Subject = Pick<EntityFacts, 'signal' | 'timeline' | 'latest'>;

/** What the leaves of readings are made of. */
export interface Origins {
  readonly hashOf: (reading: Reading) => string;
  /** Names of the batches, in batch order. */
  readonly batches: readonly string[];
}

/** What a chunk holds at most before it is handed over, so that memory does not grow with the history of an entity. */
const ENTITIES_MAX = 64;
const READINGS_MAX = 2048;

/** Gathers the output of some entities. */
export class ChunkBuilder {
  readonly #signalId: string;
  readonly #files: FileEntry[] = [];
  readonly #memory: ChunkMemory;
  readonly #paths: string[] = [];
  #entities = 0;
  #readings = 0;
  census = '';
  places = '';
  #legs = '';
  #cities = '';
  #catalog = '';
  #verify: string[] = [];
  readonly #batches = new Set<string>();
  #sample: JobChunk['sample'] | null = null;

  constructor(signalId: string, memory: ChunkMemory) {
    this.#signalId = signalId;
    this.#memory = memory;
  }

  get isFull(): boolean {
    return this.#entities >= ENTITIES_MAX || this.#readings >= READINGS_MAX;
  }

  file({ path, body, text }: PublishedFile): void {
    const bytes = this.#memory.bodies.add(text ?? JSON.stringify(body));
    this.#files.push(fileEntry(path, bytes));
    this.#paths.push(path);
  }

  /** A file of which only its being there is of interest. */
  path(path: string): void {
    this.#paths.push(path);
  }

  sample({ latest }: EntityFacts, record: object): void {
    this.#sample ??= { entity: latest.entity, record };
  }

  leg(leg: LegReading): void {
    this.#legs += `${leg.entity}\t${JSON.stringify(leg)}\n`;
  }

  city(city: CityReading): void {
    this.#cities += `${city.leg.entity}\t${JSON.stringify(city)}\n`;
  }

  catalog(leg: LegReading): void {
    const { signal_id, entity, entity_name, observed_at, band, record_hash } = leg;
    this.#entities += 1;
    this.#catalog += formatCatalogRow({
      signal_id,
      entity,
      entity_name,
      observed_at,
      band,
      record_hash,
      last_looked_at: leg.last_collected_at,
    });
  }

  /** Every citation has a look-up entry, since its verify_url names its own hash. */
  citation({ signal, latest }: Subject, { path, record_hash }: SaidFile): void {
    if (record_hash === undefined) return;
    this.#lookUp({
      record_hash,
      kind: 'citation',
      state: 'current',
      file: path,
      signal_id: signal.id,
      entity: latest.entity,
      observed_at: latest.observed_at,
    });
  }

  /** The latest reading has a look-up entry: all others are found in the log alone. */
  latest({ signal, latest }: Subject, record_hash: string): void {
    this.#lookUp({
      record_hash,
      kind: 'reading',
      state: 'current',
      file: recordPath(signal.id, latest.entity),
      signal_id: signal.id,
      entity: latest.entity,
      observed_at: latest.observed_at,
    });
  }

  /** Every reading is to be in the log, also one that another has taken the place of. */
  leaves({ signal, timeline }: Subject, { hashOf, batches }: Origins): void {
    for (const reading of [...timeline.replaced, ...timeline.readings]) {
      this.#readings += 1;
      const batch = batches[timeline.batchOf.get(reading) ?? 0] ?? '';
      this.#batches.add(batch);
      const line = formatLeaf({
        batch,
        record_hash: hashOf(reading),
        kind: 'reading',
        signal_id: signal.id,
        entity: reading.entity,
        observed_at: reading.observed_at,
      });
      this.#memory.leaves.add(line);
    }
  }

  #lookUp(entry: Parameters<typeof formatVerifyEntry>[0]): void {
    this.#verify.push(formatVerifyEntry(entry));
  }

  /** `former` is the output of the same entities as the previous release has it. */
  build(former: ChunkBuilder): JobChunk | null {
    if (this.#sample === null) return null;
    const { bodies, lookUps, leaves } = this.#memory;
    for (const line of without(this.#verify, former.#verify)) lookUps.add(line);
    return {
      signal_id: this.#signalId,
      files: this.#files,
      bytes: bodies.all(),
      catalog: this.#catalog,
      census: this.census,
      verify: lookUps.all(),
      leaves: { batches: [...this.#batches], lines: leaves.all() },
      legs: this.#legs,
      cities: this.#cities,
      places: this.places,
      sample: this.#sample,
      gone: {
        paths: without(former.#paths, this.#paths),
        verify: without(former.#verify, this.#verify).join(''),
      },
    };
  }
}

function without(texts: readonly string[], others: readonly string[] = []): readonly string[] {
  if (texts.length === 0 || others.length === 0) return texts;
  const known = new Set(others);
  return texts.filter((text) => !known.has(text));
}

import type { CityReading } from '../contract/city-readings.ts';
import type { LegReading } from '../contract/leg.ts';
import type { SignalRecord } from '../contract/record.ts';
import { catalogRow } from '../contract/record-views.ts';
import {
  type FileEntry,
  formatCatalogRow,
  formatVerifyEntry,
  type Leaf,
} from '../contract/release.ts';
import { type SeriesSubject, segmentPath } from '../contract/series-segments.ts';
import { type PublishedFile, recordPath } from '../stages/assemble/entity-files.ts';
import type { EntityFacts } from '../stages/assemble/entity-record.ts';
import type { Segment } from '../stages/assemble/series-segments.ts';
import { fileEntry } from '../stages/publish/file-writer.ts';
import { type LeafLines, leafLines } from '../stages/publish/leaf-lines.ts';
import type { Grown } from '../stages/remember/entity-past.ts';
import type { KnownEntity } from '../stages/remember/past-text.ts';
import { citationOf } from '../stages/seal/sealer.ts';
import type { ChunkMemory } from './chunk-memory.ts';
import { formatSaid, parseSaid, type SaidFile } from './said-files.ts';

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
  /** What the next compile is to know of each entity: `<entity>` tab formatKnown. */
  readonly known: Uint8Array;
  readonly sample: { readonly entity: string; readonly record: object };
  /** What the previous release said of these entities and this one does not. */
  readonly gone: { readonly paths: readonly string[]; readonly verify: string };
}

/** What becomes of one entity. */
interface Outcome {
  readonly grown: Grown;
  readonly files: readonly PublishedFile[];
  /** The sealed record. */
  readonly record: object;
  /** The entity as the previous release has it; null for a new one. */
  readonly known: KnownEntity | null;
}

/** What a chunk holds at most before it is handed over, so that memory does not grow with the history of an entity. */
const ENTITIES_MAX = 64;
const READINGS_MAX = 2048;

/** Gathers the output of some entities. */
export class ChunkBuilder {
  readonly #signalId: string;
  readonly #memory: ChunkMemory;
  readonly #files: FileEntry[] = [];
  readonly #goneFiles: string[] = [];
  readonly #verify: string[] = [];
  readonly #goneVerify: string[] = [];
  readonly #leaves: Leaf[] = [];
  census = '';
  #legs = '';
  #cities = '';
  #catalog = '';
  #entities = 0;
  #readings = 0;
  #sample: JobChunk['sample'] | null = null;

  constructor(signalId: string, memory: ChunkMemory) {
    this.#signalId = signalId;
    this.#memory = memory;
  }

  get isFull(): boolean {
    return this.#entities >= ENTITIES_MAX || this.#readings >= READINGS_MAX;
  }

  /** Takes over what is made of an entity; returns what is said of it, see formatSaid. */
  entity(facts: EntityFacts, { grown, files, record, known }: Outcome): string {
    const { entity } = facts.latest;
    this.#entities += 1;
    this.#readings += grown.fresh.length;
    this.#sample ??= { entity, record };
    for (const file of files) this.#file(file.path, file.text ?? JSON.stringify(file.body));
    for (const { segment, bytes } of grown.segments) {
      this.#file(pathOf({ signal_id: this.#signalId, entity }, segment), bytes);
    }
    const said = files.map(({ path, body }) => {
      return { path, record_hash: citationOf(body)?.record_hash };
    });
    this.#lookUps(facts, grown, said);
    if (known !== null) this.#takeBack(facts, known, { grown, said });
    return formatSaid(said);
  }

  remember(entity: string, text: string): void {
    this.#memory.known.add(`${entity}\t${text}\n`);
  }

  leg(leg: LegReading): void {
    this.#legs += `${leg.entity}\t${JSON.stringify(leg)}\n`;
  }

  city(city: CityReading): void {
    this.#cities += `${city.leg.entity}\t${JSON.stringify(city)}\n`;
  }

  catalog(record: SignalRecord): void {
    this.#catalog += formatCatalogRow(catalogRow(record));
  }

  build(): JobChunk | null {
    if (this.#sample === null) return null;
    const { bodies, lookUps, leaves, known } = this.#memory;
    for (const line of this.#verify) lookUps.add(line);
    return {
      signal_id: this.#signalId,
      files: this.#files,
      bytes: bodies.all(),
      catalog: this.#catalog,
      census: this.census,
      verify: lookUps.all(),
      leaves: leafLines(this.#leaves, leaves),
      legs: this.#legs,
      cities: this.#cities,
      known: known.all(),
      sample: this.#sample,
      gone: { paths: this.#goneFiles, verify: this.#goneVerify.join('') },
    };
  }

  #file(path: string, content: string | Uint8Array): void {
    this.#files.push(fileEntry(path, this.#memory.bodies.add(content)));
  }

  /** The latest reading has a look-up entry, and so has every citation, since its verify_url names its own hash. */
  #lookUps(facts: EntityFacts, { fresh }: Grown, said: readonly SaidFile[]): void {
    const { signal, latest, record_hash } = facts;
    for (const { batch, record_hash } of fresh) this.#leaves.push({ batch, record_hash });
    const subject = { signal: signal.id, entity: latest.entity, observed_at: latest.observed_at };
    this.#verify.push(...linesOf(subject, record_hash, said));
  }

  /** What the previous release says of an entity goes, unless it is said again. */
  #takeBack(
    { signal, latest }: EntityFacts,
    { past, published }: KnownEntity,
    now: { readonly grown: Grown; readonly said: readonly SaidFile[] },
  ): void {
    const { entity } = latest;
    const before = parseSaid(recordPath(signal.id, entity), published.said);
    const pathsOf = (said: readonly SaidFile[], { series }: Grown['past']): string[] => [
      ...said.map(({ path }) => path),
      ...series.segments.map((segment) => pathOf({ signal_id: signal.id, entity }, segment)),
    ];
    const there = new Set(pathsOf(now.said, now.grown.past));
    this.#goneFiles.push(...pathsOf(before, past).filter((path) => !there.has(path)));
    const subject = { signal: signal.id, entity, observed_at: published.observed_at };
    this.#goneVerify.push(...linesOf(subject, published.record_hash, before));
  }
}

function pathOf(subject: SeriesSubject, { before, count }: Segment): string {
  return segmentPath(subject, { start: before.rows, count });
}

/** Look-up lines of an entity: of its latest reading, and of every body that is signed. */
function linesOf(
  { signal, entity, observed_at }: { signal: string; entity: string; observed_at: string },
  record_hash: string,
  said: readonly SaidFile[],
): string[] {
  const subject = { state: 'current', signal_id: signal, entity, observed_at } as const;
  const file = recordPath(signal, entity);
  const reading = formatVerifyEntry({ record_hash, kind: 'reading', file, ...subject });
  const citations = said.flatMap(({ path, record_hash }) =>
    record_hash === undefined
      ? []
      : [formatVerifyEntry({ record_hash, kind: 'citation', file: path, ...subject })],
  );
  return [reading, ...citations];
}

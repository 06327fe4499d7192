import { defined } from '../../format/errors.ts';
import { type FileEntry, formatCatalogRow, formatVerifyEntry } from '../../format/release.ts';
import type { SignalRecord } from '../../products/shapes/record.ts';
import { catalogRow } from '../../products/shapes/record-views.ts';
import { type SeriesSubject, segmentPath } from '../../products/shapes/series.ts';
import type { Grown } from '../../readings/grow-past.ts';
import { formatKnown, type KnownEntity } from '../../readings/past-text.ts';
import type { Segment } from '../../readings/series-segments.ts';
import type { HeldHash } from '../../readings/timeline.ts';
import { fileEntry } from '../../release/file-writer.ts';
import { formatLeaf } from '../../release/leaf-store.ts';
import { formatStatement, statementOf } from '../../release/statement-list.ts';
import { citationOf } from '../../system/sealer.ts';
import { type PublishedFile, recordPath } from './entity-files.ts';
import type { EntityFacts } from './entity-record.ts';

/** Digits of the record hash of a citation that are remembered; its line says the rest. */
const MARK_DIGITS = 8;
const HASH_DIGITS = 64;
const PREFIX = 'sha256:';
/** Stands for a digit that is not remembered. */
const MASK = '*';

/** What a job hands over while it runs; its bytes are valid until as many more chunks were taken as there are ChunkMemories. */
export interface JobChunk {
  readonly signal_id: string;
  /** Files, and their bytes one after the other in the same order. */
  readonly files: readonly FileEntry[];
  readonly bytes: Uint8Array;
  readonly catalog: string;
  /** Look-up entries, see formatVerifyEntry. */
  readonly verify: Uint8Array;
  /** Record hashes of readings, see formatLeaf. */
  readonly leaves: Uint8Array;
  /** Statements of bodies, see formatStatement. */
  readonly statements: Uint8Array;
  /** What the next compile is to know of each entity, see formatKnown. */
  readonly known: Uint8Array;
  /** Entities that some joined body reads; true for those that the previous release does not have. */
  readonly joined: readonly (readonly [entity: string, isNew: boolean])[];
  /** The first entity by name. */
  readonly first: string;
  /** What the previous release has of these entities and this one does not. */
  readonly gone: {
    readonly paths: readonly string[];
    /** Those of them that are bodies with a citation. */
    readonly cited: readonly string[];
    readonly verify: string;
  };
}

interface BuiltEntity {
  grown: Grown;
  record: SignalRecord;
  /** The record among them. */
  files: readonly PublishedFile[];
  /** The entity as the previous release has it; null for a new one. */
  known: KnownEntity | null;
}

/** What a chunk holds at most before it is handed over, so that memory does not grow with the history of an entity. */
const ENTITIES_MAX = 16;
const READINGS_MAX = 2048;

export class ChunkBuilder {
  readonly #signalId: string;
  readonly #memory: ChunkMemory;
  readonly #files: FileEntry[] = [];
  readonly #goneFiles: string[] = [];
  readonly #goneCited: string[] = [];
  readonly #verify: string[] = [];
  readonly #goneVerify: string[] = [];
  readonly #joined: (readonly [string, boolean])[] = [];
  #catalog = '';
  #entities = 0;
  #readings = 0;
  #first: string | null = null;

  constructor(signalId: string, memory: ChunkMemory) {
    this.#signalId = signalId;
    this.#memory = memory;
  }

  get isFull(): boolean {
    return this.#entities >= ENTITIES_MAX || this.#readings >= READINGS_MAX;
  }

  entity(facts: EntityFacts, { grown, record, files, known }: BuiltEntity): void {
    const { entity } = facts.latest;
    this.#entities += 1;
    this.#readings += grown.fresh.length;
    if (this.#first === null || entity < this.#first) this.#first = entity;
    this.#catalog += formatCatalogRow(catalogRow(record));
    for (const file of files) this.#file(file.path, file.text ?? JSON.stringify(file.body));
    for (const { segment, bytes } of grown.segments) {
      this.#file(pathOf({ signal_id: this.#signalId, entity }, segment), bytes);
    }
    const marked = files.map(({ path, body }) => {
      return { path, record_hash: citationOf(body)?.record_hash };
    });
    const ownRecord = recordPath(this.#signalId, entity);
    const cited = citedIn(known === null ? [] : parseFileMarks(ownRecord, known.files));
    for (const { path, body } of files) {
      const citation = citationOf(body);
      if (citation === undefined) continue;
      this.#memory.statements.add(formatStatement(statementOf(citation), cited.has(path)));
    }
    for (const held of grown.fresh) this.#leaf(held, entity);
    const { looked_at, record_hash } = facts;
    const subject = { signal: this.#signalId, entity, observed_at: facts.latest.observed_at };
    this.#verify.push(...linesOf(subject, record_hash, marked));
    if (known !== null) this.#takeBack(facts, known, { grown, files: marked });
    // As it was stored: a name of the tables is given again each time.
    const { reading } = defined(facts.recent.at(-1), 'the newest reading');
    const now = { reading, record_hash, looked_at };
    const text = formatKnown({ latest: now, past: grown.past, files: formatFileMarks(marked) });
    this.#memory.known.add(text);
  }

  join(entity: string, isNew: boolean): void {
    this.#joined.push([entity, isNew]);
  }

  build(): JobChunk | null {
    if (this.#first === null) return null;
    const { bodies, lookUps, leaves, statements, known } = this.#memory;
    for (const line of this.#verify) lookUps.add(line);
    return {
      signal_id: this.#signalId,
      files: this.#files,
      bytes: bodies.all(),
      catalog: this.#catalog,
      verify: lookUps.all(),
      leaves: leaves.all(),
      statements: statements.all(),
      known: known.all(),
      joined: this.#joined,
      first: this.#first,
      gone: {
        paths: this.#goneFiles,
        cited: this.#goneCited,
        verify: this.#goneVerify.join(''),
      },
    };
  }

  #file(path: string, content: string | Uint8Array): void {
    this.#files.push(fileEntry(path, this.#memory.bodies.add(content)));
  }

  #leaf({ record_hash, observed_at }: HeldHash, entity: string): void {
    const facts = { kind: 'reading', signal_id: this.#signalId, entity, observed_at } as const;
    this.#memory.leaves.add(formatLeaf({ record_hash, ...facts }));
  }

  /** What the previous release has of an entity goes, unless it is published again. */
  #takeBack(
    { signal, latest }: EntityFacts,
    { latest: was, past, files }: KnownEntity,
    now: { grown: Grown; files: readonly MarkedFile[] },
  ): void {
    const { entity } = latest;
    const before = parseFileMarks(recordPath(signal.id, entity), files);
    const pathsOf = (marked: readonly MarkedFile[], { series }: Grown['past']): string[] => [
      ...marked.map(({ path }) => path),
      ...series.segments.map((segment) => pathOf({ signal_id: signal.id, entity }, segment)),
    ];
    const there = new Set(pathsOf(now.files, now.grown.past));
    this.#goneFiles.push(...pathsOf(before, past).filter((path) => !there.has(path)));
    const cited = citedIn(now.files);
    this.#goneCited.push(...[...citedIn(before)].filter((path) => !cited.has(path)));
    const subject = { signal: signal.id, entity, observed_at: was.reading.observed_at };
    this.#goneVerify.push(...linesOf(subject, was.record_hash, before));
  }
}

/** Paths of those files that are bodies with a citation. */
function citedIn(files: readonly MarkedFile[]): ReadonlySet<string> {
  return new Set(files.flatMap(({ path, record_hash }) => (record_hash === undefined ? [] : path)));
}

function pathOf(subject: SeriesSubject, { before, count }: Segment): string {
  return segmentPath(subject, { start: before.rows, count });
}

/** Look-up lines of an entity: of its latest reading, and of every citation, since its verify_url names its own hash. */
function linesOf(
  { signal, entity, observed_at }: { signal: string; entity: string; observed_at: string },
  record_hash: string,
  files: readonly MarkedFile[],
): string[] {
  const subject = { state: 'current', signal_id: signal, entity, observed_at } as const;
  const file = recordPath(signal, entity);
  const reading = formatVerifyEntry({ record_hash, kind: 'reading', file, ...subject });
  const citations = files.flatMap(({ path, record_hash }) =>
    record_hash === undefined
      ? []
      : [formatVerifyEntry({ record_hash, kind: 'citation', file: path, ...subject })],
  );
  return [reading, ...citations];
}

/** A file that was published about an entity, and the record hash of its citation where it has one. */
interface MarkedFile {
  path: string;
  record_hash: string | undefined;
}

/** What follows the kind in the path of every file of an entity, from the path of its record. */
function tailOf(record: string): string {
  return record.slice(record.indexOf('/'));
}

/** Files of an entity, its record first, as one text without white space: the kind of each, and how its hash begins. */
export function formatFileMarks(files: readonly MarkedFile[]): string {
  const tail = tailOf(defined(files[0], 'the record').path);
  const cells = files.map(({ path, record_hash = PREFIX }) => {
    if (!path.endsWith(tail)) throw new RangeError(`Cannot remember "${path}": not by its entity`);
    const mark = record_hash.slice(PREFIX.length, PREFIX.length + MARK_DIGITS);
    return `${path.slice(0, -tail.length)}:${mark}`;
  });
  return cells.join(',');
}

/** The inverse of formatFileMarks for the entity with a record at this path, with an asterisk for each digit that is not remembered. */
export function parseFileMarks(record: string, text: string): readonly MarkedFile[] {
  const tail = tailOf(record);
  return text.split(',').map((cell) => {
    const [kind, mark] = cell.split(':');
    const record_hash = mark ? PREFIX + mark.padEnd(HASH_DIGITS, MASK) : undefined;
    return { path: defined(kind, 'the kind') + tail, record_hash };
  });
}

/** Enough for a signal of one entity; a larger one doubles it. */
const BYTES_AT_FIRST = 16_384;
/** UTF-8 takes no more of one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;

/** Chunks of one worker that may wait to be written; a faster worker waits for the disk. */
export const CHUNKS_WAITING_MAX = 4;

/** What the bytes of a chunk stand in; other threads can read it. */
class ChunkMemory {
  readonly bodies = new TextBytes();
  readonly lookUps = new TextBytes();
  readonly known = new TextBytes();
  readonly leaves = new TextBytes();
  readonly statements = new TextBytes();
}

/**
 * Memories by turns, one more than chunks may wait: when one comes again, the chunk that stood in it was taken.
 * What is sent away instead would lie about in the other thread until it collects its garbage.
 */
export class ChunkMemories {
  readonly #turns = Array.from({ length: CHUNKS_WAITING_MAX + 1 }, () => new ChunkMemory());
  #turn = 0;

  next(): ChunkMemory {
    const memory = this.#turns[this.#turn % this.#turns.length] ?? new ChunkMemory();
    this.#turn += 1;
    memory.bodies.clear();
    memory.lookUps.clear();
    memory.known.clear();
    memory.leaves.clear();
    memory.statements.clear();
    return memory;
  }
}

/** Texts as UTF-8, one after the other, in memory that other threads can read and that is used again once it is cleared. */
export class TextBytes {
  #memory = sharedBytes(0);
  #end = 0;

  /** Adds a text, or one that is UTF-8 already; the bytes of it are valid until the next one is added. */
  add(text: string | Uint8Array): Uint8Array {
    const start = this.#end;
    if (typeof text === 'string') {
      this.#makeRoom(text.length * UNIT_BYTES_MAX);
      this.#end += this.#memory.write(text, start, 'utf8');
    } else {
      this.#makeRoom(text.length);
      this.#memory.set(text, start);
      this.#end += text.length;
    }
    return this.#memory.subarray(start, this.#end);
  }

  /** All texts; valid until it is cleared. */
  all(): Uint8Array {
    return this.#memory.subarray(0, this.#end);
  }

  clear(): void {
    this.#end = 0;
  }

  #makeRoom(more: number): void {
    const { length } = this.#memory;
    if (this.#end + more <= length) return;
    const grown = sharedBytes(Math.max(BYTES_AT_FIRST, 2 * length, this.#end + more));
    grown.set(this.all());
    this.#memory = grown;
  }
}

/** Memory that a message to another thread does not copy. */
function sharedBytes(size: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(size));
}

import { hash, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { WHOLE_CATALOG_PATH } from '../catalog/whole-catalog.ts';
import { type Description, describe } from '../describe/describe.ts';
import type { Shelf } from '../describe/examples.ts';
import { isSearchIndex } from '../describe/search-index.ts';
import { CatalogView, writePieces } from '../describe/write-pieces.ts';
import { defined } from '../format/errors.ts';
import type { KeyHistory } from '../format/key-history.ts';
import {
  CATALOG_PATH,
  CONTRACT_VERSION,
  HEAD_BYTES_MAX,
  RELEASE_NAME,
  type Release,
  releaseName,
} from '../format/release.ts';
import type { ReleaseEntry } from '../format/release-entry.ts';
import { BLOCKS_PATH } from '../format/statement-tree.ts';
import { type KnownBatches, noteBatches } from '../readings/known-batches.ts';
import type { Shelves } from '../readings/known-entities.ts';
import type { SnapshotFile, Snapshots } from '../readings/list-snapshots.ts';
import type { KnownSignal, Memory, Notes } from '../readings/memory.ts';
import { shelvesOf } from '../readings/merge-plan.ts';
import type { EntityNotes } from '../readings/next-state.ts';
import { REJECTS_FOLDER } from '../readings/read-signal.ts';
import { type CatalogNews, type ChangeCounts, catalogNews } from '../release/catalog-changes.ts';
import type { FileWriter } from '../release/file-writer.ts';
import type { LeafStore } from '../release/leaf-store.ts';
import { type CountedPress, makePress, type Press } from '../release/press.ts';
import { BY_CADENCE, nextPlace, validUntilByCadence } from '../release/release-folders.ts';
import {
  ReleaseList,
  readCatalog,
  readRemembered,
  readStored,
  type UnsignedHead,
  writeHead,
} from '../release/release-list.ts';
import {
  type LogSwitch,
  type PreviousFiles,
  type Published,
  STATE_FOLDER,
  type Staging,
} from '../release/release-store.ts';
import {
  formatStatement,
  type StatementList,
  statementOf,
  writeStatements,
} from '../release/statement-list.ts';
import type { VerifyShards } from '../release/verify-shards.ts';
import { ForgottenError } from '../system/compile-error.ts';
import { readPlain } from '../system/plain-file.ts';
import { citationOf, type Issuer, makeSealer, withOverlapKey } from '../system/sealer.ts';
import { type Assembly, LatestTable, type Material } from './assemble/assembly.ts';
import type { CollectionPart } from './assemble/settle-rows.ts';
import { appendRelease, continuedLog, stagedHashes, takeLeaves } from './log/continue-log.ts';
import { type ReadBack, readBack } from './read-back.ts';

/** Look-up lines of the collections and of the descriptions, as the next compile remembers them, and targets of their statements. */
const PARTS_LOOK_UPS = 'parts-look-ups';
const PARTS_TARGETS = 'parts-targets';
/** Groups of the collections, as a press gives them. */
const PARTS_GROUPS = 'parts-groups';
/** The statements of the whole release, as StatementList has them. */
export const STATEMENTS_NOTE = 'statements';

/** What a release is to say, and how it is published. */
export interface PublishOptions {
  readonly data: string;
  /** The time that the release describes, ISO-8601 UTC; the compile knows no other clock. */
  readonly asOf: string;
  /** When readers should look for a newer release, ISO-8601 UTC, or BY_CADENCE; none is promised without it. */
  readonly validUntil?: string;
  /** Public address of the service, without a slash at its end. */
  readonly baseUrl: string;
  /** `mailto:` or https address for fault reports; the descriptions show it. */
  readonly contact?: string | null;
  /** Whether subscriptions are described and offered; true by default. */
  readonly subscriptions?: boolean;
  /** 32-byte Ed25519 seed. */
  readonly seed: Uint8Array;
  /** Seed of the other key of an overlap: it signs checkpoints of the log too, while it is valid. */
  readonly overlapSeed?: Uint8Array;
  /** How much of the release is read back before it is published; 'sample' by default. */
  readonly readBack?: ReadBack;
  readonly progress?: (step: Progress) => void;
}

export interface Progress {
  readonly stage: 'read' | 'join' | 'publish';
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

export interface PublishSummary {
  readonly release: Release;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  /** Folder that holds the lines which were left out; null when there is none. */
  readonly rejects: string | null;
  /** Whether it went on from the previous release instead of reading everything. */
  readonly isIncremental: boolean;
  /** How the latest readings differ from those of the previous release; null where those cannot be read. */
  readonly changes: ChangeCounts | null;
  /** Errors after the release was published: what the next compile would have used could not be put away. */
  readonly cleanupFailures: readonly unknown[];
}

/** What holds for the whole of one compile. */
export interface RunTerms {
  readonly catalog: Catalog;
  /** The same as the text of the one file that the release carries. */
  readonly catalogText: string;
  /** Hash of that text, `sha256:` and hex. */
  readonly catalogSha256: string;
  readonly staging: Staging;
  readonly issuer: Issuer;
  /** The key that signs now. */
  readonly issuerKey: KeyObject;
  /** The other key of an overlap, which signs checkpoints of the log too; null for none. */
  readonly overlapKey: KeyObject | null;
  readonly keys: KeyHistory;
  /** Digest of the tables, and of everything else that bodies follow from. */
  readonly tableDigest: string;
  readonly stateKey: string;
}

/** Inputs and outputs of one compile. */
export interface Run extends RunTerms {
  readonly assembly: Assembly;
  readonly shards: VerifyShards;
  readonly leaves: LeafStore;
  readonly statements: StatementList;
  readonly writer: FileWriter;
  readonly parts: readonly CollectionPart[];
  readonly notes: Notes;
  readonly entities: EntityNotes;
  readonly stored: Snapshots;
  /** The batches as the previous compile remembers them, whether or not this one goes on from it. */
  readonly known: KnownBatches;
  /** Files that no earlier compile read, by signal. */
  readonly added: ReadonlyMap<string, readonly SnapshotFile[]>;
  /** What this compile takes over from the previous one; null for a compile from nothing. */
  readonly memory: Memory | null;
}

/** Writes what follows from all signals together, then the head, then switches. `digests`: sha256 in hex, by file name. */
export async function publishRun(
  options: PublishOptions,
  run: Run,
  signals: ReadonlyMap<string, KnownSignal>,
  digests: ReadonlyMap<string, string>,
): Promise<PublishSummary> {
  const { staging, notes, memory } = run;
  options.progress?.({ stage: 'join', done: 0, total: 1, label: 'bundles and look-ups' });
  const sealer = withOverlapKey(makeSealer(run.issuer, run.issuerKey), run.overlapKey);
  const before = memory === null ? null : staging.previous;
  const list = new ReleaseList(before?.files() ?? null, before?.head.files_count ?? 0);
  const press = () =>
    makePress({
      ...run,
      sealer,
      asOf: options.asOf,
      before: (path) => before?.files()?.find(path) ?? null,
      groupsBefore: memory?.has(PARTS_GROUPS) ? memory.read(PARTS_GROUPS).toString('utf8') : '[]',
    });
  list.remove(run.assembly.gone);
  forgetStatements(run);
  list.add(run.assembly.files);
  const table = latestTable(run, run.entities.finish(notes));
  const entities = new Map([...signals].map(([id, known]) => [id, known.entities]));
  const shelf = shelfOf(options.data, list);
  writeJoined(run, { list, press: press() }, { table, entities, read: shelf.read });
  const news = newsSince(staging, list);
  writeSitePieces(run, { list, press: press() }, { shelf, news });
  const sampleOf = (id: string): string | null => run.assembly.sampleOf(id);
  const site = { catalog: run.catalog, counts: entities, sampleOf, news };
  writeParts(options, run, { list, press: press(), site });
  list.add(run.shards.write(run.writer));
  list.remove(run.shards.emptied);
  const own = press();
  const log = continuedLog({ staging, press: own });
  const { taken, gone } = takeLeaves(log, run.leaves, memory !== null);
  list.remove(gone);
  const all = writeAll(run, { list, press: own }, before);
  list.add(own.files);
  const head = unsignedHead(options, run, signals);
  const { release, count, bytesAdded } = writeHead(staging.root, { list, head }, sealer);
  const logged = appendRelease(log, release, { all, taken });
  const bytes = (memory?.state.bytes ?? 0) + bytesAdded;
  noteBatches(notes, run.stored.batches, { known: run.known, digests, since: staging.openedMs });
  notes.finish({
    key: run.stateKey,
    release: hash('sha256', readPlain(join(staging.root, RELEASE_NAME), HEAD_BYTES_MAX), 'hex'),
    since: staging.openedMs,
    signals: Object.fromEntries(
      [...signals].map(([id, known]) => [id, { ...known, sample: sampleOf(id) }]),
    ),
    bundles: run.assembly.bundles,
    bytes,
  });
  options.progress?.({ stage: 'publish', done: 0, total: 1, label: `release ${release.sequence}` });
  const changes = news?.counts ?? null;
  const written = { release, list, logged };
  const { folder, cleanupFailures } = await switchTo(options, run, written);
  const hasRejects = release.counts.rejects !== undefined;
  const rejects = hasRejects ? join(options.data, STATE_FOLDER, REJECTS_FOLDER) : null;
  const isIncremental = memory !== null;
  return { release, folder, files: count, bytes, rejects, isIncremental, changes, cleanupFailures };
}

/** What the page for people asks for, as far as it differs from what the previous release says. */
function writeSitePieces(
  { catalog, assembly, memory }: Run,
  { list, press }: Output,
  { shelf, news }: { readonly shelf: Shelf; readonly news: CatalogNews | null },
): void {
  const gone = writePieces(press, {
    shelf,
    catalog,
    view: new CatalogView(shelf.read(CATALOG_PATH)),
    changed: assembly.changed,
    news: memory === null ? null : news,
    find: (path) => list.find(path),
  });
  list.remove(gone);
  list.add(press.files);
}

/** Reads back what was written, waits until it is on the disk, and makes it the current release. */
async function switchTo(
  options: PublishOptions,
  { staging, catalog }: Pick<Run, 'staging' | 'catalog'>,
  { release, list, logged }: { release: Release; list: ReleaseList; logged: LogSwitch },
): Promise<Published> {
  const { root, data } = staging;
  const { issuer_did: issuerDid, as_of: asOf } = release;
  const taken = stagedHashes(staging);
  const written = { data, root, entries: list.added(), issuerDid, asOf, taken, catalog };
  // The disk is waited for while what was written is read from memory.
  const checked = readBack(written, options.readBack ?? 'sample');
  const [settled] = await Promise.all([staging.settle(), checked]);
  return await settled.publish(releaseName(release), logged);
}

/** Null where the previous release cannot be read. */
function newsSince(staging: Staging, list: ReleaseList): CatalogNews | null {
  const [before, after] = [previousCatalog(staging), readCatalog(staging.data, list)];
  return before === null || after === null ? null : catalogNews(before, after);
}

/** The catalog that this release supersedes, empty before the first release; null where it cannot be read. */
export function previousCatalog({ previous, data }: Staging): Buffer | null {
  if (previous === null) return Buffer.alloc(0);
  const files = previous.files();
  return files === null ? null : readCatalog(data, files);
}

interface Output {
  readonly list: ReleaseList;
  readonly press: CountedPress;
}

/** The latest readings as they are now; of a signal without new lines as the previous compile left them. */
function latestTable({ memory }: Run, now: ReadonlyMap<string, Shelves>): LatestTable {
  return new LatestTable((id) => now.get(id) ?? (memory === null ? null : shelvesOf(memory, id)));
}

/** What joins signals; after a change only what the change touches. */
function writeJoined(
  { assembly, shards, statements, notes, memory }: Run,
  { list, press }: Output,
  material: Material,
): void {
  assembly.write(press, material);
  list.add(press.files);
  const text = memory?.read('joined').toString('utf8') ?? '';
  const lookUps = new Map(text.split('\n').slice(0, -1).map(splitAtTab));
  for (const [file, statement] of press.statements) {
    statements.add(formatStatement(statement, lookUps.has(file)));
  }
  for (const [file, line] of press.lookUps) {
    const before = lookUps.get(file);
    if (before !== undefined) shards.remove(`${before}\n`);
    lookUps.set(file, line.slice(0, -1));
  }
  notes.write('joined', [...lookUps].map(([file, line]) => `${file}\t${line}\n`).join(''));
}

function splitAtTab(line: string): [string, string] {
  const tab = line.indexOf('\t');
  return [line.slice(0, tab), line.slice(tab + 1)];
}

/** What comes from collections, and the descriptions, whole each time. */
function writeParts(
  options: PublishOptions,
  run: Run,
  { list, press, site }: Output & { readonly site: Description['site'] },
): void {
  const { memory, shards, statements, notes } = run;
  const linesOf = (name: string): string[] =>
    (memory?.read(name).toString('utf8') ?? '').split(/(?<=\n)/).filter((line) => line !== '');
  list.remove(linesOf('parts-files').map((line) => line.slice(0, -1)));
  for (const line of linesOf(PARTS_TARGETS)) statements.remove(line.slice(0, -1));
  shards.remove(linesOf(PARTS_LOOK_UPS).join(''));
  const isStored = (path: string): boolean => list.find(path) !== null;
  const leaves = new PartLeaves(press, memory);
  for (const part of run.parts) part.write({ ...press, leaf: leaves.take }, isStored);
  notes.write('parts-leaves', leaves.text());
  notes.writeChanged(PARTS_GROUPS, press.groups());
  for (const [, statement] of press.statements) statements.add(formatStatement(statement, false));
  notes.write(PARTS_TARGETS, press.statements.map(([, { target }]) => `${target}\n`).join(''));
  list.add(press.files);
  press.pack(WHOLE_CATALOG_PATH, run.catalogText);
  // Descriptions come last: they show what is stored.
  const shelf = shelfOf(options.data, list);
  const { contact = null, subscriptions = true } = options;
  describe(press, { shelf, contact, subscriptions, keys: run.keys, site });
  list.add(press.files);
  const written = press.files.filter(({ path }) => !isSearchIndex(path));
  notes.write('parts-files', written.map(({ path }) => `${path}\n`).join(''));
  notes.write(PARTS_LOOK_UPS, press.lookUps.map(([, line]) => line).join(''));
}

/** Takes away the statements of bodies that the previous release has and this one does not. */
function forgetStatements({ assembly, statements, staging }: Run): void {
  const before = staging.previous?.files();
  for (const path of assembly.goneCited) {
    const entry = before?.find(path);
    if (entry == null) throw new ForgottenError(`Cannot forget "${path}": not listed`);
    const body = JSON.parse(readRemembered(staging.data, entry).toString('utf8'));
    statements.remove(statementOf(defined(citationOf(body), 'the citation')).target);
  }
}

/** Writes the tree over every statement of the release; returns its count and root. */
function writeAll(
  { statements, notes, memory, staging }: Run,
  { list, press }: Output,
  before: PreviousFiles | null,
): ReleaseEntry['all'] {
  const lines = statements.lines();
  const entry = before?.files()?.find(BLOCKS_PATH) ?? null;
  const were =
    memory === null || entry === null
      ? null
      : {
          lines: memory.read(STATEMENTS_NOTE),
          blocks: readRemembered(staging.data, entry).toString('latin1'),
        };
  const { all, gone } = writeStatements(lines, were, press.file);
  list.remove(gone);
  notes.write(STATEMENTS_NOTE, lines);
  return all;
}

/** Leaves of the collections, which each compile reads whole: those of the previous one are in the log. */
class PartLeaves {
  readonly #press: Press;
  readonly #before: ReadonlySet<string>;
  readonly #given = new Set<string>();

  constructor(press: Press, memory: Memory | null) {
    this.#press = press;
    this.#before = new Set(memory?.read('parts-leaves').toString('latin1').split('\n'));
  }

  readonly take: Press['leaf'] = (leaf) => {
    this.#given.add(leaf.record_hash);
    if (!this.#before.has(leaf.record_hash)) this.#press.leaf(leaf);
  };

  text(): string {
    return [...this.#given].join('\n');
  }
}

/** What is stored so far, as the descriptions look at it. */
function shelfOf(data: string, list: ReleaseList): Shelf {
  return {
    has: (path) => list.find(path) !== null,
    under: (prefix) => list.under(prefix),
    read(path) {
      const entry = list.find(path);
      if (entry === null) throw new RangeError(`Cannot describe "${path}": not stored`);
      return readStored(data, entry);
    },
  };
}

function validUntil(
  { asOf, validUntil: wanted }: PublishOptions,
  { catalog, memory, added }: Run,
  signals: ReadonlyMap<string, KnownSignal>,
): Pick<Release, 'valid_until'> {
  if (wanted === undefined) return {};
  if (wanted !== BY_CADENCE) return { valid_until: wanted };
  const ids = [...signals.keys()];
  const changed = memory === null ? ids : [...added.keys()];
  return { valid_until: validUntilByCadence({ catalog, asOf, signals: ids, changed }) };
}

/** The head without what follows from the files, and without its signature. */
function unsignedHead(
  options: PublishOptions,
  run: Run,
  signals: ReadonlyMap<string, KnownSignal>,
): UnsignedHead {
  const sum = (count: 'readings' | 'rejects' | 'entities' | 'revisions' | 'repeats'): number =>
    [...signals.values()].reduce((total, known) => total + known[count], 0);
  const rejects = sum('rejects');
  return {
    format: 'signalpress-release/1' as const,
    contract_version: CONTRACT_VERSION,
    ...nextPlace(run.staging.place, options.asOf),
    ...validUntil(options, run, signals),
    base_url: options.baseUrl,
    issuer_name: run.issuer.name,
    issuer_did: run.issuer.did,
    key_id: run.issuer.keyId,
    table_digest: run.tableDigest,
    catalog_sha256: run.catalogSha256,
    counts: {
      readings: sum('readings'),
      entities: sum('entities'),
      // Every entity has one record.
      records: sum('entities'),
      bundles: Object.values(run.assembly.bundles).reduce((total, count) => total + count, 0),
      revisions: sum('revisions'),
      repeats: sum('repeats'),
      ...(rejects > 0 ? { rejects } : {}),
    },
  };
}

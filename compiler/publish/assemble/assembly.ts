import type { Catalog } from '../../catalog/catalog.ts';
import { defined } from '../../format/errors.ts';
import { CATALOG_PATH, type FileEntry, parseCatalogRow } from '../../format/release.ts';
import { bundleOf } from '../../products/bundle.ts';
import { censusEntry } from '../../products/census.ts';
import { CITIES } from '../../products/cities.ts';
import { lifecycleSignals } from '../../products/lifecycle.ts';
import { type EndpointPath, endpointAt } from '../../products/products.ts';
import { isLit, type LegReading, legReadings, placeLegs } from '../../products/shapes/bundle.ts';
import type { Line, SignalEntry } from '../../products/shapes/line.ts';
import type { CensusEntry, JoinedSource, Product } from '../../products/shapes/product.ts';
import { named, nameOf, positionOf, valueText } from '../../products/shapes/reading-text.ts';
import type { SignalRecord } from '../../products/shapes/record.ts';
import { NATURE } from '../../products/shapes/words.ts';
import { bandOf, dataAgeHours } from '../../readings/figures.ts';
import { KnownEntities, type Shelves } from '../../readings/known-entities.ts';
import type { Memory } from '../../readings/memory.ts';
import type { Latest } from '../../readings/timeline.ts';
import { catalogOrder, place } from '../../release/catalog-changes.ts';
import type { FileWriter } from '../../release/file-writer.ts';
import type { LeafStore } from '../../release/leaf-store.ts';
import type { Press } from '../../release/press.ts';
import { editLines, GatheredLines, type LineEdit } from '../../release/sorted-lines.ts';
import type { StatementList } from '../../release/statement-list.ts';
import type { VerifyShards } from '../../release/verify-shards.ts';
import { ForgottenError } from '../../system/compile-error.ts';
import type { JobChunk } from './chunk-builder.ts';
import { recordPath } from './entity-files.ts';
import { coreFields, lineageOf, orderedCurrent } from './entity-record.ts';

const SAMPLE_DEFAULT = 'airquality.aqi';

interface AssemblyOutput {
  readonly catalog: Catalog;
  readonly shards: VerifyShards;
  readonly leaves: LeafStore;
  readonly statements: StatementList;
  readonly writer: FileWriter;
  /** What the previous release was made of, where this one goes on from it. */
  readonly memory: Memory | null;
  /** The list of the latest readings of that release. */
  readonly listed: Buffer;
}

export interface Material {
  readonly table: LatestTable;
  readonly entities: ReadonlyMap<string, number>;
  readonly read: (path: string) => Uint8Array;
}

/** Gathers what the signal jobs hand over and writes everything that joins signals and has changed. */
export class Assembly {
  readonly bundles: Record<string, number> = {};
  /** Paths of the previous release that these entities no longer have. */
  readonly gone: string[] = [];
  /** Those of them that are bodies with a citation. */
  readonly goneCited: string[] = [];
  /** Those of the signals themselves. */
  readonly files: FileEntry[] = [];
  readonly #output: AssemblyOutput;
  readonly #catalog: LineEdit[] = [];
  /** Entities with new lines that some joined body reads, by signal; true for those that are new themselves. */
  readonly #joined = new Map<string, Map<string, boolean>>();
  /** The first entity by name of those with new lines, by signal. */
  readonly #first = new Map<string, string>();

  constructor(output: AssemblyOutput) {
    this.#output = output;
  }

  add(chunk: JobChunk): void {
    const { shards, leaves, statements, writer } = this.#output;
    const { signal_id } = chunk;
    let at = 0;
    for (const entry of chunk.files) {
      writer.store(entry, chunk.bytes.subarray(at, at + entry.size));
      this.files.push(entry);
      at += entry.size;
    }
    shards.add(chunk.verify);
    shards.remove(chunk.gone.verify);
    this.gone.push(...chunk.gone.paths);
    this.goneCited.push(...chunk.gone.cited);
    leaves.addLines(chunk.leaves);
    statements.add(chunk.statements);
    for (const line of chunk.catalog.split('\n').slice(0, -1)) {
      const key = place(signal_id, parseCatalogRow(line).entity);
      this.#catalog.push({ key, line: `${line}\n` });
    }
    const joined = this.#joined.get(signal_id) ?? new Map<string, boolean>();
    for (const [entity, isNew] of chunk.joined) joined.set(entity, isNew);
    this.#joined.set(signal_id, joined);
    const first = this.#first.get(signal_id);
    if (first === undefined || chunk.first < first) this.#first.set(signal_id, chunk.first);
  }

  write(press: Press, material: Material): void {
    this.#writeBundles(press, material);
    this.#writeCities(press, material);
    this.#writeLifecycles(press, material);
    this.#writeSamples(press, material);
    this.#writeCensuses(press, material);
    press.put('/merkle/spec', {}, merkleSpec());
    press.file(CATALOG_PATH, this.#catalogBytes());
  }

  sampleOf(signalId: string): string | null {
    const known = this.#output.memory?.state.signals[signalId]?.sample ?? null;
    const fresh = this.#first.get(signalId) ?? null;
    return known !== null && (fresh === null || known < fresh) ? known : fresh;
  }

  /** Signals with new lines, in order. */
  get changed(): readonly string[] {
    return [...this.#first.keys()].sort();
  }

  #hasChanged(signalId: string): boolean {
    return (this.#joined.get(signalId)?.size ?? 0) > 0;
  }

  #catalogBytes(): Buffer {
    const edits = this.#catalog.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const bytes = this.#output.listed;
    const lines = new GatheredLines('utf8', bytes.length);
    editLines({ bytes, order: catalogOrder }, edits, lines);
    return lines.take();
  }

  #writeBundles(press: Press, material: Material): void {
    const before = this.#output.memory?.state.bundles ?? {};
    for (const line of this.#output.catalog.lines) {
      const signals = line.bundle?.legs.flatMap((leg) => leg.signals) ?? [];
      const known = before[line.id];
      if (signals.some((id) => this.#hasChanged(id))) this.#writeLine(line, press, material);
      else if (known !== undefined) this.bundles[line.id] = known;
    }
  }

  /** The bundles of a line that read a changed leg; all of them when there is a new subject, since each names all. */
  #writeLine(line: Line, press: Press, material: Material): void {
    const product = bundleOf(line);
    if (product === null || !this.#output.catalog.operationByPath.has(product.path)) return;
    const subjects: string[] = [];
    const source = this.#source(material, subjects);
    const all = subjectsOf(line, material.table).map((subject) => {
      const legs = legReadings(placeLegs(line, subject, source.leg));
      return {
        subject,
        states: legs.map((leg) => this.#joined.get(leg.signal_id)?.get(leg.entity)),
      };
    });
    const read = all.filter(({ states }) => states.length > 0);
    subjects.push(...read.map(({ subject }) => subject));
    const isNew = read.some(({ states }) => states.every((state) => state === true));
    this.bundles[line.id] = read.length;
    for (const { subject, states } of read) {
      if (!isNew && states.every((state) => state === undefined)) continue;
      writeJoined(press, product, subject, source);
    }
  }

  #writeCities(press: Press, material: Material): void {
    for (const product of CITIES) {
      const { signals } = product;
      if (!signals.some((id) => this.#hasChanged(id))) continue;
      const locs = this.#cities(signals).filter((loc) =>
        signals.some((id) => material.table.get(id, loc) !== null),
      );
      const source = this.#source(material, locs);
      for (const loc of locs) writeJoined(press, product, loc, source);
    }
  }

  #writeLifecycles(press: Press, material: Material): void {
    const ids = lifecycleSignals(this.#output.catalog);
    const changed = new Set(ids.flatMap((id) => [...(this.#joined.get(id)?.keys() ?? [])]));
    const source = this.#source(material, []);
    for (const entity of changed) {
      writeJoined(press, endpointAt('/gauge/lifecycle'), entity, source);
    }
  }

  /** What joined bodies are made of: the readings of this release, and the records that were written already. */
  #source({ table, read }: Material, subjects: readonly string[]): JoinedSource {
    const { lines, entryById, namedByLine } = this.#output.catalog;
    // Each form of a bundle reads its legs again.
    const legs = new Map<string, LegReading | undefined>();
    return {
      lines,
      entryById,
      namedByLine,
      usual: null,
      leg: (signalId, entity) => {
        const key = `${signalId} ${entity}`;
        if (!legs.has(key)) legs.set(key, this.#legOf(table, signalId, entity));
        return legs.get(key);
      },
      record(signalId, entity) {
        const { _citation, ...record } = recordAt(read, signalId, entity);
        return record;
      },
      census: (signalId) => {
        const entry = this.#entry(signalId);
        const all = [...table.all(signalId)];
        return all
          .sort((a, b) => (a.reading.entity < b.reading.entity ? -1 : 1))
          .map((latest) => entryOf(entry, latest));
      },
      subjects: () => subjects,
    };
  }

  /** One whole record of each signal is free; the one for no signal is the usual default. */
  #writeSamples({ put }: Press, { read }: Material): void {
    const known = Object.keys(this.#output.memory?.state.signals ?? {});
    const all = [...new Set([...known, ...this.#first.keys()])].sort();
    const usual = all.includes(SAMPLE_DEFAULT) ? SAMPLE_DEFAULT : all[0];
    for (const [signal_id, entity] of this.#first) {
      if (this.sampleOf(signal_id) !== entity) continue;
      const sample: SignalRecord = recordAt(read, signal_id, entity);
      put('/gauge/sample', { signal_id }, { sample });
      if (signal_id === usual) put('/gauge/sample', {}, { sample });
    }
  }

  /** Of each signal with new lines, unless it has too many entities. */
  #writeCensuses(press: Press, material: Material): void {
    const { entities } = material;
    const source = this.#source(material, []);
    for (const id of [...this.#first.keys()].sort()) {
      const before = this.#output.memory?.state.signals[id]?.entities ?? 0;
      const fits = defined(entities.get(id), 'the number of entities') <= CENSUS_ROWS_MAX;
      if (!fits && before > 0 && before <= CENSUS_ROWS_MAX) {
        throw new ForgottenError(`Cannot keep the census of "${id}": it ends here`);
      }
      if (fits) writeJoined(press, endpointAt('/gauge/census'), id, source);
    }
  }

  #entry(id: string): SignalEntry {
    return defined(this.#output.catalog.entryById.get(id), `the signal "${id}"`);
  }

  #legOf(table: LatestTable, signalId: string, entity: string): LegReading | undefined {
    const latest = table.get(signalId, entity);
    return latest === null ? undefined : legReading(this.#entry(signalId), latest);
  }

  /** Listed entities of the line that has these signals; none where no line has them. */
  #cities(signals: readonly [string, ...string[]]): readonly string[] {
    return this.#output.catalog.entryById.get(signals[0])?.line.entities ?? [];
  }
}

/** Listed subjects; of an open line also every id that one of its legs has a reading of. */
function subjectsOf(line: Line, table: LatestTable): string[] {
  const subjects = new Set(line.entities);
  if (line.open) {
    const { legs } = defined(line.bundle, 'the bundle of the line');
    for (const id of legs.flatMap((leg) => leg.signals)) {
      for (const entity of table.whole(id).keys()) subjects.add(entity);
    }
  }
  return [...subjects].sort();
}

function recordAt(read: Material['read'], signalId: string, entity: string): SignalRecord {
  return JSON.parse(Buffer.from(read(recordPath(signalId, entity))).toString('utf8'));
}

/** `/merkle/spec`: what the retired scheme was, and what took its place. */
function merkleSpec() {
  return {
    nature: NATURE,
    retired: true as const,
    text:
      'Archival. An earlier scheme took one Merkle root over the record hashes of a day. It is retired with its proofs ' +
      'at /merkle/proof, which answer 410, and with the field ots_status, which is null. Do not implement against it.',
    instead: '/gauge/anchor',
    proof: '/proof/:record_hash',
  };
}

/** Most entities of one census, about 14 MB; a signal with more has none, for a part of it would be no census. */
const CENSUS_ROWS_MAX = 20_000;

/** Writes each form of a joined body of one subject, signed; nothing where nothing is stored of it. */
function writeJoined(
  { put, sealer }: Press,
  { path, file = '', params, ofJoined, forms = {} }: Product,
  subject: string,
  source: JoinedSource,
): void {
  const made = ofJoined?.(subject, source);
  if (made == null) return;
  const name = defined(/\{([a-z_]+)\}/.exec(file)?.[1], 'the parameter of a joined body');
  const values = { [name]: subject };
  put(path as EndpointPath, values, sealer.seal(made.body, made.statement));
  for (const [param, { variant = {} }] of Object.entries(params)) {
    for (const [value, folder] of Object.entries(variant)) {
      const form = forms[folder]?.ofJoined?.(subject, { ...source, usual: made.body });
      if (form == null) continue;
      put(
        path as EndpointPath,
        { ...values, [param]: value },
        sealer.seal(form.body, form.statement),
      );
    }
  }
}

/** What the record of a reading says of it, before it is written. */
function entryOf(entry: SignalEntry, latest: Latest): CensusEntry {
  const leg = legReading(entry, latest);
  const { entity_name, current, record_hash } = leg;
  const core = coreFields(entry.signal, latest.reading);
  const position = positionOf(entry, core.entity);
  return censusEntry({ ...core, entity_name, ...position, current, record_hash }, leg);
}

/** The latest reading of an entity as a leg: what its signed record says, before it is written. */
export function legReading(
  entry: SignalEntry,
  { reading: stored, record_hash, looked_at }: Latest,
): LegReading {
  const { signal } = entry;
  const reading = named(entry, stored);
  const band = bandOf(signal, reading);
  return {
    signal_id: signal.id,
    measures: signal.measures,
    entity: reading.entity,
    entity_name: reading.entity_name ?? null,
    current: orderedCurrent(signal, reading),
    lifecycle: reading.lifecycle ?? null,
    record_hash,
    collected_at: reading.collected_at,
    band,
    lit: isLit(signal, band),
    text: valueText(signal, reading),
    name: nameOf(reading),
    last_collected_at: looked_at,
    grade: reading.grade ?? null,
    scope: reading.scope ?? null,
    cadence: signal.cadence,
    observed_at: reading.observed_at,
    data_age_hours: dataAgeHours(reading),
    validation_status: reading.validation_status ?? null,
    lineage: lineageOf(entry, reading, record_hash),
  };
}

/** The latest reading of every entity of the release: all that joins entities is read off it. */
export class LatestTable {
  readonly #shelvesOf: (signalId: string) => Shelves | null;
  readonly #known = new Map<string, KnownEntities>();
  readonly #whole = new Map<string, ReadonlyMap<string, Latest>>();

  constructor(shelvesOf: (signalId: string) => Shelves | null) {
    this.#shelvesOf = shelvesOf;
  }

  get(signalId: string, entity: string): Latest | null {
    const whole = this.#whole.get(signalId);
    return whole === undefined ? this.#of(signalId).latest(entity) : (whole.get(entity) ?? null);
  }

  /** Every entity of a signal, in no order, one after the other. */
  all(signalId: string): Iterable<Latest> {
    return this.#of(signalId).all();
  }

  /** The same by entity, kept for whoever asks next. */
  whole(signalId: string): ReadonlyMap<string, Latest> {
    const known = this.#whole.get(signalId);
    if (known !== undefined) return known;
    const rows = new Map<string, Latest>();
    for (const latest of this.all(signalId)) rows.set(latest.reading.entity, latest);
    this.#whole.set(signalId, rows);
    return rows;
  }

  #of(signalId: string): KnownEntities {
    const known = this.#known.get(signalId);
    if (known !== undefined) return known;
    const opened = new KnownEntities(this.#shelvesOf(signalId));
    this.#known.set(signalId, opened);
    return opened;
  }
}

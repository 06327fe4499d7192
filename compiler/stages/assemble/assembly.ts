import {
  bundleBody,
  legReadings,
  type PlacedLeg,
  placeLegs,
  thinBundle,
} from '../../contract/bundle.ts';
import { type CityReading, cityBody } from '../../contract/city-readings.ts';
import { CITY_LOCS } from '../../contract/entities.ts';
import {
  bundleStatement,
  cityStatement,
  lifecycleStatement,
} from '../../contract/joined-statements.ts';
import type { LegReading } from '../../contract/leg.ts';
import { LIFECYCLE_SIGNALS, lifecycleBody } from '../../contract/lifecycle-body.ts';
import { type BundlePath, LINES, type Line } from '../../contract/lines.ts';
import { CITY_ADD_ONS } from '../../contract/products.ts';
import { CATALOG_PATH, type FileEntry, parseCatalogRow } from '../../contract/release.ts';
import type { JobChunk } from '../../jobs/chunk-builder.ts';
import { catalogOrder, place } from '../publish/catalog-order.ts';
import type { FileWriter } from '../publish/file-writer.ts';
import { GatheredLines } from '../publish/gathered-lines.ts';
import type { LeafStore } from '../publish/leaf-store.ts';
import type { Press } from '../publish/press.ts';
import { editLines, type LineEdit } from '../publish/sorted-lines.ts';
import type { VerifyShards } from '../publish/verify-shards.ts';
import { ForgottenError } from '../remember/forgotten-error.ts';
import { KeptRows } from '../remember/kept-rows.ts';
import type { Memory, Notes } from '../remember/memory.ts';
import { CENSUS_ROWS_MAX, CensusStore, censusEntity, writeCensuses } from './census.ts';
import { merkleSpec } from './free-bodies.ts';

const SAMPLE_DEFAULT = 'airquality.aqi';

/** Where an assembly puts what the signal jobs made. */
export interface AssemblyOutput {
  readonly shards: VerifyShards;
  readonly leaves: LeafStore;
  readonly writer: FileWriter;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
  /** What the previous release was made of, where this one goes on from it. */
  readonly memory: Memory | null;
  /** The catalog of that release. */
  readonly catalog: Buffer;
}

/** Gathers what the signal jobs hand over and writes everything that joins signals and has changed. */
export class Assembly {
  /** Number of bundles of each line. */
  readonly bundles: Record<string, number> = {};
  /** Paths of the previous release that these entities no longer have. */
  readonly gone: string[] = [];
  readonly #output: AssemblyOutput;
  readonly #files: FileEntry[] = [];
  readonly #census: CensusStore;
  readonly #censusEntities = new Map<string, Set<string>>();
  readonly #catalog: LineEdit[] = [];
  readonly #legs: KeptRows;
  readonly #cities: KeptRows;
  readonly #samples = new Map<string, JobChunk['sample']>();

  constructor(output: AssemblyOutput) {
    this.#census = new CensusStore(`${output.scratch}/census`);
    this.#legs = new KeptRows('legs', output.memory);
    this.#cities = new KeptRows('cities', output.memory);
    this.#output = output;
  }

  /** Writes the files of a chunk and keeps what joins signals. */
  add(chunk: JobChunk): void {
    const { shards, leaves, writer } = this.#output;
    let at = 0;
    for (const entry of chunk.files) {
      writer.store(entry, chunk.bytes.subarray(at, at + entry.size));
      this.#files.push(entry);
      at += entry.size;
    }
    shards.add(chunk.verify);
    shards.remove(chunk.gone.verify);
    this.gone.push(...chunk.gone.paths);
    leaves.addLines(chunk.leaves);
    for (const line of chunk.catalog.split('\n')) {
      if (line !== '') this.#catalog.push({ key: catalogPlace(line), line: `${line}\n` });
    }
    this.#addCensus(chunk);
    this.#legs.add(chunk.signal_id, chunk.legs);
    this.#cities.add(chunk.signal_id, chunk.cities);
    const known = this.#samples.get(chunk.signal_id);
    if (known === undefined || chunk.sample.entity < known.entity) {
      this.#samples.set(chunk.signal_id, chunk.sample);
    }
  }

  /** Writes what joins signals, as far as it has changed. `entities` counts those of each signal now. */
  write(press: Press, entities: ReadonlyMap<string, number>): void {
    this.#writeBundles(press);
    this.#writeCities(press);
    this.#writeLifecycles(press);
    this.#writeSamples(press);
    this.#recallCensus(entities);
    writeCensuses(this.#census, press);
    press.put('/merkle/spec', {}, merkleSpec());
    press.file(CATALOG_PATH, this.#catalogBytes());
  }

  /** Writes down what the next compile needs of this. */
  save(notes: Notes): void {
    this.#legs.save(notes);
    this.#cities.save(notes);
    for (const id of this.#census.signals()) notes.write(`census/${id}`, this.#census.text(id));
  }

  /** Entity of the free sample of a signal. */
  sampleOf(signalId: string): string | null {
    const known = this.#output.memory?.state.signals[signalId]?.sample ?? null;
    const fresh = this.#samples.get(signalId)?.entity ?? null;
    return known !== null && (fresh === null || known < fresh) ? known : fresh;
  }

  /** The files of the signals themselves. */
  get files(): readonly FileEntry[] {
    return this.#files;
  }

  #addCensus({ signal_id, census }: JobChunk): void {
    this.#census.add(signal_id, census);
    if (this.#output.memory === null) return;
    const known = this.#censusEntities.get(signal_id) ?? new Set<string>();
    for (const line of census.split('\n')) if (line !== '') known.add(censusEntity(line));
    this.#censusEntities.set(signal_id, known);
  }

  /** Adds the rows that did not change, for a signal of which some did. */
  #recallCensus(entities: ReadonlyMap<string, number>): void {
    const { memory } = this.#output;
    if (memory === null) return;
    for (const [id, changed] of this.#censusEntities) {
      const before = memory.state.signals[id]?.entities ?? 0;
      const isListed = (entities.get(id) ?? 0) <= CENSUS_ROWS_MAX;
      if (!isListed && before > 0 && before <= CENSUS_ROWS_MAX) {
        throw new ForgottenError(`Cannot keep the census of "${id}": it ends here`);
      }
      if (!isListed) this.#census.drop(id);
      else if (before > 0) this.#census.add(id, rowsBefore(memory, id, changed));
    }
  }

  #catalogBytes(): Buffer {
    const edits = this.#catalog.sort((a, b) => compare(a.key, b.key));
    const bytes = this.#output.catalog;
    const lines = new GatheredLines('utf8', bytes.length);
    editLines({ bytes, order: catalogOrder }, edits, lines);
    return lines.take();
  }

  #leg(signalId: string, entity: string): LegReading | undefined {
    const row = this.#legs.get(signalId, entity);
    return row === undefined ? undefined : JSON.parse(row);
  }

  #writeBundles(press: Press): void {
    const changed = new Set(this.#legs.changedSignals());
    const before = this.#output.memory?.state.bundles ?? {};
    for (const line of LINES as readonly Line<BundlePath>[]) {
      const signals = line.bundle?.legs.flatMap((leg) => leg.signals) ?? [];
      if (signals.some((id) => changed.has(id))) this.#writeLine(line, press);
      else if (before[line.id] !== undefined) this.bundles[line.id] = before[line.id] ?? 0;
    }
  }

  /** The bundles of a line that read a changed leg; all of them when there is a new subject, since each names all. */
  #writeLine(line: Line<BundlePath>, { put, sealer }: Press): void {
    if (line.bundle === undefined) return;
    const { path, param } = line.bundle;
    const find = (signalId: string, entity: string) => this.#leg(signalId, entity);
    const all = this.#subjects(line).map((subject) => {
      return { subject, placed: placeLegs(line, subject, find) };
    });
    const read = all.filter(({ placed }) => legReadings(placed).length > 0);
    const subjects = read.map(({ subject }) => subject);
    const isNew = read.some(({ placed }) => !this.#some(placed, 'wasThere'));
    this.bundles[line.id] = read.length;
    for (const { subject, placed } of read) {
      if (!isNew && !this.#some(placed, 'isChanged')) continue;
      const bundle = bundleBody(line, { subject, placed, subjects });
      if (bundle === null) continue;
      const values = { [param]: subject };
      const says = bundleStatement(line, bundle, legReadings(placed));
      put(path, values, sealer.seal(bundle, says('')));
      const thin = { ...values, format: 'thin' };
      put(path, thin, sealer.seal(thinBundle(bundle), says('&format=thin')));
    }
  }

  #some(placed: readonly PlacedLeg[], what: 'isChanged' | 'wasThere'): boolean {
    return legReadings(placed).some((leg) => this.#legs[what](leg.signal_id, leg.entity));
  }

  /** Listed subjects; of an open line also every id that one of its legs has a reading of. */
  #subjects(line: Line): string[] {
    const subjects = new Set(line.entities);
    if (line.open) {
      for (const id of line.bundle?.legs.flatMap((leg) => leg.signals) ?? []) {
        for (const entity of this.#legs.entities(id)) subjects.add(entity);
      }
    }
    return [...subjects].sort();
  }

  #writeCities({ put, sealer }: Press): void {
    const changed = new Set(this.#cities.changedSignals());
    for (const addon of ['air', 'precip'] as const) {
      if (!CITY_ADD_ONS[addon].some((id) => changed.has(id))) continue;
      const cities = CITY_LOCS.map((loc) => ({ loc, readings: this.#cityReadings(addon, loc) }));
      const read = cities.filter(({ readings }) => readings.length > 0);
      const locs = read.map(({ loc }) => loc);
      for (const { loc, readings } of read) {
        const body = cityBody(addon, { loc, readings, locs });
        put(`/gauge/${addon}`, { loc }, sealer.seal(body, cityStatement(addon, loc, readings)));
      }
    }
  }

  #cityReadings(addon: keyof typeof CITY_ADD_ONS, loc: string): CityReading[] {
    return CITY_ADD_ONS[addon].flatMap((signalId) => {
      const found = this.#cities.get(signalId, loc);
      return found === undefined ? [] : [JSON.parse(found)];
    });
  }

  #writeLifecycles({ put, sealer }: Press): void {
    const signals = LIFECYCLE_SIGNALS;
    const changed = new Set(this.#legs.changedSignals());
    if (!signals.some((id) => changed.has(id))) return;
    const entities = new Set(signals.flatMap((id) => [...this.#legs.entities(id)]));
    for (const entity of entities) {
      if (!signals.some((id) => this.#legs.isChanged(id, entity))) continue;
      const subjects = signals.flatMap((id) => this.#leg(id, entity) ?? []);
      const says = lifecycleStatement(entity, subjects);
      put('/gauge/lifecycle', { entity }, sealer.seal(lifecycleBody(subjects), says));
    }
  }

  /** One whole record of each signal is free; the one for no signal is the usual default. */
  #writeSamples({ put }: Press): void {
    const known = Object.keys(this.#output.memory?.state.signals ?? {});
    const all = [...new Set([...known, ...this.#samples.keys()])].sort();
    const usual = all.includes(SAMPLE_DEFAULT) ? SAMPLE_DEFAULT : all[0];
    for (const [signal_id, { entity, record }] of this.#samples) {
      if (this.sampleOf(signal_id) !== entity) continue;
      put('/gauge/sample', { signal_id }, { sample: record });
      if (signal_id === usual) put('/gauge/sample', {}, { sample: record });
    }
  }
}

/** Census lines of a signal as the previous compile had them, but for some entities. */
function rowsBefore(memory: Memory, signalId: string, changed: ReadonlySet<string>): string {
  const lines = memory.read(`census/${signalId}`).toString('utf8').split('\n').slice(0, -1);
  const same = lines.filter((line) => !changed.has(censusEntity(line)));
  return same.map((line) => `${line}\n`).join('');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Where a line of the catalog belongs. */
function catalogPlace(line: string): string {
  const { signal_id, entity } = parseCatalogRow(line);
  return place(signal_id, entity);
}

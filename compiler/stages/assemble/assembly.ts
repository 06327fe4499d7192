import { CITY_LOCS } from '../../contract/entities.ts';
import { type BundlePath, LINES, type Line } from '../../contract/lines.ts';
import {
  CATALOG_PATH,
  type CatalogRow,
  type FileEntry,
  parseCatalogRow,
  parseFiles,
} from '../../contract/release.ts';
import type { JobChunk } from '../../signal-job.ts';
import type { FileWriter } from '../publish/file-writer.ts';
import type { LeafStore } from '../publish/leaf-store.ts';
import type { Press } from '../publish/press.ts';
import type { VerifyShards } from '../publish/verify-shards.ts';
import { bundleBody, legReadings, placeLegs, thinBundle } from './bundle.ts';
import { CensusStore, writeCensuses } from './census.ts';
import { CITY_ADD_ONS, type CityReading, cityBody } from './city-readings.ts';
import { merkleSpec } from './free-bodies.ts';
import { bundleStatement, cityStatement, lifecycleStatement } from './joined-statements.ts';
import type { LegReading } from './leg.ts';
import { lifecycleBody } from './lifecycle-body.ts';

const place = (signalId: string, entity: string): string => `${signalId}\n${entity}`;
const SAMPLE_DEFAULT = 'airquality.aqi';

/** Where an assembly puts what the signal jobs made. */
export interface AssemblyOutput {
  readonly shards: VerifyShards;
  readonly leaves: LeafStore;
  readonly writer: FileWriter;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
}

/** Gathers what the signal jobs hand over and writes everything that joins signals. */
export class Assembly {
  records = 0;
  bundles = 0;
  readonly #shards: VerifyShards;
  readonly #leaves: LeafStore;
  readonly #writer: FileWriter;
  readonly #files: FileEntry[] = [];
  readonly #census: CensusStore;
  readonly #catalog: string[] = [];
  readonly #legs = new Map<string, LegReading>();
  readonly #cities = new Map<string, CityReading>();
  readonly #samples = new Map<string, JobChunk['sample']>();

  constructor({ shards, leaves, writer, scratch }: AssemblyOutput) {
    this.#census = new CensusStore(`${scratch}/census`);
    this.#shards = shards;
    this.#leaves = leaves;
    this.#writer = writer;
  }

  /** Writes the files of a chunk and keeps what joins signals. */
  add(chunk: JobChunk): void {
    let at = 0;
    for (const { path, size } of parseFiles(chunk.files)) {
      this.#files.push(this.#writer.write(path, chunk.bytes.subarray(at, at + size)));
      at += size;
    }
    this.#shards.add(chunk.verify);
    this.#leaves.add(chunk.leaves);
    for (const line of chunk.catalog.split('\n')) if (line !== '') this.#catalog.push(line);
    this.#census.add(chunk.sample.signal_id, chunk.census);
    for (const leg of chunk.legs) this.#legs.set(place(leg.signal_id, leg.entity), leg);
    for (const city of chunk.cities) {
      this.#cities.set(place(city.leg.signal_id, city.leg.entity), city);
    }
    const known = this.#samples.get(chunk.sample.signal_id);
    if (known === undefined || chunk.sample.entity < known.entity) {
      this.#samples.set(chunk.sample.signal_id, chunk.sample);
    }
  }

  /** Writes everything that joins signals. */
  write(press: Press): void {
    this.records = this.#catalog.length;
    this.#writeBundles(press);
    this.#writeCities(press);
    this.#writeLifecycles(press);
    this.#writeSamples(press);
    writeCensuses(this.#census, press);
    press.put('/merkle/spec', {}, merkleSpec());
    press.file(CATALOG_PATH, this.#catalogText());
  }

  /** The files of the signals themselves. */
  get files(): readonly FileEntry[] {
    return this.#files;
  }

  #catalogText(): string {
    const rows = this.#catalog.map((line) => ({ line, row: parseCatalogRow(line) }));
    rows.sort((a, b) => compare(rowPlace(a.row), rowPlace(b.row)));
    return rows.map(({ line }) => `${line}\n`).join('');
  }

  #writeBundles({ put, sealer }: Press): void {
    for (const line of LINES as readonly Line<BundlePath>[]) {
      if (line.bundle === undefined) continue;
      const { path, param } = line.bundle;
      const find = (signalId: string, entity: string) => this.#legs.get(place(signalId, entity));
      const all = this.#subjects(line).map((subject) => {
        return { subject, placed: placeLegs(line, subject, find) };
      });
      const read = all.filter(({ placed }) => legReadings(placed).length > 0);
      const subjects = read.map(({ subject }) => subject);
      for (const { subject, placed } of read) {
        const bundle = bundleBody(line, { subject, placed, subjects });
        if (bundle === null) continue;
        this.bundles += 1;
        const values = { [param]: subject };
        const says = bundleStatement(line, bundle, legReadings(placed));
        put(path, values, sealer.seal(bundle, says('')));
        const thin = { ...values, format: 'thin' };
        put(path, thin, sealer.seal(thinBundle(bundle), says('&format=thin')));
      }
    }
  }

  /** Listed subjects; of an open line also every id that one of its legs has a reading of. */
  #subjects(line: Line): string[] {
    const subjects = new Set(line.entities);
    if (line.open) {
      const signals = new Set(line.bundle?.legs.flatMap((leg) => leg.signals));
      for (const leg of this.#legs.values()) {
        if (signals.has(leg.signal_id)) subjects.add(leg.entity);
      }
    }
    return [...subjects].sort();
  }

  #writeCities({ put, sealer }: Press): void {
    for (const addon of ['air', 'precip'] as const) {
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
      const found = this.#cities.get(place(signalId, loc));
      return found === undefined ? [] : [found];
    });
  }

  #writeLifecycles({ put, sealer }: Press): void {
    const byEntity = new Map<string, LegReading[]>();
    for (const line of LINES as readonly Line[]) {
      const signalId = `${line.id}.lifecycle`;
      for (const leg of this.#legs.values()) {
        if (leg.signal_id !== signalId) continue;
        byEntity.set(leg.entity, [...(byEntity.get(leg.entity) ?? []), leg]);
      }
    }
    for (const [entity, subjects] of byEntity) {
      const says = lifecycleStatement(entity, subjects);
      put('/gauge/lifecycle', { entity }, sealer.seal(lifecycleBody(subjects), says));
    }
  }

  /** One whole record of each signal is free; the one for no signal is the usual default. */
  #writeSamples({ put }: Press): void {
    for (const [signal_id, { record }] of this.#samples) {
      put('/gauge/sample', { signal_id }, { sample: record });
    }
    const usual =
      this.#samples.get(SAMPLE_DEFAULT) ?? [...this.#samples.values()].sort(bySignal)[0];
    if (usual !== undefined) put('/gauge/sample', {}, { sample: usual.record });
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function bySignal(a: JobChunk['sample'], b: JobChunk['sample']): number {
  return compare(a.signal_id, b.signal_id);
}

function rowPlace(row: CatalogRow): string {
  return place(row.signal_id, row.entity);
}

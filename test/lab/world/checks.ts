import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceRow } from '../../../compiler/catalog/register.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../../compiler/format/iso-time.ts';
import { storedRows } from '../../../compiler/sources/merge-batch.ts';
import type { Asked } from '../../sources/fetch/agency.ts';
import { AGENCIES, type Fact } from './agencies.ts';

// What must hold of a shop whatever its agencies do. Each check gives a line for each breach.

export interface Published {
  readonly signal: string;
  readonly entity: string;
  readonly at: number;
  readonly current: Readonly<Record<string, unknown>>;
}

const keyOf = ({ signal, entity, at }: Pick<Fact, 'signal' | 'entity' | 'at'>): string =>
  `${signal} ${entity} ${isoTime(at)}`;
const dayOf = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

/** What is true of entities at the times at which it was observed, as far as the world has come. */
export class Truth {
  readonly #facts = new Map<string, Fact['current']>();
  readonly #known = new Set<string>();

  /** Everything that agencies say, or will say in some hours, of times that have come. */
  learn(now: number): void {
    for (const ahead of [0, 3 * HOUR_MS]) {
      for (const fact of factsAt(now + ahead)) {
        this.#facts.set(keyOf(fact), fact.current);
        this.#known.add(`${fact.signal} ${fact.entity}`);
      }
    }
  }

  /** What is untrue of some readings. A value that nobody could read is null, which is never untrue. */
  breaches(published: readonly Published[], now: number): string[] {
    return published.flatMap((one) => {
      if (!this.#known.has(`${one.signal} ${one.entity}`)) return [];
      const true_ = this.#facts.get(keyOf(one));
      if (one.at > now) return [`untrue: ${keyOf(one)} is yet to come`];
      if (true_ === undefined) return [`untrue: nothing was said of ${keyOf(one)}`];
      return Object.entries(true_)
        .filter(([name, value]) => (one.current[name] ?? value) !== value)
        .map(([name, value]) => `untrue: ${keyOf(one)} ${name} ${one.current[name]}, not ${value}`);
    });
  }
}

/** What every agency offers at an instant. */
export function factsAt(now: number, id?: string): Fact[] {
  return Object.entries(AGENCIES).flatMap(([own, { offers }]) =>
    id === undefined || id === own ? offers(now) : [],
  );
}

/** What a source offers, and nobody stored. */
export function lossesOf(offered: readonly Fact[], stored: ReadonlyMap<string, Published>) {
  return offered.flatMap((fact) => {
    const own = stored.get(keyOf(fact));
    const isWhole = Object.keys(fact.current).every((name) => own?.current[name] != null);
    return isWhole ? [] : [`lost: ${keyOf(fact)} was offered and is not stored`];
  });
}

/** The readings of batches that were written since the last look, by what they are about; the newest batch decides. */
export class Stored {
  readonly readings = new Map<string, Published>();
  readonly #seen = new Map<string, number>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The readings of files that are new or longer. */
  look(): Published[] {
    const batches = existsSync(this.#folder) ? readdirSync(this.#folder) : [];
    const files = batches
      .filter((name) => name.startsWith('20'))
      .sort()
      .flatMap((batch) => readdirSync(join(this.#folder, batch)).map((name) => join(batch, name)));
    return files.flatMap((path) => {
      const { size } = statSync(join(this.#folder, path));
      if (this.#seen.get(path) === size) return [];
      this.#seen.set(path, size);
      const signal = path.replace(/^.*\/(.*)\.ndjson$/, '$1');
      const rows = storedRows(path, readFileSync(join(this.#folder, path), 'utf8'));
      const readings = rows.flatMap((row) => publishedIn(signal, row));
      for (const one of readings) this.readings.set(keyOf(one), one);
      return readings;
    });
  }
}

/** A row of a batch; one of the roster is of its day. */
function publishedIn(signal: string, row: Readonly<Record<string, unknown>>): Published[] {
  const { entity, server_id, observed_at, current } = row;
  const at = Date.parse(String(observed_at));
  if (typeof current === 'object' && current !== null) {
    return [{ signal, entity: String(entity), at, current: { ...current } }];
  }
  return typeof server_id === 'string'
    ? [{ signal, entity: server_id, at: dayOf(at), current: row }]
    : [];
}

/** Requests to one host, from an instant on, against the pace of its register, and against what it asked to wait. */
export function rudeness(own: readonly Asked[], { pace }: SourceRow, since = 0): string[] {
  const limits = [
    [60_000, Math.ceil(pace.per_minute)],
    [HOUR_MS, pace.per_hour ?? Infinity],
    [DAY_MS, pace.per_day ?? Infinity],
  ] as const;
  return own.flatMap(({ at, host }, index) => {
    if (at < since) return [];
    const over = limits.flatMap(([span, most]) => {
      const within = own.slice(0, index + 1).filter((one) => one.at > at - span).length;
      // One more may come: requests travel, and some arrive late.
      return within > most + 1 ? [`rude: ${within} requests to ${host} in ${span / 1000} s`] : [];
    });
    const before = own[index - 1];
    const until = before === undefined ? 0 : before.at + waitOf(before);
    // Headers know whole seconds.
    const early = at < until - 1000 ? [`rude: ${host} was asked before ${isoTime(until)}`] : [];
    return [...over, ...early];
  });
}

function waitOf({ retryAfter, at }: Asked): number {
  if (retryAfter === null) return 0;
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - at;
}

/** Whether a message says where its agency was asked, and about which entity where the address is that of one. */
export function vagueness(id: string, message: string): string[] {
  const { host, entities, partOf } = AGENCIES[id] ?? {};
  const line = `vague: ${id}: ${message}`;
  if (!message.includes(`https://${host}/`)) return [`${line} (no address)`];
  const unnamed = entities?.filter(
    (one) => partOf !== undefined && message.includes(partOf(one)) && !message.includes(`(${one})`),
  );
  return unnamed === undefined || unnamed.length === 0 ? [] : [`${line} (no ${unnamed[0]})`];
}

/** How many looks a source may remember, for each of its addresses. */
const LOOKS_MAX = 24 * 41;
const STATUS_BYTES_MAX = 65_536;

/** What grows in an archive beside payloads and their notes. */
export function growth(archive: string): string[] {
  const names = readdirSync(archive, { recursive: true, encoding: 'utf8' });
  const left = names.filter((name) => name.includes('.incoming-'));
  const looks = Object.entries(AGENCIES).flatMap(([id, { entities }]) => {
    const path = join(archive, id, 'looks.json');
    const count = existsSync(path) ? Object.keys(JSON.parse(readFileSync(path, 'utf8'))).length : 0;
    const most = LOOKS_MAX * Math.max(1, entities.length);
    return count > most ? [`grows: ${id} remembers ${count} looks`] : [];
  });
  const status = join(archive, 'status.json');
  const isLong = existsSync(status) && statSync(status).size > STATUS_BYTES_MAX;
  return [
    ...left.map((name) => `grows: ${name} is left`),
    ...looks,
    ...(isLong ? ['grows: the status file'] : []),
  ];
}

/** Who is asked at an address of its own must be asked in so many steps as there are such addresses. */
export class Turns {
  readonly #waits = new Map<string, number>();

  /** Takes in the paths that one step asked of a source. */
  after(id: string, paths: readonly string[]): string[] {
    const { entities = [], partOf } = AGENCIES[id] ?? {};
    if (partOf === undefined || paths.length === 0) return [];
    return entities.flatMap((entity) => {
      const key = `${id} ${entity}`;
      const isAsked = paths.some((path) => path.includes(partOf(entity)));
      const waits = isAsked ? 0 : (this.#waits.get(key) ?? 0) + 1;
      this.#waits.set(key, waits);
      return waits > entities.length ? [`starves: ${key} was not asked in ${waits} steps`] : [];
    });
  }
}

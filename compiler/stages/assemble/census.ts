import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Statement } from '../../contract/citation.ts';
import { byTime, joinedProvenance, type LineagePart } from '../../contract/joined-provenance.ts';
import { type Signal, signalOf } from '../../contract/lines.ts';
import type { CensusBody, CensusRow } from '../../contract/record.ts';
import { HASH_CORE_VERSION } from '../../contract/record-hash.ts';
import { GRADE, NATURE, SCOPE } from '../../contract/words.ts';
import { readPlain, STORED_BYTES_MAX } from '../../verify/plain-file.ts';
import { dataAgeHours, snapshotDate } from '../derive/age.ts';
import { bandOf } from '../derive/ruler.ts';
import type { Press } from '../publish/press.ts';
import { type EntityFacts, orderedCurrent } from './entity-record.ts';
import { lineageOf } from './provenance.ts';

/** Most entities of one census, about 14 MB; a signal with more has none, for a part of it would be no census. */
export const CENSUS_ROWS_MAX = 20_000;

const FLUSH_CHARS = 4_000_000;
const LINEAGE_NOTE =
  'as fresh as the oldest row; the lineage names the oldest and the newest row, and each row its own source';
const VERIFIABLE = {
  mode: 'offline',
  note: 'each row carries the whole hash core of its reading, so its record hash recomputes from the row alone',
} as const;

/** What a census takes from one entity; travels between workers as a line of JSON. */
export interface CensusEntry {
  readonly row: CensusRow;
  readonly part: LineagePart;
  readonly collected_at: string;
}

/** The latest reading of an entity as a line for the census of its signal. */
export function censusLine(facts: EntityFacts): string {
  const { signal, latest, record_hash } = facts;
  const row: CensusRow = {
    signal_id: signal.id,
    entity: latest.entity,
    entity_name: latest.entity_name ?? null,
    snapshot_date: snapshotDate(latest),
    observed_at: latest.observed_at,
    data_age_hours: dataAgeHours(latest),
    current: orderedCurrent(signal, latest),
    band: bandOf(signal, latest),
    lifecycle: latest.lifecycle ?? null,
    sources: latest.sources,
    source_ref: latest.source_ref,
    source_tier: latest.source_tier,
    hash_core_version: HASH_CORE_VERSION,
    record_hash,
  };
  const part: LineagePart = {
    cadence: signal.cadence,
    observed_at: latest.observed_at,
    data_age_hours: row.data_age_hours,
    validation_status: latest.validation_status ?? null,
    lineage: lineageOf(signal, latest, record_hash),
  };
  return `${JSON.stringify({ row, part, collected_at: latest.collected_at } satisfies CensusEntry)}\n`;
}

/** The entity of a census line. */
export function censusEntity(line: string): string {
  const { row } = JSON.parse(line) as CensusEntry;
  return row.entity;
}

/** Collects the lines of every census in memory that does not grow; `folder` holds what is too long. */
export class CensusStore {
  readonly #folder: string;
  readonly #held = new Map<string, string[]>();
  readonly #counts = new Map<string, number>();
  #chars = 0;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Lines of one signal, each as censusLine writes it. */
  add(signalId: string, lines: string): void {
    const held = this.#held.get(signalId);
    if (held === undefined) this.#held.set(signalId, [lines]);
    else held.push(lines);
    this.#counts.set(signalId, (this.#counts.get(signalId) ?? 0) + lines.split('\n').length - 1);
    this.#chars += lines.length;
    if (this.#chars > FLUSH_CHARS) this.#flush();
  }

  /** Signals with at least one entity and no more than a census may have. */
  signals(): string[] {
    const fit = [...this.#counts].filter(([, count]) => count <= CENSUS_ROWS_MAX);
    return fit.map(([signalId]) => signalId).sort();
  }

  /** The lines of a signal, in no order. */
  text(signalId: string): string {
    const path = join(this.#folder, signalId);
    const stored = existsSync(path) ? readPlain(path, STORED_BYTES_MAX).toString('utf8') : '';
    return stored + (this.#held.get(signalId) ?? []).join('');
  }

  /** Every entity of a signal, by its id. */
  entries(signalId: string): CensusEntry[] {
    const entries: CensusEntry[] = this.text(signalId)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    return entries.sort((a, b) => (a.row.entity < b.row.entity ? -1 : 1));
  }

  /** Forgets a signal of which not every entity is here. */
  drop(signalId: string): void {
    this.#counts.delete(signalId);
    this.#held.delete(signalId);
  }

  #flush(): void {
    for (const [signalId, lines] of this.#held) {
      if ((this.#counts.get(signalId) ?? 0) > CENSUS_ROWS_MAX) continue;
      appendFileSync(join(this.#folder, signalId), lines.join(''));
    }
    this.#held.clear();
    this.#chars = 0;
  }
}

/** Writes `/gauge/census` of every signal. */
export function writeCensuses(store: CensusStore, { put, sealer }: Press): void {
  for (const signal_id of store.signals()) {
    const signal = signalOf(signal_id);
    if (signal === undefined) throw new RangeError(`Cannot count "${signal_id}": not in the table`);
    const entries = store.entries(signal_id);
    const body = censusBody(signal, entries);
    put('/gauge/census', { signal_id }, sealer.seal(body, censusStatement(signal, entries)));
  }
}

/** All entities of one signal at their latest reading; needs at least one. */
export function censusBody(
  signal: Signal,
  entries: readonly CensusEntry[],
): Omit<CensusBody, '_citation'> {
  const parts = entries.map(({ part }) => part);
  const ends = [...parts].sort((a, b) => byTime(a.observed_at, b.observed_at));
  const named = new Set([ends[0], ends.at(-1)].filter((part) => part !== undefined));
  const { observed_at: oldest = '' } = ends[0] ?? {};
  return {
    nature: NATURE,
    signal_id: signal.id,
    measures: signal.measures,
    count: entries.length,
    observed_at: oldest,
    rows: entries.map(({ row }) => row),
    record_hash_verifiable: VERIFIABLE,
    provenance: joinedProvenance([...named], { lineage_note: LINEAGE_NOTE }),
    grade: GRADE,
    scope: SCOPE,
  };
}

function censusStatement(signal: Signal, entries: readonly CensusEntry[]): Statement {
  const observed = entries.map(({ row }) => row.observed_at).sort(byTime);
  const collected = entries.map((entry) => entry.collected_at).sort(byTime);
  const [oldest = ''] = observed;
  return {
    claim: `census of ${signal.measures}`,
    fact: `${signal.id}: ${entries.length} entities, read from ${oldest} to ${observed.at(-1)}`,
    target: `/gauge/census?signal_id=${signal.id}`,
    observed_at: oldest,
    retrieved_at: collected.at(-1) ?? '',
  };
}

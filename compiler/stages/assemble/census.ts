import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CensusEntry,
  censusBody,
  censusEntry,
  censusStatement,
} from '../../contract/census-body.ts';
import type { LegReading } from '../../contract/leg.ts';
import { signalOf } from '../../contract/lines.ts';
import type { SignalRecord } from '../../contract/record.ts';
import { readPlain, STORED_BYTES_MAX } from '../../verify/plain-file.ts';
import type { Press } from '../publish/press.ts';

/** Most entities of one census, about 14 MB; a signal with more has none, for a part of it would be no census. */
export const CENSUS_ROWS_MAX = 20_000;

const FLUSH_CHARS = 4_000_000;

/** The latest reading of an entity as a line for the census of its signal. */
export function censusLine(record: SignalRecord, leg: LegReading): string {
  return `${JSON.stringify(censusEntry(record, leg))}\n`;
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

import type { Memory, Notes } from './memory.ts';

/** Rows by signal and entity, as JSON: those of this compile over those that are remembered. */
export class KeptRows {
  readonly #kind: string;
  readonly #memory: Memory | null;
  readonly #fresh = new Map<string, Map<string, string>>();
  readonly #before = new Map<string, ReadonlyMap<string, string>>();

  constructor(kind: 'legs' | 'cities', memory: Memory | null) {
    this.#kind = kind;
    this.#memory = memory;
  }

  /** Lines `<entity>` tab JSON. */
  add(signalId: string, lines: string): void {
    const rows = this.#fresh.get(signalId) ?? new Map<string, string>();
    for (const [entity, row] of parseRows(lines)) rows.set(entity, row);
    if (rows.size > 0) this.#fresh.set(signalId, rows);
  }

  /** Signals of which this compile made rows. */
  changedSignals(): readonly string[] {
    return [...this.#fresh.keys()];
  }

  /** Whether this compile made the row. */
  isChanged(signalId: string, entity: string): boolean {
    return this.#fresh.get(signalId)?.has(entity) === true;
  }

  /** Whether the previous compile had a row here. */
  wasThere(signalId: string, entity: string): boolean {
    return this.#rowsBefore(signalId).has(entity);
  }

  get(signalId: string, entity: string): string | undefined {
    return this.#fresh.get(signalId)?.get(entity) ?? this.#rowsBefore(signalId).get(entity);
  }

  entities(signalId: string): ReadonlySet<string> {
    const fresh = this.#fresh.get(signalId)?.keys() ?? [];
    return new Set([...this.#rowsBefore(signalId).keys(), ...fresh]);
  }

  save(notes: Notes): void {
    for (const [signalId, fresh] of this.#fresh) {
      const rows = new Map([...this.#rowsBefore(signalId), ...fresh]);
      const lines = [...rows].map(([entity, row]) => `${entity}\t${row}\n`);
      notes.write(this.#nameOf(signalId), lines.join(''));
    }
  }

  #rowsBefore(signalId: string): ReadonlyMap<string, string> {
    const known = this.#before.get(signalId);
    if (known !== undefined) return known;
    const name = this.#nameOf(signalId);
    const text = this.#memory?.has(name) === true ? this.#memory.read(name).toString('utf8') : '';
    const rows = new Map(parseRows(text));
    this.#before.set(signalId, rows);
    return rows;
  }

  #nameOf(signalId: string): string {
    return `${this.#kind}/${signalId}`;
  }
}

function parseRows(lines: string): (readonly [string, string])[] {
  return lines
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const tab = line.indexOf('\t');
      return [line.slice(0, tab), line.slice(tab + 1)];
    });
}

import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { defined } from '../format/errors.ts';
import { ShelfNotes, type Shelves, shelvesFor } from './known-entities.ts';
import type { SignalFiles } from './list-snapshots.ts';
import type { KnownSignal, Memory, Notes } from './memory.ts';
import { shelfName, shelvesOf } from './merge-plan.ts';

/** A signal of which this compile is to read files. */
interface PlannedSignal {
  readonly signal_id: string;
  /** Its entities as the previous compile left them; null where nothing is remembered. */
  readonly before: Shelves | null;
  /** On how many shelves they are to stand. */
  readonly shelves: number;
}

/** Once a signal has its shelves, it keeps their number. */
export function dueSignal({ signal_id, bytes }: SignalFiles, memory: Memory | null): PlannedSignal {
  const before = memory === null ? null : shelvesOf(memory, signal_id);
  return { signal_id, before, shelves: before?.files.length ?? shelvesFor(bytes) };
}

/** Notes what the next compile is to know of each entity, as the chunks come. */
export class EntityNotes {
  readonly #signals: ReadonlyMap<string, ShelfNotes>;

  /** `folder` holds what is too much for the memory. */
  constructor(folder: string, due: readonly PlannedSignal[]) {
    const notes = due.map(({ signal_id, before, shelves }) => {
      return [
        signal_id,
        new ShelfNotes(join(folder, signal_id), before, {
          count: shelves,
          signals: due.length,
        }),
      ] as const;
    });
    this.#signals = new Map(notes);
  }

  /** `known` is in the form of formatKnown. */
  add({ signal_id, known }: { readonly signal_id: string; readonly known: Uint8Array }): void {
    defined(this.#signals.get(signal_id), 'the signal of a chunk').add(known);
  }

  /** Writes the shelves that changed. Returns those of these signals as they are now. */
  finish(notes: Notes): ReadonlyMap<string, Shelves> {
    const shelves = [...this.#signals].map(([id, own]) => [id, written(id, own, notes)] as const);
    return new Map(shelves);
  }
}

function written(id: string, shelves: ShelfNotes, notes: Notes): Shelves {
  const files = [...shelves.before];
  for (const [shelf, bytes] of shelves.changed()) {
    files[shelf] = notes.write(shelfName(id, shelf), bytes);
  }
  return { files };
}

/** What a job counted of a signal. */
interface SignalCounts
  extends Pick<KnownSignal, 'readings' | 'entities' | 'revisions' | 'repeats'> {
  readonly signal_id: string;
  readonly rejects: { readonly count: number };
}

/** What is known of every signal now: what the previous release knew, and what the jobs counted of those with new files. */
export function knownSignals(
  { catalog, memory }: { readonly catalog: Catalog; readonly memory: Memory | null },
  due: readonly SignalFiles[],
  results: readonly SignalCounts[],
): Map<string, KnownSignal> {
  const known = new Map(Object.entries(memory?.state.signals ?? {}));
  for (const { signal_id, bytes } of due) {
    const result = results.find((counted) => counted.signal_id === signal_id);
    if (result === undefined) continue;
    const before = known.get(signal_id) ?? { ...NOTHING_KNOWN, shelves: shelvesFor(bytes) };
    known.set(signal_id, added(before, result));
  }
  const inOrder = catalog.signals.map(({ id }) => [id, known.get(id)] as const);
  return new Map(inOrder.flatMap(([id, own]) => (own === undefined ? [] : [[id, own] as const])));
}

const NOTHING_KNOWN = {
  readings: 0,
  rejects: 0,
  entities: 0,
  revisions: 0,
  repeats: 0,
  sample: null,
};

function added(before: KnownSignal, result: SignalCounts): KnownSignal {
  return {
    ...before,
    readings: before.readings + result.readings,
    rejects: before.rejects + result.rejects.count,
    entities: before.entities + result.entities,
    revisions: before.revisions + result.revisions,
    repeats: before.repeats + result.repeats,
  };
}

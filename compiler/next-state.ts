import type { ChangePlan } from './change-plan.ts';
import type { JobChunk } from './jobs/chunk-builder.ts';
import type { JobResult } from './jobs/signal-job.ts';
import type { SignalFiles } from './stages/intake/list-snapshots.ts';
import { replacePlaces } from './stages/remember/line-places.ts';
import type { KnownSignal, Notes } from './stages/remember/memory.ts';

const NOTHING: KnownSignal = {
  files: [],
  readings: 0,
  rejects: 0,
  entities: 0,
  revisions: 0,
  repeats: 0,
  sample: null,
};

/** Notes where the lines of each entity stand, as the chunks come. */
export class PlaceNotes {
  readonly #notes: Notes;
  readonly #plan: ChangePlan | null;
  readonly #changed = new Map<string, Map<string, string>>();

  constructor(notes: Notes, plan: ChangePlan | null) {
    this.#notes = notes;
    this.#plan = plan;
  }

  add({ signal_id, places }: JobChunk): void {
    if (this.#plan === null) {
      this.#notes.append(`places/${signal_id}`, places);
      return;
    }
    const lines = this.#changed.get(signal_id) ?? new Map<string, string>();
    for (const line of places.split('\n').slice(0, -1)) {
      lines.set(line.slice(0, line.indexOf('\t')), `${line}\n`);
    }
    this.#changed.set(signal_id, lines);
  }

  finish(): void {
    const memory = this.#plan?.memory;
    for (const [id, lines] of this.#changed) {
      const name = `places/${id}`;
      const before = memory?.has(name) === true ? memory.read(name) : Buffer.alloc(0);
      this.#notes.write(name, replacePlaces(before, lines));
    }
  }
}

/** What is known of every signal now: what the previous release knew, and what the jobs counted. */
export function knownSignals(
  signals: readonly SignalFiles[],
  results: readonly JobResult[],
  plan: ChangePlan | null,
): Map<string, KnownSignal> {
  const counted = new Map(results.map((result) => [result.signal_id, result]));
  const known = signals.map((signal): [string, KnownSignal] => {
    const before = plan?.memory.state.signals[signal.signal_id] ?? NOTHING;
    const result = counted.get(signal.signal_id);
    return [signal.signal_id, withResult(before, signal, result)];
  });
  return new Map(known);
}

function withResult(
  before: KnownSignal,
  { files }: SignalFiles,
  result: JobResult | undefined,
): KnownSignal {
  const stamps = new Map(files.map((file) => [file.name, file.stamp]));
  const read = Object.entries(result?.digests ?? {}).map(([name, sha256]) => ({ name, sha256 }));
  const all = [...before.files, ...read];
  return {
    files: all.map(({ name, sha256 }) => ({ name, sha256, stamp: stamps.get(name) ?? '' })),
    readings: before.readings + (result?.readings ?? 0),
    rejects: before.rejects + (result?.rejects.count ?? 0),
    entities: before.entities + (result?.entities ?? 0),
    revisions: before.revisions + (result?.revisions ?? 0),
    repeats: before.repeats + (result?.repeats ?? 0),
    sample: before.sample,
  };
}

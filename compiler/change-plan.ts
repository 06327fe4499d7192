import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SignalChange } from './jobs/signal-job.ts';
import type { SignalFiles, SnapshotFile } from './stages/intake/list-snapshots.ts';
import { readLines } from './stages/intake/read-lines.ts';
import { addedFiles, type Memory, recall, type State } from './stages/remember/memory.ts';
import { jcs } from './stages/seal/jcs.ts';
import type { Issuer } from './stages/seal/sealer.ts';
import { readPlain, STORED_BYTES_MAX } from './verify/plain-file.ts';

/** Reading a line again by its place, and exchanging what follows from it, against reading it once. */
const CHANGE_COST = 3;
/** A larger share of the input than this is read whole. */
const ADDED_SHARE_MAX = 0.25;

/** What a compile does of which signal, when it goes on from the previous release. */
export interface ChangePlan {
  readonly memory: Memory;
  /** Signals with new files. */
  readonly changes: ReadonlyMap<string, SignalChange>;
}

/** Finds out whether the previous release can be gone on from; null when a full compile is due, or cheaper. */
export function planChange(
  data: string,
  key: string,
  signals: readonly SignalFiles[],
): ChangePlan | null {
  const memory = recall(data, key);
  if (memory === null) return null;
  const { state } = memory;
  const ids = new Set(signals.map((signal) => signal.signal_id));
  if (Object.keys(state.signals).some((id) => !ids.has(id))) return null;
  const changes = new Map<string, SignalChange>();
  for (const signal of signals) {
    const added = addedFiles(signal, state);
    if (added === null) return null;
    if (added.length > 0) changes.set(signal.signal_id, changeOf(signal, added, memory));
  }
  return isWorthIt(signals, changes, state) ? { memory, changes } : null;
}

function changeOf(
  { signal_id, files }: SignalFiles,
  added: readonly SnapshotFile[],
  memory: Memory,
): SignalChange {
  const byName = new Map(files.map((file) => [file.name, file]));
  const names = memory.state.signals[signal_id]?.files.map((file) => file.name) ?? [];
  const known = names.flatMap((name) => byName.get(name) ?? []);
  const places = `places/${signal_id}`;
  return { known, added, places: memory.has(places) ? memory.pathOf(places) : null };
}

/** A batch with every entity is better read whole than line by line. */
function isWorthIt(
  signals: readonly SignalFiles[],
  changes: ReadonlyMap<string, SignalChange>,
  state: State,
): boolean {
  const total = signals.reduce((sum, signal) => sum + signal.bytes, 0);
  const added = [...changes.values()].flatMap((change) => change.added);
  const bytes = added.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > total * ADDED_SHARE_MAX) return false;
  let again = 0;
  for (const [id, change] of changes) {
    const known = state.signals[id];
    const lines = change.added.reduce((sum, file) => sum + lineCount(file), 0);
    const touched = Math.min(1, lines / Math.max(1, known?.entities ?? 0));
    again += touched * (known?.readings ?? 0) + lines;
  }
  const all = Object.values(state.signals).reduce((sum, { readings }) => sum + readings, 0);
  return again * CHANGE_COST <= all || changes.size === 0;
}

function lineCount({ path }: SnapshotFile): number {
  let count = 0;
  for (const { number } of readLines(path)) count = number;
  return count;
}

/**
 * Everything that determines a release except the snapshots: issuer, address, tables, the share of bad lines, the
 * program itself.
 */
export function stateKey(issuer: Issuer, tableDigest: string, rejectsPpm: number): string {
  const { name, did, baseUrl } = issuer;
  const own = { name, did, baseUrl, tableDigest, rejectsPpm, program: programDigest() };
  return hash('sha256', jcs(own), 'hex');
}

/** Another program may write other bodies, whatever its version says. */
function programDigest(): string {
  const root = import.meta.dirname;
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name))
    .sort();
  const digests = names.map((name) => [
    name,
    hash('sha256', readPlain(join(root, name), STORED_BYTES_MAX), 'hex'),
  ]);
  return hash('sha256', jcs(digests), 'hex');
}

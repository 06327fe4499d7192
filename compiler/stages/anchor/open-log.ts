import { join } from 'node:path';
import {
  isOfNoSnapshot,
  type LogLine,
  type LogRun,
  leadOf,
  logLineStart,
  NO_FACTS_TEXT,
  parseLogLine,
  runPath,
  runsOf,
  shardOfLead,
} from '../../contract/log-runs.ts';
import { byteAt, FIRST_BYTES, textLines } from '../publish/hash-lines.ts';
import { LineSpill } from '../publish/line-spill.ts';
import { endOf, findLine, lineAt, textOrder } from '../publish/sorted-lines.ts';
import { ForgottenError } from '../remember/forgotten-error.ts';
import type { Withhold } from './fresh-leaves.ts';
import { LogTree, type PutTile } from './log-tree.ts';
import {
  broken,
  type LogBatchFile,
  type PreviousRelease,
  replayLog,
  type SignedLog,
} from './previous-log.ts';
import { resumeLog } from './resume-log.ts';
import {
  HEX_AT,
  HEX_DIGITS,
  LEADS_OF_A_BYTE,
  linesBetween,
  POSITION_AT,
  type RunSource,
} from './run-lines.ts';
import { RunSpill } from './run-spill.ts';

/** Of entries in memory, before they go to the disk. */
const HELD_BYTES_MAX = 4_000_000;
const PREFIX_CHARS = 'sha256:'.length;

/** The log so far, to be appended to. */
export interface OpenLog {
  readonly tree: LogTree;
  /** The file of batches that the next row belongs into, or the first where all of them are written again. */
  readonly batches: LogBatchFile;
  readonly withhold: Withhold;
  /** Its index, complete once `withhold` was called for every byte. */
  readonly runs: RunSource;
  /** Whether it was resumed: what does not change stays in the release as it is. */
  readonly isResumed: boolean;
  /** Whether a replayed log holds entries that no leaf of this compile gives; known once `withhold` was called for every byte. */
  readonly hasOrphans: () => boolean;
}

const none = (): boolean => false;

/** A log that holds nothing yet. */
export function emptyLog(put: PutTile): OpenLog {
  const batches = { number: 0, rows: [] };
  const runs: RunSource = { runs: [], lines: () => Buffer.alloc(0) };
  return {
    tree: new LogTree(put),
    batches,
    withhold: () => undefined,
    runs,
    isResumed: false,
    hasOrphans: none,
  };
}

/** The log of the previous release from its right edge. */
export function resumedLog(previous: PreviousRelease, old: SignedLog, put: PutTile): OpenLog {
  const tree = resumeLog(previous, old, put);
  if (tree === null) throw new ForgottenError('Cannot go on: the log does not give its root');
  const runs = new StoredRuns(old.signed.size, (path) => listedBytes(previous, path));
  const withhold = storedIn(runs);
  return { tree, batches: old.newest, withhold, runs, isResumed: true, hasOrphans: none };
}

/** A file that cannot be read is written again by a full compile, which reads the entries instead. */
function listedBytes(previous: PreviousRelease, path: string): Buffer {
  const bytes = bytesOrNull(previous, path);
  if (bytes === null) throw new ForgottenError(`Cannot go on from "${path}"`);
  return bytes;
}

function bytesOrNull(previous: PreviousRelease, path: string): Buffer | null {
  try {
    return previous.read(path);
  } catch {
    return null;
  }
}

function storedIn(runs: StoredRuns): Withhold {
  return (_, leaves) => {
    for (const [hex, { isNew }] of leaves) {
      const line = isNew ? null : runs.find(hex);
      if (line === null) continue;
      // A full compile gives it the facts that are known again.
      if (line.facts === null) throw new ForgottenError(`Cannot go on: "${hex}" is known again`);
      leaves.delete(hex);
    }
  };
}

/** The log of the previous release entry by entry, each hashed again. */
export function replayedLog(
  previous: PreviousRelease,
  old: SignedLog,
  { put, folder }: { readonly put: PutTile; readonly folder: string },
): OpenLog {
  const tree = new LogTree(put);
  const form = { endOf, groupOf: byteAt, groups: FIRST_BYTES };
  const entries = new LineSpill(join(folder, 'entries'), form, HELD_BYTES_MAX);
  const rows = replayLog(previous, old, {
    tree,
    take: (hash, position) => entries.add(Buffer.from(`${hash.slice(PREFIX_CHARS)} ${position}\n`)),
  });
  const runs = new RunSpill(join(folder, 'runs'), runsOf(tree.size));
  const noBytes = Buffer.alloc(0);
  const known = new StoredRuns(tree.size, (path) => bytesOrNull(previous, path) ?? noBytes);
  let orphans = 0;
  const onOrphan = (): void => {
    orphans += 1;
  };
  const withhold = replayedIn({ entries, known, runs, onOrphan });
  const hasOrphans = (): boolean => orphans > 0;
  return { tree, batches: { number: 0, rows }, withhold, runs, isResumed: false, hasOrphans };
}

interface Replayed {
  readonly entries: LineSpill;
  /** What the previous release says of them. */
  readonly known: RunSource;
  readonly runs: RunSpill;
  /** Called for an entry that no leaf gives. */
  readonly onOrphan: () => void;
}

/** An entry keeps the facts that it came with; where these are lost, the leaf of a snapshot that still has it says them. */
function replayedIn({ entries, known, runs, onOrphan }: Replayed): Withhold {
  return (first, leaves) => {
    const facts = factsOf(known, first);
    const seen = new Set<string>();
    for (const line of textLines(entries.take(first))) {
      const [hex, position] = [line.slice(0, HEX_DIGITS), Number(line.slice(HEX_DIGITS + 1))];
      if (seen.has(hex)) throw broken(`entry ${position}`, 'it is in the log twice');
      seen.add(hex);
      const own = facts.get(hex) ?? leaves.get(hex)?.facts ?? NO_FACTS_TEXT;
      runs.add(hex, position, own);
      if (!leaves.delete(hex) && !isOfNoSnapshot(own)) onOrphan();
    }
  };
}

/** Known facts of the entries whose hash begins with a byte, by its hex digits. */
function factsOf(known: RunSource, first: number): ReadonlyMap<string, string> {
  const facts = new Map<string, string>();
  for (const run of known.runs) {
    for (const line of textLines(known.lines(run, first))) {
      const text = line.slice(line.indexOf(',', POSITION_AT) + 1, -1);
      if (text !== NO_FACTS_TEXT) facts.set(line.slice(HEX_AT, HEX_AT + HEX_DIGITS), text);
    }
  }
  return facts;
}

/** The index of the log of a release. Of each run the file that was read last is held, so look-ups should come in order. */
export class StoredRuns implements RunSource {
  readonly runs: readonly LogRun[];
  readonly #read: (path: string) => Buffer;
  readonly #held = new Map<LogRun, { readonly path: string; readonly bytes: Buffer }>();

  /** `read` gives the bytes of a listed file. */
  constructor(size: number, read: (path: string) => Buffer) {
    this.runs = runsOf(size);
    this.#read = read;
  }

  /** What the log says of a hash, given by its hex digits; null when it does not hold it. Reads one file of each run at most. */
  find(hex: string): LogLine | null {
    for (const run of this.runs) {
      const bytes = this.#file(run, shardOfLead(run, leadOf(hex)));
      const { start } = findLine({ bytes, order: textOrder }, logLineStart(hex));
      const line = lineAt(bytes, start);
      if (line.startsWith(logLineStart(hex))) return parseLogLine(line);
    }
    return null;
  }

  lines(run: LogRun, first: number): Buffer {
    const [from, to] = [first * LEADS_OF_A_BYTE, (first + 1) * LEADS_OF_A_BYTE];
    const shards: Buffer[] = [];
    for (let shard = shardOfLead(run, from); shard <= shardOfLead(run, to - 1); shard += 1) {
      shards.push(linesBetween(this.#file(run, shard), from, to));
    }
    return Buffer.concat(shards);
  }

  #file(run: LogRun, shard: number): Buffer {
    const path = runPath(run, shard);
    const held = this.#held.get(run);
    if (held?.path === path) return held.bytes;
    const bytes = this.#read(path);
    this.#held.set(run, { path, bytes });
    return bytes;
  }
}

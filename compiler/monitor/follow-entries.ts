import { bytesToHex } from '@noble/hashes/utils.js';
import type { Checkpoint } from '../contract/checkpoint.ts';
import { parseReleaseEntry, type ReleaseEntry } from '../contract/release-entry.ts';
import { TILE_WIDTH } from '../contract/tiles.ts';
import { canonicalHash } from '../verify/body-check.ts';
import { entryContradiction, orderContradiction } from './evidence.ts';
import type { Signed } from './follow-log.ts';
import type { Finding } from './monitor-state.ts';
import type { Round, ShownHead } from './round.ts';
import { type LoggedEntries, TiledTree, TileError } from './tiled-tree.ts';

/** Entries that are read in one look: a log has one a release. */
const ENTRIES_MAX = 16_384;

/** Reads what the log says of its releases since the last look, and finds the one that is shown in it. */
export async function followEntries(
  round: Round,
  shown: ShownHead | null,
  signed: Signed,
): Promise<void> {
  const { size } = signed.checkpoint;
  if (size === 0) return;
  const log = { signed, tree: new TiledTree(round.client, size) };
  try {
    await readNew(round, shown, log);
    if (shown !== null) await findHead(round, shown, log);
  } catch (error) {
    if (!(error instanceof TileError)) throw error;
    const detail = `its tiles are not whole: ${error.message}`;
    round.findings.push({ kind: 'unproven', about: 'entries', detail });
  }
}

interface ReadLog {
  readonly signed: Signed;
  readonly tree: TiledTree;
}

/** Each new entry has to follow the one before it. At the first look those are read that stand in one bundle with the newest. */
async function readNew(round: Round, shown: ShownHead | null, log: ReadLog): Promise<void> {
  const { state, findings } = round;
  const { checkpoint } = log.signed;
  const end = checkpoint.size;
  const newest = Math.floor((end - 1) / TILE_WIDTH) * TILE_WIDTH;
  const start = state.entries_read === 0 ? newest : state.entries_read - 1;
  if (end <= start + 1 && state.entries_read > 0) return;
  if (end - start > ENTRIES_MAX) {
    const detail = `its log grew by ${end - start} entries, more than ${ENTRIES_MAX} in one look`;
    findings.push({ kind: 'log_order', about: 'entries', detail });
    return;
  }
  const { entries } = await log.tree.entries({ start, end }, checkpoint);
  for (const [at, entry] of entries.entries()) {
    const before = entries[at - 1];
    const index = start + at;
    if (before !== undefined) {
      const broken = orderContradiction(before, entry);
      if (broken !== null) findings.push(await orderFinding(broken, index, log));
      const fall = timeFault(before, entry, shown);
      if (fall !== null) {
        // Looked at again, when the head that says why may be there.
        findings.push({ kind: 'log_order', about: `time of entry ${index}`, detail: fall });
        return;
      }
    }
    state.entries_read = index + 1;
  }
}

async function orderFinding(
  detail: string,
  index: number,
  { signed, tree }: ReadLog,
): Promise<Finding> {
  const pair = await tree.entries({ start: index - 1, end: index + 1 }, signed.checkpoint);
  const about = `entry ${index}`;
  return {
    kind: 'log_order',
    about,
    detail: `${about} of its log: ${detail}`,
    proof: { kind: 'entries', ...inWords(pair, signed) },
  };
}

/** The time of a release may fall only where a head says that a clock was set right; later heads repeat that. */
function timeFault(before: Uint8Array, entry: Uint8Array, shown: ShownHead | null): string | null {
  const [one, next] = [parseReleaseEntry(before), parseReleaseEntry(entry)];
  if (one === null || next === null || Date.parse(next.as_of) >= Date.parse(one.as_of)) return null;
  const { sequence = 0, latest = '' } = shown?.head.clock_corrected ?? {};
  if (one.sequence < sequence && Date.parse(one.as_of) <= Date.parse(latest)) return null;
  return `its log dates release ${next.sequence} ${next.as_of}, before release ${one.sequence} of ${one.as_of}`;
}

/** The release that is shown has to be the one of its entry; the log may be one ahead, for the moment of a switch. */
async function findHead(round: Round, shown: ShownHead, log: ReadLog): Promise<void> {
  const { state, findings } = round;
  const { head } = shown;
  const { checkpoint } = log.signed;
  const missing = (detail: string): void => {
    findings.push({ kind: 'leaf_missing', detail });
  };
  const newest = checkpoint.size - 1;
  const last = entryOf(await oneEntry(newest, log.tree, checkpoint));
  if (last === null) {
    // A log of the first format, whose heads say where they stand.
    if (head.log_index === undefined) missing('the newest entry of its log is not of a release');
    return;
  }
  if (last.sequence > head.sequence) {
    const detail = `its log has the release ${last.sequence}, and it shows ${head.sequence}`;
    findings.push({ kind: 'frozen', about: 'log', detail });
  }
  const hash = canonicalHash(head);
  if (state.logged_head === hash) return;
  const index = newest - (last.sequence - head.sequence);
  if (index < 0 || index > newest) {
    missing(`release ${head.sequence} is not in its log of ${checkpoint.size} entries`);
    return;
  }
  const found = await oneEntry(index, log.tree, checkpoint);
  const entry = entryOf(found);
  const detail = entry === null ? null : entryContradiction(entry, head);
  if (entry?.sequence !== head.sequence) {
    missing(`entry ${index} of its log is not that of release ${head.sequence}`);
  } else if (detail === null) {
    state.logged_head = hash;
  } else {
    const proof = { kind: 'leaf', head: shown.text, ...inWords(found, log.signed) } as const;
    findings.push({ kind: 'leaf_missing', detail, proof });
  }
}

function oneEntry(index: number, tree: TiledTree, checkpoint: Checkpoint): Promise<LoggedEntries> {
  return tree.entries({ start: index, end: index + 1 }, checkpoint);
}

function entryOf({ entries: [only] }: LoggedEntries): ReleaseEntry | null {
  return only === undefined ? null : parseReleaseEntry(only);
}

/** As a file of evidence says it. */
function inWords({ index, entries, beside }: LoggedEntries, { note }: Signed) {
  return { note, index, entries: entries.map(bytesToHex), beside: beside.map(bytesToHex) };
}

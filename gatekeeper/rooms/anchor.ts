import { isRealDay } from '../../compiler/contract/cutoff.ts';
import { defined } from '../../compiler/contract/defined.ts';
import type { Route, RouteFault } from '../../compiler/contract/route.ts';
import { LOG_URL } from '../../compiler/contract/static-files.ts';
import { CHECKPOINT_PATH } from '../../compiler/contract/tiles.ts';
import {
  type Answered,
  KEEP_FOR_RELEASE,
  type Question,
  type Service,
} from '../answers/service.ts';
import { noCharge } from '../offer/no-charge.ts';
import { inclusionOf } from '../release/inclusion.ts';
import { anchorWords, batchRows, logOutline } from '../release/log-files.ts';
import { findLeaf } from '../release/log-index.ts';
import { logTip } from '../release/log-tip.ts';
import type { ReleaseReader } from '../release/release-index.ts';
import { jsonContent } from './json-content.ts';
import { undetermined } from './undetermined.ts';
import { hashPrefix } from './verify-hash.ts';

/** Batches of one answer; `day` reaches the older ones, and the files of the log hold all. */
const BATCHES_SHOWN_MAX = 200;

/**
 * `/gauge/anchor`: the batches of the log, those of a day, or the inclusion of a hash. Computed, because any hash of the log
 * and any day may be asked for.
 */
export async function anchor({ route, spend }: Question, service: Service): Promise<Answered> {
  const { day, hash } = route.values;
  if (day !== undefined && !isRealDay(day))
    return illegal(route, { name: 'day', legal: DAY }, service);
  const digits = hash === undefined ? null : hashPrefix(hash);
  if (hash !== undefined && digits === null) return illegal(route, { name: 'hash' }, service);
  try {
    const reader = { release: service.release, spend };
    const body = digits === null ? await batchList(reader, day) : await entry(digits, reader);
    return jsonContent(body, KEEP_FOR_RELEASE);
  } catch (error) {
    return undetermined({ endpoint: 'gauge/anchor' }, error, service);
  }
}

const DAY = 'day must be a calendar day like 2026-11-20';

function illegal(
  route: Route,
  wrong: Pick<RouteFault, 'name' | 'legal'>,
  { release }: Service,
): Answered {
  const value = defined(route.values[wrong.name], `the value of ${wrong.name}`);
  const fault = { miss: 'illegal_value', missing: [], value, ...wrong } as const;
  return { kind: 'reply', reply: noCharge({ ...route, fault }, release) };
}

async function batchList(reader: ReleaseReader, day: string | undefined): Promise<object> {
  const { sizes, days } = await logOutline(reader.release);
  const numbers = day === undefined ? [...sizes.keys()] : (days.get(day) ?? []);
  const shown = await batchRows(numbers.slice(-BATCHES_SHOWN_MAX), reader);
  const batches = await Promise.all(
    shown.toReversed().map(async (row) => ({ ...row, ...(await anchorWords(row.root, reader)) })),
  );
  return {
    endpoint: 'gauge/anchor',
    ...(day === undefined ? {} : { day }),
    log: await newest(reader, sizes.at(-1) ?? 0),
    total: numbers.length,
    shown: batches.length,
    batches,
    note: LIST_NOTE,
  };
}

const LIST_NOTE =
  'newest first; each row is a signed tree of record hashes that includes every earlier row. A timestamp proves ' +
  'only that these hashes existed by then; it says nothing about what they stand for';

async function newest({ release, spend }: ReleaseReader, size: number): Promise<object | null> {
  const tip = await logTip(release);
  if (tip !== null) {
    const { signed, checkpoint } = tip.proof;
    return { size: signed.size, checkpoint, files: LOG_URL };
  }
  if (!release.has(CHECKPOINT_PATH)) return null;
  const { bytes } = await release.body(CHECKPOINT_PATH, spend);
  return { size, checkpoint: bytes.toString('utf8'), files: LOG_URL };
}

async function entry(digits: string, reader: ReleaseReader): Promise<object> {
  const found = await findLeaf(digits, reader);
  const head = { endpoint: 'gauge/anchor', hash: `sha256:${digits}` };
  if (found.state !== 'found') {
    const ambiguous =
      found.state === 'ambiguous' ? { ambiguous: true, matches: found.matches } : {};
    return { ...head, found: false, ...ambiguous, note: ABSENT_NOTES[found.state] };
  }
  const { inclusion, anchor: words } = await inclusionOf(found, reader);
  return { ...head, hash: found.hash, found: true, ...inclusion, ...words, note: FOUND_NOTE };
}

export const ABSENT_NOTES = {
  not_found:
    'no log entry starts with these digits; the log holds record hashes, and of citations those of bodies that join readings',
  ambiguous: 'more than one log entry starts with these digits; send more digits',
} as const;

const FOUND_NOTE =
  'hash the entry (SHA-256 of a zero byte followed by the ASCII text of the hash), then combine it with ' +
  'inclusion_proof as RFC 9162 defines for this index and size; the result must be root, which the checkpoint signs';

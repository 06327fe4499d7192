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
import { jsonReply } from '../http/reply.ts';
import { noCharge } from '../offer/no-charge.ts';
import { anchorWords, batchRows, inclusionOf, logOutline } from '../release/log-files.ts';
import { findLeaf } from '../release/log-index.ts';
import { logTip } from '../release/log-tip.ts';
import type { ReleaseReader } from '../release/release-index.ts';
import { jsonContent, undetermined } from './json-content.ts';
import { leafProof } from './proven.ts';
import {
  coreMembers,
  freeFacts,
  HASH_PREFIX_MIN,
  hashPrefix,
  isFreeReading,
  type LookUp,
  type LookUpReader,
  lookUpHash,
} from './verify-hash.ts';

/** `/proof/:record_hash`: what a hash stands for, and its place in the log. Computed, because every hash of the log has one. */
export async function proof({ route, spend }: Question, service: Service): Promise<Answered> {
  const digits = hashPrefix(defined(route.values.record_hash, 'the hash of a proof'));
  if (digits === null) {
    const error = `Send /proof/sha256:<64 hex>, or at least its first ${HASH_PREFIX_MIN} hex digits in lower case`;
    const usage = '/proof/sha256:<64 hex>';
    return { kind: 'reply', reply: jsonReply(400, { error, usage, no_charge: true }) };
  }
  try {
    const { release, sold } = service;
    const body = await proofBody(digits, { release, sold, spend });
    return jsonContent(body, KEEP_FOR_RELEASE);
  } catch (error) {
    return undetermined({ endpoint: 'proof' }, error, service);
  }
}

async function proofBody(digits: string, reader: LookUpReader): Promise<object> {
  const [listed, leaf] = await Promise.all([lookUpHash(digits, reader), findLeaf(digits, reader)]);
  const head = { endpoint: 'proof', hash: `sha256:${digits}` };
  if (listed.state === 'ambiguous' || leaf.state === 'ambiguous') {
    return { ...head, ...NOTHING, ambiguous: true, note: ABSENT_NOTES.ambiguous };
  }
  if (listed.state === 'not_found' && leaf.state === 'not_found') {
    return {
      ...head,
      ...NOTHING,
      note: 'nothing that this issuer published starts with these digits',
    };
  }
  const known = listed.state === 'listed' ? await recordWords(listed, reader) : UNLISTED;
  if (leaf.state !== 'found') {
    return { ...head, ...known, ...NO_PLACE, note: ABSENT_NOTES.not_found };
  }
  const { inclusion, anchor } = await inclusionOf(leaf, reader);
  // The checkpoint of its batch is as old as the entry; who holds an old body needs one that a key of now signed.
  const tlog_proof = await leafProof(leaf.hash, reader);
  return { ...head, ...known, hash: leaf.hash, inclusion, tlog_proof, anchor, note: known.note };
}

const NO_CORE = { hash_core: null, hash_core_members: null } as const;

const NO_PLACE = { inclusion: null, tlog_proof: null, anchor: null } as const;

const NOTHING = {
  found: false,
  record_status: { state: 'not_found' },
  ...NO_CORE,
  ...NO_PLACE,
} as const;

/** In the log, but no longer in the list of what this release holds. */
const UNLISTED = {
  found: true,
  record_status: { state: 'superseded' },
  ...NO_CORE,
  note: 'a log entry of an earlier release; this release no longer holds its record',
} as const;

async function recordWords(
  { entry, check }: Extract<LookUp, { state: 'listed' }>,
  reader: ReleaseReader,
) {
  const { record_hash, kind, state, file } = entry;
  const unchecked = kind === 'release' ? HEAD : file === null ? SUPERSEDED : LONG;
  const isSame = check?.recomputedHash === record_hash;
  const isFree = isSame && (await isFreeReading(entry, reader));
  return {
    hash: record_hash,
    found: true,
    kind,
    record_status: { state },
    ...freeFacts(entry, reader.release.catalog),
    hash_core: isFree ? check.core : null,
    hash_core_members: coreMembers(entry),
    recompute: RECOMPUTE[kind],
    note: check === null ? unchecked : isSame ? CURRENT[isFree ? 'free' : 'sold'] : BROKEN,
  };
}

const RECOMPUTE = {
  reading:
    'take hash_core_members from the record, leg or row that you hold, with each source reduced to name, weight, independent ' +
    'and relay_of; the hash is sha256 over the canonical JSON (RFC 8785) of that object',
  row:
    'take _hash_core of the row that you hold (with verifiable=1 in a list), or hash_core_members of a single answer; the ' +
    'hash is sha256 over the canonical JSON (RFC 8785) of that object',
  citation:
    'take the _citation of the body that you hold, without record_hash, signature, key_id, issuer_DID and verify_url; the hash ' +
    'is sha256 over the canonical JSON (RFC 8785) of that object',
  release:
    'take the release.json of that release whole; the hash is sha256 over its canonical JSON (RFC 8785)',
} as const;

const CURRENT = {
  free: 'hash = sha256 over the canonical JSON (RFC 8785) of hash_core; a free endpoint shows this reading',
  sold:
    'the stored core has this hash; it is part of what is sold, so it is not shown here. A body that you bought carries ' +
    'it, and POST /verify checks that body for free',
} as const;
const SUPERSEDED =
  'a later reading has taken its place: this release holds its hash, not its fields; the core is in the body that was delivered';
const HEAD =
  'the head of a release; /.well-known/release.json gives that of the release that is served now';
const LONG =
  'its file is too large for a free look-up: this release lists the hash, and the core is in the body that is sold';
const BROKEN = 'the stored record does not have this hash; do not rely on it';

/** Batches of one answer; `day` reaches the older ones, and the files of the log hold all. */
const BATCHES_SHOWN_MAX = 200;

/** `/gauge/anchor`: batches of the log, or an inclusion. Computed, because any hash and any day may be asked for. */
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

const ABSENT_NOTES = {
  not_found:
    'no log entry starts with these digits; the log holds record hashes, and of citations those of bodies that join readings',
  ambiguous: 'more than one log entry starts with these digits; send more digits',
} as const;

const FOUND_NOTE =
  'hash the entry (SHA-256 of a zero byte followed by the ASCII text of the hash), then combine it with ' +
  'inclusion_proof as RFC 9162 defines for this index and size; the result must be root, which the checkpoint signs';

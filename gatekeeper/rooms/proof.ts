import type { Route, RouteFault } from '../../compiler/catalog/route.ts';
import { LOG_URL } from '../../compiler/catalog/static-files.ts';
import { isRealDay } from '../../compiler/format/cutoff.ts';
import { defined } from '../../compiler/format/errors.ts';
import {
  type Answered,
  KEEP_FOR_RELEASE,
  type Question,
  type Service,
} from '../heart/answers/service.ts';
import { noCharge } from '../heart/offer/no-charge.ts';
import { findTaken } from '../heart/release/log-index.ts';
import { anchorWords, batchesOf, inclusionOf } from '../heart/release/log-place.ts';
import { logTip } from '../heart/release/log-tip.ts';
import type { ReleaseReader } from '../heart/release/release-index.ts';
import { jsonReply } from '../wire/reply.ts';
import { jsonContent, undetermined } from './json-content.ts';
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
  const found = await lookUpHash(digits, reader);
  if (found.state !== 'listed') {
    const isAmbiguous = found.state === 'ambiguous';
    return {
      endpoint: 'proof',
      hash: `sha256:${digits}`,
      ...NOTHING,
      ...(isAmbiguous ? { ambiguous: true } : {}),
      note: ABSENT_NOTES[found.state],
    };
  }
  const { note, ...known } = await recordWords(found, reader);
  const [taken] = await findTaken(known.hash.slice('sha256:'.length), reader);
  const inclusion = taken === undefined ? null : await inclusionOf(taken, reader);
  const anchor = inclusion === null ? null : await anchorWords(inclusion.entry_index, reader);
  return { endpoint: 'proof', ...known, inclusion, anchor, note };
}

const NOTHING = {
  found: false,
  record_status: { state: 'not_found' },
  hash_core: null,
  hash_core_members: null,
  inclusion: null,
  anchor: null,
} as const;

async function recordWords(
  { entry, check }: Extract<LookUp, { state: 'listed' }>,
  reader: ReleaseReader,
) {
  const { record_hash, kind, state, file } = entry;
  const unchecked = file === null ? SUPERSEDED : LONG;
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
} as const;

const CURRENT = {
  free: 'hash = sha256 over the canonical JSON (RFC 8785) of hash_core; a free endpoint shows this reading',
  sold:
    'the stored core has this hash; it is part of what is sold, so it is not shown here. A body that you bought carries ' +
    'it, and POST /verify checks that body for free',
} as const;
const SUPERSEDED =
  'a later reading has taken its place: this release holds its hash, not its fields; the core is in the body that was delivered';
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

async function illegal(
  route: Route,
  wrong: Pick<RouteFault, 'name' | 'legal'>,
  { release }: Service,
): Promise<Answered> {
  const value = defined(route.values[wrong.name], `the value of ${wrong.name}`);
  const fault = { miss: 'illegal_value', missing: [], value, ...wrong } as const;
  return { kind: 'reply', reply: await noCharge({ ...route, fault }, release) };
}

async function batchList(reader: ReleaseReader, day: string | undefined): Promise<object> {
  const { tree, proof: newest } = await logTip(reader.release);
  const { total, batches } = await batchesOf({ day, max: BATCHES_SHOWN_MAX }, reader);
  return {
    endpoint: 'gauge/anchor',
    ...(day === undefined ? {} : { day }),
    log: { size: tree.size, checkpoint: newest.checkpoint, files: LOG_URL },
    total,
    shown: batches.length,
    batches,
    note: LIST_NOTE,
  };
}

const LIST_NOTE =
  'newest first; each row is a release, with the root over the record hashes that it took in. A timestamp is that of the ' +
  'first stamped root of the log that covers the row: it proves only that these hashes existed by then, and says nothing ' +
  'about what they stand for';

async function entry(digits: string, reader: ReleaseReader): Promise<object> {
  const [taken, ...more] = await findTaken(digits, reader);
  const head = { endpoint: 'gauge/anchor', hash: `sha256:${digits}` };
  if (taken === undefined) return { ...head, found: false, note: ABSENT_NOTES.not_found };
  const matches = more.length + 1;
  if (matches > 1)
    return { ...head, found: false, ambiguous: true, matches, note: ABSENT_NOTES.ambiguous };
  const inclusion = await inclusionOf(taken, reader);
  const words = await anchorWords(inclusion.entry_index, reader);
  const { record_hash: hash } = taken;
  return { ...head, hash, found: true, ...inclusion, ...words, note: FOUND_NOTE };
}

const ABSENT_NOTES = {
  not_found:
    'no reading or row that this issuer took in starts with these digits. The statement of a body is not looked up here: the ' +
    '_proof in the body shows when it was current',
  ambiguous: 'more than one hash starts with these digits; send more digits',
} as const;

const FOUND_NOTE =
  'hash the text of the hash (SHA-256 of a zero byte followed by its 71 ASCII characters), then combine it with inclusion_proof ' +
  'as RFC 9162 defines for index and entry.new.count; the result must be entry.new.root. Hash the canonical JSON of entry the ' +
  'same way and combine it with entry_proof for entry_index and the size in checkpoint; the result must be log_root, which the ' +
  'checkpoint signs';

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { canonicalJson } from '../format/canonical.ts';
import { openNote } from '../format/checkpoint.ts';
import { messageOf } from '../format/errors.ts';
import { leafHash, verifyInclusion } from '../format/merkle.ts';
import { RECORD_HASH } from '../format/record-hash.ts';
import { releaseName } from '../format/release.ts';
import { parseReleaseEntry, type ReleaseEntry, takenLeaf } from '../format/release-entry.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import { agreement, type BodyCheck, canonicalHash, checkAt, memberPath } from './body-check.ts';
import { judgeTime } from './key-rule.ts';
import { believedDids } from './key-trust.ts';
import { backingsOf, believedSigners, keyCheck, type ProofTrust } from './logged-check.ts';
import { judgeByPolicy, witnessWords } from './policy-check.ts';

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const provedSchema = z.looseObject({
  /** The name of the release that took the hash in. */
  batch: z.string(),
  index: z.int().min(0),
  inclusion_proof: z.array(hex),
  root: z.string(),
  entry: z.looseObject({}),
  entry_index: z.int().min(0),
  entry_proof: z.array(hex),
  log_root: hex,
  checkpoint: z.string(),
});
type Proved = z.infer<typeof provedSchema>;

/** What an answer of `/proof/<hash>` or of `/gauge/anchor?hash=` proves. */
export interface LogAnswer {
  readonly checks: readonly BodyCheck[];
  /** The key that signed the checkpoint; null where no key that is known did. */
  readonly signer: string | null;
  readonly isFound: boolean;
}

/** Where an answer of the log keeps its proof, by its own name. */
const PLACE_OF_PROOF: ReadonlyMap<string, string> = new Map([
  ['proof', 'inclusion'],
  ['gauge/anchor', ''],
]);
/** The members of a proof, and all that an answer may have: another could say anything, and nothing signs it. */
const PROVED_MEMBERS = Object.keys(provedSchema.shape);
const ANSWER_MEMBERS: ReadonlySet<string> = new Set([
  ...['endpoint', 'hash', 'found', 'kind', 'record_status', 'signal_id', 'entity', 'observed_at'],
  ...['hash_core', 'hash_core_members', 'recompute', 'anchor', 'note'],
  ...['ots_state', 'bitcoin_height', 'bitcoin_block', 'stamped_at', 'ots_proof', 'ots_note'],
]);

/** The checks of a saved answer of the log about one hash; null for every other body. */
export function logAnswer(body: JsonValue, trusted: ProofTrust): LogAnswer | null {
  if (!isObject(body) || body._citation !== undefined) return null;
  const { endpoint, hash } = body;
  if (typeof endpoint !== 'string' || typeof hash !== 'string') return null;
  const member = PLACE_OF_PROOF.get(endpoint);
  if (member === undefined) return null;
  const given = member === '' ? body : body[member];
  if (body.found !== true || given === null) return ABSENT;
  const proved = provedSchema.safeParse(given);
  const entryBytes = proved.success ? utf8ToBytes(canonicalJson(proved.data.entry)) : null;
  const entry = entryBytes === null ? null : parseReleaseEntry(entryBytes);
  const isHash = RECORD_HASH.test(hash);
  if (!proved.success || entryBytes === null || entry === null || !isHash) return UNREADABLE;
  const place = { proved: proved.data, entry, entryBytes, member };
  const { signer, checks } = checkpointChecks(place, trusted);
  const own = [
    ...memberChecks(body, proved.data, member),
    ...coreChecks(body, hash),
    ...inclusionChecks(hash, place),
  ];
  return { signer, isFound: true, checks: [...own, ...checks, WORDS] };
}

const ABSENT: LogAnswer = {
  checks: [checkAt('inclusion', 'hash').notApplicable('no entry was found, so nothing is proven')],
  signer: null,
  isFound: false,
};
const UNREADABLE: LogAnswer = {
  checks: [checkAt('inclusion', '').fail('not a whole record hash with its inclusion proof')],
  signer: null,
  isFound: true,
};
const WORDS = checkAt('cover', '').notApplicable(
  'outside the proof: status, timestamp and note are words of the service',
);

function memberChecks(body: JsonObject, proved: Proved, member: string): BodyCheck[] {
  const isProved = (name: string): boolean => PROVED_MEMBERS.includes(name);
  const isOwn = (name: string): boolean =>
    ANSWER_MEMBERS.has(name) || (member === '' ? isProved(name) : name === member);
  const inside = member === '' ? [] : Object.keys(proved).filter((name) => !isProved(name));
  const strange = [
    ...Object.keys(body).filter((name) => !isOwn(name)),
    ...inside.map((name) => memberPath(member, name)),
  ];
  return strange.map((name) =>
    checkAt('inclusion', name).fail('no member of an answer of the log'),
  );
}

/** The core that a hash is taken of, where the answer gives it; what else is said of the record must be in it. */
function coreChecks(body: JsonObject, hash: string): BodyCheck[] {
  const core = body.hash_core;
  const at = checkAt('record_hash', 'hash_core');
  if (!isObject(core)) return [at.notApplicable('its hash core is not in this body')];
  const made = canonicalHash(core);
  const repeated = ['signal_id', 'entity', 'observed_at'].filter(
    (name) => Object.hasOwn(core, name) && Object.hasOwn(body, name),
  );
  return [
    made === hash ? at.pass('recomputed from the hash core') : at.fail(`it hashes to ${made}`),
    ...repeated.map((name) => agreement(name, body[name] === core[name], 'that of the hash core')),
  ];
}

/** What a saved answer proves, and where in it that stands. */
interface Place {
  readonly proved: Proved;
  readonly entry: ReleaseEntry;
  readonly entryBytes: Uint8Array;
  readonly member: string;
}

/** The hash is under `root`, which is that of its release, and the entry of that release is under `log_root`. */
function inclusionChecks(hash: string, { proved, entry, entryBytes, member }: Place): BodyCheck[] {
  const { batch, index, root, entry_index, log_root, checkpoint } = proved;
  const at = (name: string) => checkAt('inclusion', memberPath(member, name));
  const taken = {
    index,
    size: entry.new.count,
    leaf: takenLeaf(hash, sha256),
    root: hexToBytes(entry.new.root.slice('sha256:'.length)),
    proof: proved.inclusion_proof.map(hexToBytes),
  };
  const logged = {
    index: entry_index,
    // The tree of what is no checkpoint is empty, and nothing is in it.
    size: openNote(checkpoint)?.checkpoint.size ?? 0,
    leaf: leafHash(entryBytes, sha256),
    root: hexToBytes(log_root),
    proof: proved.entry_proof.map(hexToBytes),
  };
  const { count } = entry.new;
  const isOfBatch = batch === releaseName(entry);
  return [
    agreement(memberPath(member, 'batch'), isOfBatch, 'the release of the entry'),
    agreement(memberPath(member, 'root'), root === entry.new.root, 'that of the entry'),
    verifyInclusion(taken, sha256)
      ? at('inclusion_proof').pass(`hash ${index} of the ${count} of release ${entry.sequence}`)
      : at('inclusion_proof').fail('does not lead from the hash to the root'),
    verifyInclusion(logged, sha256)
      ? at('entry_proof').pass(`entry ${entry_index} of the log`)
      : at('entry_proof').fail('does not lead from the entry to the root of the log'),
  ];
}

function checkpointChecks(place: Place, trusted: ProofTrust): Omit<LogAnswer, 'isFound'> {
  const { proved, entry, entryBytes, member } = place;
  const { checkpoint, log_root, entry_index: index } = proved;
  const where = memberPath(member, 'checkpoint');
  const at = checkAt('checkpoint', where);
  const refused = (why: string) => ({ signer: null, checks: [at.fail(why)] });
  const { keys, now, policy } = trusted;
  const opened = openNote(checkpoint);
  if (opened === null || bytesToHex(opened.checkpoint.root) !== log_root) {
    return refused('not the signed note of this tree');
  }
  const { note, checkpoint: signed } = opened;
  const seen = judgeByPolicy(checkpoint, trusted, entry.as_of);
  if (seen.fault !== null) return refused(seen.fault);
  const believed = believedDids(trusted, keys?.keys[0]?.did);
  if (believed.length === 0) {
    const detail = 'its signature is not checked: a note does not hold its key; pass --issuer';
    return { signer: null, checks: [at.notApplicable(detail)] };
  }
  const { fault, signers } = believedSigners({ note, signed }, believed, trusted);
  const [signer] = signers;
  if (fault !== null || signer === undefined) return refused(fault ?? 'signed by nobody');
  const words = [...seen.witnessed.map(witnessWords), ...seen.ignored];
  const pass = at.pass(['states this tree, signed', ...words].join(', '));
  try {
    const leaf = leafHash(entryBytes, sha256);
    const of = { index, leaf, entry, origin: signed.origin };
    const backings = backingsOf({ note, root: signed.root, signers }, of, believed, trusted);
    if (keys === undefined) return { signer, checks: [pass] };
    const key = judgeTime({ as_of: entry.as_of, backings }, { keys, now, policy });
    return { signer, checks: [pass, keyCheck(where, key)] };
  } catch (error) {
    return { signer, checks: [at.fail(messageOf(error))] };
  }
}

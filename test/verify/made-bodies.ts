// Bodies as FORMAT.md describes them, with what a judge has to say of each: made from that text with the functions of
// compiler/format and compiler/products alone, so that no compile is needed. Every judge is shown the same ones.

import { createHash, createPublicKey, sign } from 'node:crypto';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import {
  checkpointText,
  cosignedBytes,
  formatNote,
  formatVerifierKey,
  keyHashOf,
  NOTE_KEY,
  noteKeyHash,
} from '../../compiler/format/checkpoint.ts';
import { keyIdOf } from '../../compiler/format/citation.ts';
import { didKey } from '../../compiler/format/did-key.ts';
import { historyOf, type Revocation, type Rotation } from '../../compiler/format/key-history.ts';
import {
  completeLevels,
  hashOfSubtrees,
  inclusionRanges,
  leafHash,
  rangeHash,
  subtreesOf,
} from '../../compiler/format/merkle.ts';
import { type HashedRecord, hashCore } from '../../compiler/format/record-hash.ts';
import { releaseEntryBytes, treeHead } from '../../compiler/format/release-entry.ts';
import { statementLeaf } from '../../compiler/format/statement-tree.ts';
import type { JsonObject, JsonValue } from '../../compiler/format/strict-json.ts';
import { formatTlogProof } from '../../compiler/format/tlog-proof.ts';
import { formatProofExtra } from '../../compiler/products/shapes/body-proof.ts';
import {
  type Cadence,
  freshnessBasis,
  freshnessRule,
} from '../../compiler/products/shapes/freshness.ts';
import { withRequestTime } from '../../compiler/products/shapes/request-time.ts';
import { SETTLEMENT_NATURE } from '../../compiler/products/shapes/resolve-bodies.ts';
import { CHAIN_ORIGIN, chainLink } from '../../compiler/products/shapes/series.ts';
import { signingKey } from '../../compiler/system/sealer.ts';

export const BASE = 'https://readings.example';
const LOG = 'readings.example/log';

export const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(bytes).digest());
export const hashText = (text: string): string =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`;
export const hashJson = (value: unknown): string => hashText(canonicalJson(value));
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export interface MadeKey {
  readonly did: string;
  readonly publicKey: Uint8Array;
  readonly sign: (bytes: Uint8Array) => Uint8Array;
}

export function madeKey(seed: string): MadeKey {
  const key = signingKey(Buffer.from(seed, 'hex'));
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const publicKey = new Uint8Array(spki.subarray(-32));
  const signed = (bytes: Uint8Array) => new Uint8Array(sign(null, bytes, key));
  return { did: didKey(publicKey), publicKey, sign: signed };
}

/** Test 1 of RFC 8032. */
export const FIRST = madeKey('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
export const SECOND = madeKey('22'.repeat(32));
export const THIRD = madeKey('33'.repeat(32));
export const STRANGER = madeKey('44'.repeat(32));
export const WITNESS = madeKey('55'.repeat(32));

const witnessKey = (key: MadeKey) => {
  return { name: 'witness.example', type: NOTE_KEY.witness, publicKey: key.publicKey };
};
/** A witness as its verifier key spells it. */
export const witnessText = (key: MadeKey): string => formatVerifierKey(witnessKey(key), sha256);

/** The hash of a tree, and the path of one of its leaves. */
function treeOf(leaves: readonly Uint8Array[], index: number) {
  const levels = completeLevels(leaves, sha256);
  const subtrees = subtreesOf({ start: 0, end: leaves.length });
  const hashes = subtrees.map(({ height, index: at }) => levels[height]?.[at] as Uint8Array);
  const ranges = inclusionRanges(index, leaves.length);
  return { hashes, path: ranges.map((range) => rangeHash(range, levels, sha256)) };
}

export interface Said {
  readonly target: string;
  readonly claim: string;
  readonly fact: string;
  readonly observed_at: string;
  readonly retrieved_at: string;
}

/** A body with the citation that signs it, as it is stored; `signed` is what the content hash covers. */
export function cited(body: JsonObject, said: Said, key = FIRST, signed = body): JsonObject {
  const statement = {
    schema_version: '1.0',
    statement_type: 'description',
    not_advice: true,
    claim: said.claim,
    fact: said.fact,
    source: {
      issuer: 'Example readings',
      type: 'aggregator',
      url: `${BASE}${said.target}`,
      content_hash: hashJson(signed),
      published_at: said.observed_at,
    },
    retrieved_at: said.retrieved_at,
    status: 'as_published',
    translated: false,
  };
  const text = canonicalJson(statement);
  const record_hash = hashText(text);
  const _citation = {
    ...statement,
    record_hash,
    signature: Buffer.from(key.sign(utf8(text))).toString('base64url'),
    key_id: keyIdOf(key.did),
    issuer_DID: key.did,
    verify_url: `${BASE}/v/${record_hash}`,
  };
  return { ...body, _citation };
}

/** A body as it is delivered at a time. */
export function answered(stored: JsonObject, at: string): JsonObject {
  const timed = withRequestTime(stored, Date.parse(at));
  const provenance = { ...(timed.provenance as JsonObject), answered_at: at };
  const { _citation, ...rest } = { ...timed, provenance } as JsonObject;
  return { ...rest, _citation: _citation as JsonValue } as JsonObject;
}

export interface MadeRelease {
  readonly sequence?: number;
  readonly as_of?: string;
  readonly valid_until?: string | null;
  /** Who signed the checkpoint. */
  readonly signers?: readonly MadeKey[];
  /** Who cosigned it, and when. */
  readonly witnesses?: readonly (readonly [MadeKey, string])[];
  readonly target?: string;
  /** Entries of the log. */
  readonly size?: number;
}

export const AS_OF = '2026-11-20T12:00:00Z';
/** What another request is answered by in the same release. */
const BESIDE = [
  ['/gauge?entity=07010001&signal_id=hydrology.river-level', hashText('another statement')],
] as const;

/** Entry, path and checkpoint of a release that a body stands in. */
export function proofOf(body: JsonObject, release: MadeRelease = {}) {
  const { sequence = 1, as_of = AS_OF, signers = [FIRST], witnesses = [], size = 1 } = release;
  const { valid_until = '2026-11-21T12:00:00Z' } = release;
  const citation = body._citation as { record_hash: string; source: { url: string } };
  const target = release.target ?? citation.source.url.slice(BASE.length);
  const pairs = [[target, citation.record_hash] as const, ...BESIDE].sort((a, b) =>
    a[0] < b[0] ? -1 : 1,
  );
  const index = pairs.findIndex(([each]) => each === target);
  const all = treeOf(
    pairs.map(([each, hash]) => statementLeaf(each, hash, sha256)),
    index,
  );
  const entryBytes = releaseEntryBytes({
    all: treeHead(pairs.length, all.hashes, sha256),
    as_of,
    head: hashText('the head of this release'),
    new: treeHead(0, [], sha256),
    sequence,
    valid_until,
  });
  const entries = Array.from({ length: size }, (_, at) =>
    leafHash(at === size - 1 ? entryBytes : utf8(`entry ${at}`), sha256),
  );
  const log = treeOf(entries, size - 1);
  const root = hashOfSubtrees(log.hashes, sha256);
  const text = checkpointText({ origin: LOG, size, root });
  const signatures = signers.map(({ publicKey, sign: signed }) => {
    const keyHash = noteKeyHash(LOG, publicKey, sha256);
    return { name: LOG, keyHash, signature: signed(utf8(text)) };
  });
  const cosignatures = witnesses.map(([key, time]) => {
    const seconds = Date.parse(time) / 1000;
    const stamp = new Uint8Array(8);
    new DataView(stamp.buffer).setBigUint64(0, BigInt(seconds));
    const signature = Uint8Array.of(...stamp, ...key.sign(cosignedBytes(text, seconds)));
    const { name } = witnessKey(key);
    return { name, keyHash: keyHashOf(witnessKey(key), sha256), signature };
  });
  const checkpoint = formatNote({ text, signatures: [...signatures, ...cosignatures] });
  const extra = formatProofExtra({ entryBytes, index, hashes: all.path });
  const proof = formatTlogProof({ index: size - 1, hashes: log.path, checkpoint, extra });
  return { entry: Buffer.from(entryBytes).toString(), checkpoint, proof };
}

/** A body with its proof, in front of its citation. */
export function proven(body: JsonObject, release: MadeRelease = {}): JsonObject {
  const { _citation, ...rest } = body;
  const holder = rest as JsonObject;
  return {
    ...holder,
    _proof: proofOf(body, release).proof,
    _citation: _citation as JsonValue,
  };
}

// ---- bodies as they are signed

const OBSERVED = '2026-11-20T10:45:00Z';
const RETRIEVED = '2026-11-20T11:00:12Z';
export const ANSWERED = '2026-11-20T12:15:00Z';
const OWED = ['age_hours_now', 'answered_at', 'dead_source', 'freshness'];
export const RECORD_TARGET = '/gauge?entity=07010000&signal_id=hydrology.river-level';

/** What a reading is hashed by, and its hash. */
function reading(entity: string, observed_at = OBSERVED) {
  const core = {
    signal_id: 'hydrology.river-level',
    entity,
    snapshot_date: `${observed_at.slice(0, 10)}T00:00:00Z`,
    observed_at,
    data_age_hours: 0.3,
    current: { stage_ft: 13.6 },
    sources: [
      {
        name: 'Official Office',
        value: 13.6,
        weight: 1,
        role: 'measurement',
        independent: true,
      },
    ],
    lifecycle: null,
    hash_core_version: 3,
  };
  const origin = { source_ref: `https://official.example/${entity}`, source_tier: 'T1' };
  const record_hash = hashJson(hashCore({ ...core, ...origin } as unknown as HashedRecord));
  return { core, origin, record_hash };
}

function provenance(oldest: string, cadence: Cadence, at_request: readonly string[]) {
  return {
    oldest_leg_as_of: oldest,
    freshness_basis: freshnessBasis(cadence),
    at_request: [...at_request],
  };
}

const said = (target: string, observed_at = OBSERVED): Said => ({
  target,
  claim: 'river stage at 07010000',
  fact: `hydrology.river-level of 07010000 read 13.6 ft at ${observed_at}`,
  observed_at,
  retrieved_at: RETRIEVED,
});

/** The record of the worked example. */
export function record(key = FIRST, target = RECORD_TARGET): JsonObject {
  const { core, origin, record_hash } = reading('07010000');
  const body = {
    ...core,
    provenance: provenance(OBSERVED, 'hourly', OWED),
    ...origin,
    record_hash,
  };
  return cited(body, said(target), key);
}

/** A record that says when it was looked at. */
export function lookedAt(last_looked_at: string, cadence: Cadence = 'daily'): JsonObject {
  const { core, origin, record_hash } = reading('07010000');
  const owed = [...OWED, 'update_status'];
  const body = {
    ...core,
    official_cadence: cadence,
    last_looked_at,
    provenance: provenance(OBSERVED, cadence, owed),
    ...origin,
    record_hash,
  };
  return cited(body, { ...said(RECORD_TARGET), retrieved_at: RETRIEVED });
}

const LEG_TIMES = { river: OBSERVED, wind: '2026-11-18T10:45:00Z', rain: '2026-11-20T09:00:00Z' };

/** A body that joins three legs. */
export function joined(): JsonObject {
  const legs = Object.fromEntries(
    Object.entries(LEG_TIMES).map(([name, observed_at], at) => {
      const cadence: Cadence = name === 'wind' ? 'daily' : 'hourly';
      const { record_hash } = reading(`0701000${at}`, observed_at);
      return [name, { observed_at, record_hash, freshness_basis: freshnessBasis(cadence) }];
    }),
  );
  const owed = [...OWED, 'freshness_leg', 'legs[].freshness'];
  const joint = {
    ...provenance(LEG_TIMES.wind, 'hourly', owed),
    freshness_rule: freshnessRule(3, 'legs'),
  };
  return cited({ legs, provenance: joint }, said('/gauge/flood?entity=07010000', LEG_TIMES.wind));
}

/** Readings of a city, each a record of its own inside. */
export function city(): JsonObject {
  const readings = ['07010000', '07010005'].map((entity, at) => {
    const observed_at = at === 0 ? OBSERVED : LEG_TIMES.rain;
    const { core, origin, record_hash } = reading(entity, observed_at);
    const inner = provenance(observed_at, 'hourly', ['age_hours_now', 'dead_source', 'freshness']);
    const signal_id = `hydrology.river-${at}`;
    const whole = { ...core, signal_id, ...origin };
    const own = hashJson(hashCore(whole as unknown as HashedRecord));
    return { ...whole, provenance: inner, record_hash: at === 0 ? own : record_hash && own };
  });
  const joint = {
    ...provenance(LEG_TIMES.rain, 'hourly', [...OWED, 'freshness_leg']),
    freshness_rule: freshnessRule(2, 'readings'),
  };
  return cited({ readings, provenance: joint }, said('/gauge/city?loc=st-louis', LEG_TIMES.rain));
}

/** A roster of servers, each row with its core, under the names that its rows show. */
export function roster(
  shown: readonly string[] = ['alpha', 'beta'],
  more: JsonObject = {},
): JsonObject {
  const rows = ['alpha', 'beta'].map((server_id, at) => {
    const core = {
      hash_core_version: 3,
      server_id,
      capture_date: '2026-11-20',
      observed_at: OBSERVED,
      status: 'active',
      source_ref: null,
      source_tier: 'T2',
    };
    const { status, observed_at } = core;
    return {
      entity: shown[at] ?? server_id,
      status,
      observed_at,
      ...more,
      record_hash: hashJson(core),
      _hash_core: core,
    };
  });
  const body = { count: 2, servers: rows, provenance: provenance(OBSERVED, 'daily', OWED) };
  return cited(body, said('/mcp/census?verifiable=1'));
}

/** An answer of `/resolve` to days as cutoffs, signed under a target. */
export function settlement(
  scope: JsonObject = {},
  target = '/resolve?cutoff=2026-11-01&entity=0000320193&form=10-K',
): JsonObject {
  const body = {
    nature: SETTLEMENT_NATURE,
    entity: '0000320193',
    entity_name: 'Example Corp',
    tickers: ['EXMP'],
    form: '10-K',
    event_class: null,
    other_than: null,
    source_class: 'sec',
    basis: 'filing_date',
    valid_from: '2026-11-01',
    valid_until: '2026-11-20',
    valid_days: null,
    observed_at: OBSERVED,
    resolution_status: 'ambiguous',
    filed_by_cutoff: null,
    event_time: null,
    disclosure_time: null,
    disclosure_date: null,
    note: 'Amendments alone.',
    candidate_count: 0,
    candidate_sources: [],
    ...scope,
  };
  return cited(body, said(target));
}

/** An answer about what the stored list does not hold, of every form or of one. */
export function nothingFiled(scope: {
  readonly form: string | null;
  readonly other_than?: string[];
}): JsonObject {
  const { form, other_than = null } = scope;
  const days = { from: '2026-11-01', until: '2026-11-20' };
  const item = other_than === null ? '' : '&event_class=other';
  const target = `/resolve?cutoff=2026-11-01T05%3A00%3A00Z&entity=0000320193${item}`;
  return settlement(
    {
      form,
      other_than,
      basis: null,
      valid_days: days,
      valid_from: '2026-11-01T05:00:00Z',
      valid_until: '2026-11-20T05:00:00Z',
    },
    form === null ? target : `${target}&form=${form}`,
  );
}

export function echoed(body: JsonObject): JsonObject {
  const { _citation, ...rest } = body;
  const echoes = { cutoff_time: '2026-11-12T04:59:59Z', market_or_event: 'a market' };
  return { ...rest, ...echoes, _citation: _citation as JsonValue };
}

const DAY = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'];

/** A series of four days, cut to its last `days`. */
export function series(days: number, withCores = false): JsonObject {
  const rows = DAY.map((day) => {
    const { core, origin, record_hash } = reading('07010000', `${day}T10:45:00Z`);
    const { snapshot_date, observed_at, data_age_hours, current } = core;
    const row = { snapshot_date, observed_at, data_age_hours, current, band: null, record_hash };
    return { row, hashed: hashCore({ ...core, ...origin } as unknown as HashedRecord) };
  });
  const states = [CHAIN_ORIGIN];
  for (const { row } of rows) {
    const before = states.at(-1) ?? CHAIN_ORIGIN;
    const chain = hashJson(chainLink(before, row));
    states.push({ rows: before.rows + 1, snapshot_date: row.snapshot_date, chain });
  }
  const head = {
    tier: 'history-series',
    signal_id: 'hydrology.river-level',
    entity: '07010000',
    retained: {
      rows: 4,
      from: rows[0]?.row.snapshot_date ?? '',
      to: rows[3]?.row.snapshot_date ?? '',
      chain: states.at(-1)?.chain ?? '',
      older_rows: 0,
    },
    provenance: provenance(OBSERVED, 'daily', OWED),
  };
  const target = '/gauge/history-series?entity=07010000&signal_id=hydrology.river-level';
  const { _citation, ...rest } = cited(head as JsonObject, said(target));
  const first = Math.max(0, DAY.length - days);
  const cut = rows
    .slice(first)
    .map(({ row, hashed }) => (withCores ? { ...row, _hash_core: hashed } : row));
  const before = states[first] ?? CHAIN_ORIGIN;
  const members = { days, count: cut.length, before, rows: cut };
  return { ...rest, ...members, _citation } as unknown as JsonObject;
}

/** The same as signed CSV. */
export function asCsv({ rows, ...body }: JsonObject): string {
  const lines = (rows as { [name: string]: JsonValue }[]).map((row) => {
    const cell = (value: JsonValue): string => {
      const text = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
      return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return Object.values(row).map(cell).join(',');
  });
  const columns = Object.keys((rows as JsonObject[])[0] ?? {}).join(',');
  const { _citation, ...rest } = body;
  const head = JSON.stringify({ ...rest, rows: [], _citation });
  return [`# ${head}`, columns, ...lines].map((line) => `${line}\r\n`).join('');
}

// ---- lists of keys

function signedBy<S extends object>(key: MadeKey, statement: S): S & { signature: string } {
  const signature = Buffer.from(key.sign(utf8(canonicalJson(statement)))).toString('base64url');
  return { ...statement, signature };
}

export const ENDED = '2026-12-01T00:00:00Z';

export function rotation(old: MadeKey, next: MadeKey, more: Partial<Rotation> = {}): Rotation {
  const statement = {
    type: 'rotation' as const,
    old_did: old.did,
    new_did: next.did,
    stated_at: '2026-11-19T00:00:00Z',
    valid_from: '2026-11-20T00:00:00Z',
    overlap_until: ENDED,
    ...more,
  };
  return signedBy(old, statement);
}

export function revocation(key: MadeKey, by: MadeKey, revoked_from: string): Revocation {
  const stated_at = '2026-11-25T00:00:00Z';
  const statement = { type: 'revocation' as const, did: key.did, revoked_from, stated_at };
  return signedBy(by, { ...statement, signed_by: by.did });
}

export const listText = (
  rotations: readonly Rotation[] = [rotation(FIRST, SECOND)],
  revocations: readonly Revocation[] = [],
): string => JSON.stringify(historyOf(FIRST.did, rotations, revocations));

import { COLLECTIONS, isRosterKind, rosterCore, type RosterKind } from '../../../compiler/products/collections.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { didKey } from '../../../compiler/format/did-key.ts';
import { hashCore, type HashedRecord } from '../../../compiler/format/record-hash.ts';
import { CHAIN_ORIGIN, type ChainState, type SeriesRow } from '../../../compiler/products/shapes/series.ts';
import { jcs } from '../../../compiler/system/jcs.ts';
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';

/** One row: what `want` holds is said by the file's own test, `error` is why the input is refused. */
export interface Vector {
  readonly comment: string;
  readonly input: unknown;
  readonly want?: unknown;
  readonly error?: unknown;
}

const hashOf = (text: string): string =>
  `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;

/** `input` is a JSON text, `want` its canonical text written by hand, `error` the code of the refusal. */
export function canonicalVectors(): readonly Vector[] {
  return [
    ['a reading', '{"stage_ft": 13.60, "band": "normal"}', '{"band":"normal","stage_ft":13.6}'],
    ['white space', ' [ 1 ,\t2\r\n] ', '[1,2]'],
    ['keys sort by UTF-16 unit', '{"\\ufb33":1,"\\ud83d\\ude00":2}', '{"😀":2,"\ufb33":1}'],
    ['keys are not numbers', '{"10":1,"9":2,"":3}', '{"":3,"10":1,"9":2}'],
    ['nested keys sort too', '{"b":[{"d":1,"c":2}],"a":{}}', '{"a":{},"b":[{"c":2,"d":1}]}'],
    ['arrays keep their order', '[3,1,2]', '[3,1,2]'],
    ['negative zero becomes zero', '[-0,-0.0,-0e3]', '[0,0,0]'],
    ['exponents', '[1e2,1E-2,1e-7,0.000001]', '[100,0.01,1e-7,0.000001]'],
    ['the largest safe integer', '9007199254740991', '9007199254740991'],
    ['escapes that go', '"\\u0041\\/\\u00e9"', '"A/é"'],
    ['escapes that stay', '"\\u0001\\u000B\\n\\"\\\\"', '"\\u0001\\u000b\\n\\"\\\\"'],
    ['no normalisation', '["\\u00e9","e\\u0301"]', '["é","e\u0301"]'],
  ]
    .map(([comment, input, want]): Vector => ({ comment: `${comment}`, input, want }))
    .concat(refusedTexts());
}

function refusedTexts(): Vector[] {
  return [
    ['a key twice', '{"a":1,"a":2}', 'duplicate_key'],
    ['a key twice, once escaped', '{"a":1,"\\u0061":2}', 'duplicate_key'],
    ['a number beyond doubles', '[1e400]', 'number_not_finite'],
    ['an integer beyond 2^53-1', '{"amount":9007199254740993}', 'integer_unsafe'],
    ['an integer beyond 2^53-1 by exponent', '1e21', 'integer_unsafe'],
    ['digits that a double loses', '0.1000000000000000055', 'number_inexact'],
    ['a number that vanishes', '1e-400', 'number_inexact'],
    ['a high half', '"\\ud800"', 'lone_surrogate'],
    ['a low half in a key', '{"\\udfff":1}', 'lone_surrogate'],
    ['an escaped NUL', '"\\u0000"', 'nul'],
    ['a raw tab', '"\t"', 'control_character'],
    ['a byte order mark', '\ufeff{}', 'byte_order_mark'],
    ['a reserved key', '{"__proto__":1}', 'reserved_key'],
    ['depth 65', '['.repeat(65) + ']'.repeat(65), 'too_deep'],
    ['a second value', '{} {}', 'trailing_text'],
    ['NaN', '[NaN]', 'syntax'],
    ['a leading zero', '01', 'syntax'],
    ['a trailing comma', '[1,]', 'syntax'],
  ].map(([comment, input, error]) => ({ comment: `${comment}`, input, error }));
}

const BASE = {
  hash_core_version: 3,
  signal_id: 'hydrology.stage',
  entity: '00000000',
  snapshot_date: '2026-01-02T00:00:00Z',
  observed_at: '2026-01-02T03:45:00Z',
  current: { stage_ft: 13.6, band: 'normal' },
  source_ref: 'https://example.org/00000000',
  source_tier: 'T1',
  sources: [{ name: 'Example Survey', weight: 1, independent: true }],
  lifecycle: null,
};
const SOURCE = { name: 'Example Survey', weight: 1, independent: true };
const LIFE = { state: 'operating', birth_at: null, end_at: null, death_type: null, context: null };

/** `input` is a record, `want` the canonical text of its core and its hash, `error` a part of the message. */
export function recordHashVectors(): readonly Vector[] {
  return [...sameHash(), ...otherHash(), ...refusedRecords()];
}

function hashed(comment: string, input: object, core: string, kind = {}): Vector {
  return { comment, input, want: { ...kind, core, record_hash: hashOf(core) } };
}

function row(comment: string, input: object): Vector {
  return hashed(comment, input, jcs(hashCore(input as HashedRecord)));
}

/** Rows whose hash is that of the first. */
function sameHash(): Vector[] {
  const { hash_core_version, ...unversioned } = BASE;
  const source = { ...SOURCE, value: 13.6, as_of: '2026-01-02T03:45:00Z', role: 'measurement' };
  return [
    row('same: the base', BASE),
    row('same: no version means the current one', unversioned),
    row('same: members in another order', Object.fromEntries(Object.entries(BASE).reverse())),
    row('same: metrics in another order', { ...BASE, current: { band: 'normal', stage_ft: 13.6 } }),
    row('same: value, as_of and role of a source are outside', { ...BASE, sources: [source] }),
    row('same: names, summaries and derived members are outside', {
      ...BASE,
      entity_name: 'Example River',
      summary_en: 'normal',
      data_age_hours: 1.5,
      freshness: 'fresh',
      trend_7d: [1, 2],
    }),
  ];
}

/** Rows that each have a hash of their own. */
function otherHash(): Vector[] {
  const other = (comment: string, part: object) => row(`other: ${comment}`, { ...BASE, ...part });
  return [
    other('signal_id', { signal_id: 'hydrology.flow' }),
    other('entity', { entity: '00000001' }),
    other('snapshot_date', { snapshot_date: '2026-01-03T00:00:00Z' }),
    other('observed_at', { observed_at: '2026-01-02T03:45:01Z' }),
    other('a metric', { current: { stage_ft: 13.7, band: 'normal' } }),
    other('a metric as text', { current: { stage_ft: '13.6', band: 'normal' } }),
    other('a metric of null', { current: { stage_ft: null, band: 'normal' } }),
    other('source_ref of null', { source_ref: null }),
    other('source_tier of null', { source_tier: null }),
    other('no sources', { sources: [] }),
    other('sources of null', { sources: null }),
    other('the name of a source', { sources: [{ ...SOURCE, name: 'Example survey' }] }),
    other('the weight of a source', { sources: [{ ...SOURCE, weight: 0.5 }] }),
    other('independence of a source', { sources: [{ ...SOURCE, independent: false }] }),
    other('relay_of of null is not absence', { sources: [{ ...SOURCE, relay_of: null }] }),
    other('relay_of', { sources: [{ ...SOURCE, relay_of: 'Example Office' }] }),
    other('an absent weight stays absent', { sources: [{ name: SOURCE.name, independent: true }] }),
    other('a source twice', { sources: [SOURCE, SOURCE] }),
    other('a lifecycle', { lifecycle: LIFE }),
    other('a composed name', { entity: 'caf\u00e9' }),
    other('a decomposed name', { entity: 'cafe\u0301' }),
  ];
}

function refusedRecords(): Vector[] {
  const names = Object.keys(BASE).filter((name) => name !== 'hash_core_version');
  const missing = names.map((name): Vector => {
    const input = Object.fromEntries(Object.entries(BASE).filter(([key]) => key !== name));
    return { comment: `${name} is missing`, input, error: `"${name}" is missing` };
  });
  const versions = [2, 4, '3', null, 3.5].map((version): Vector => {
    const input = { ...BASE, hash_core_version: version };
    return { comment: `version ${JSON.stringify(version)}`, input, error: 'unknown version' };
  });
  const sources = ['Example Survey', {}, [null], ['Example Survey'], [[]]].map((each): Vector => {
    const input = { ...BASE, sources: each };
    return { comment: `sources ${JSON.stringify(each)}`, input, error: 'is not an' };
  });
  return [...missing, ...versions, ...sources];
}

const CAPTURED = { capture_date: '2026-11-19', observed_at: '2026-11-19T06:00:00Z' };
const SOURCED = { source_ref: 'https://source.example/rows', source_tier: 'T2' };
const DEMAND = {
  calls_30d: 40,
  unique_payers_30d: 7,
  demand_class: 'REAL',
  demand_depth: null,
  endpoints: 3,
  endpoints_by_class: { REAL: 2, DEAD: 1 },
  last_called_at: null,
};
const SERVICE = {
  service_id: 'weather-example',
  ...CAPTURED,
  model: 'demand-v1',
  domain: 'weather.example',
  first_endpoint: 'https://weather.example/v1',
  score_total: 12.5,
  liveness_state: 'alive',
  liveness_streak: 3,
  baseline_delta: null,
  ...SOURCED,
};

const ROSTER_ROWS: Readonly<Record<RosterKind, object>> = {
  'trust.service': { ...SERVICE, ...DEMAND },
  'mcp.server': { server_id: 'weather-mcp', ...CAPTURED, status: 'active', ...SOURCED },
  'stable.coin': {
    coin_id: 'example-dollar',
    ...CAPTURED,
    symbol: 'EXUSD',
    current: { price_in_peg: 0.998, market_cap_usd: 1e6, peg: 'USD' },
    ...SOURCED,
  },
  'stablecoin.death': {
    confirmed_dead_at: '2026-05-10T00:00:00Z',
    symbol: 'GONE',
    death_type: 'depeg-collapse',
    pre_death_observed_at: '2026-05-09T00:00:00Z',
    first_distress_at: null,
    lifespan_days: 300,
    pre_death_payload: { price: 0.31, per_chain: { base: 0.6 } },
    death_context: { note: 'generated' },
    ...SOURCED,
  },
  document: {
    operation: '/shadow/chatter',
    params: { topic: 'energy' },
    title: 'figures side by side',
    text: 'Two offices published a figure.',
    rows: [{ office_a_pct: 4.1, office_b_pct: 4.2 }],
    observed_at: '2026-11-19T06:00:00Z',
    ...SOURCED,
  },
};

/** `input` is a delivered row, `want` its kind, the canonical text of its core and its hash, `error` a part of the message. */
export function rosterCoreVectors(): readonly Vector[] {
  const kinds = COLLECTIONS.map(({ id }) => id).filter(isRosterKind);
  const legacy = { ...SERVICE, capture_date: '2026-07-07', model: 'legacy-registry' };
  return [
    ...kinds.map((kind) => rosterRow(`a row of ${kind}`, kind, ROSTER_ROWS[kind])),
    rosterRow('a service before demand was measured', 'trust.service', legacy),
    ...kinds.map((kind) =>
      rosterRow(`display members of ${kind} are outside`, kind, { name: 'x', rank: 1, ...ROSTER_ROWS[kind] }),
    ),
    ...kinds.map(withoutLast),
  ];
}

function rosterRow(comment: string, kind: RosterKind, input: object): Vector {
  return hashed(comment, input, jcs(rosterCore(kind, { ...input })), { kind });
}

/** A row that lacks a member of its core is none of its kind. */
function withoutLast(kind: RosterKind): Vector {
  const { source_tier, ...input } = ROSTER_ROWS[kind] as Record<string, unknown>;
  return { comment: `a row of ${kind} without its source tier`, input, error: 'source_tier' };
}


const ROWS: readonly SeriesRow[] = ['18', '19', '19', '20'].map((day, at) => ({
  snapshot_date: `2026-11-${day}T00:00:00Z`,
  observed_at: `2026-11-${day}T1${at}:45:00Z`,
  data_age_hours: 0.3,
  current: { stage_ft: 13.1 + at, band: null },
  band: at === 2 ? 'minor' : null,
  record_hash: hashOf(`reading ${at}`),
}));

/** `input` is a state and rows, `want` the states behind each row; with `end` the chain must lead there, or `error`. */
export function seriesChainVectors(): readonly Vector[] {
  const states = statesAfter(CHAIN_ORIGIN, ROWS);
  const [, second = CHAIN_ORIGIN] = states;
  const end = states.at(-1) ?? CHAIN_ORIGIN;
  const [first, ...later] = ROWS;
  const bent = ROWS.map((row, at) => (at === 1 ? { ...row, current: { stage_ft: 14.2 } } : row));
  const refused = (comment: string, before: ChainState, rows: readonly SeriesRow[]): Vector => {
    return { comment, input: { before, rows, end }, error: 'chain' };
  };
  return [
    whole('all rows', CHAIN_ORIGIN, ROWS),
    whole('the first row', CHAIN_ORIGIN, first === undefined ? [] : [first]),
    whole('a later part, from the state before it', second, ROWS.slice(2)),
    refused('a value is altered', CHAIN_ORIGIN, bent),
    refused('the first row is missing', CHAIN_ORIGIN, later),
    refused('two rows change places', CHAIN_ORIGIN, [...ROWS].reverse()),
    refused('the state before is another', { ...second, rows: 1 }, ROWS.slice(2)),
  ];
}

function whole(comment: string, before: ChainState, rows: readonly SeriesRow[]): Vector {
  return { comment, input: { before, rows }, want: { states: statesAfter(before, rows) } };
}

function statesAfter(before: ChainState, rows: readonly SeriesRow[]): ChainState[] {
  const states: ChainState[] = [];
  let state = before;
  for (const row of rows) {
    const { snapshot_date } = row;
    state = { rows: state.rows + 1, snapshot_date, chain: hashOf(jcs([state, row])) };
    states.push(state);
  }
  return states;
}

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const ENTRIES = Array.from({ length: 9 }, (_, at) => {
  return hashOf(`entry ${at}`);
});
const PLACES = [
  [0, 1],
  [0, 2],
  [1, 2],
  [2, 3],
  [0, 5],
  [4, 5],
  [3, 8],
  [7, 8],
  [8, 9],
] as const;

/** The tree hash of RFC 6962 §2.1, as it is written there. */
function treeHash(entries: readonly string[]): Buffer {
  const [only] = entries;
  if (only === undefined) return sha256();
  if (entries.length === 1) return sha256(Buffer.of(0), Buffer.from(only));
  const cut = splitOf(entries.length);
  return sha256(Buffer.of(1), treeHash(entries.slice(0, cut)), treeHash(entries.slice(cut)));
}

/** The audit path of RFC 6962 §2.1.1. */
function pathOf(index: number, entries: readonly string[]): string[] {
  if (entries.length <= 1) return [];
  const cut = splitOf(entries.length);
  const [left, right] = [entries.slice(0, cut), entries.slice(cut)];
  return index < cut
    ? [...pathOf(index, left), treeHash(right).toString('hex')]
    : [...pathOf(index - cut, right), treeHash(left).toString('hex')];
}

function splitOf(size: number): number {
  return 2 ** Math.floor(Math.log2(size - 1));
}

/** `input` is an entry, its place, a proof and a root, `want` the leaf hash where the proof holds; hashes in hex. */
export function merkleVectors(): readonly Vector[] {
  const proofs = PLACES.map(([index, size]) => proofOf(index, size));
  return [...proofs.map(({ comment, input, want }) => ({ comment, input, want })), ...refusedProofs()];
}

function proofOf(index: number, size: number) {
  const entries = ENTRIES.slice(0, size);
  const entry = defined(ENTRIES[index], 'the entry');
  const proof = pathOf(index, entries);
  const input = { entry, index, size, proof, root: treeHash(entries).toString('hex') };
  const leaf = sha256(Buffer.of(0), Buffer.from(entry)).toString('hex');
  return { comment: `entry ${index} of ${size}`, input, want: { leaf } };
}

function refusedProofs(): Vector[] {
  const { input } = proofOf(3, 8);
  const [first = '', ...rest] = input.proof;
  const changes: readonly (readonly [string, object])[] = [
    ['another entry', { entry: ENTRIES[4] }],
    ['another index', { index: 2 }],
    ['an index outside', { index: 8 }],
    ['a negative index', { index: -1 }],
    ['another size', { size: 9 }],
    ['an empty proof', { proof: [] }],
    ['a proof that is too short', { proof: rest }],
    ['a proof that is too long', { proof: [...input.proof, first] }],
    ['a proof in another order', { proof: [...input.proof].reverse() }],
    ['another root', { root: treeHash(ENTRIES).toString('hex') }],
  ];
  return changes.map(([comment, change]) => {
    return { comment: `refused: ${comment}`, input: { ...input, ...change }, error: 'inclusion' };
  });
}

const ORIGIN = 'records.example/log';
const KEY = keyOf('signalpress test key, not secret');
const OTHER = keyOf('signalpress test key, the second');
const TEXT = `${ORIGIN}\n2\n${treeHash(['a', 'b']).toString('base64')}\n`;

/** `input` is a signed note and an issuer, `want` what it states, `error` that it must not be believed. */
export function checkpointVectors(): readonly Vector[] {
  const note = noteOf(TEXT);
  const root = treeHash(['a', 'b']).toString('hex');
  const stated = { origin: ORIGIN, size: 2, root };
  const witness = lineOf(TEXT, OTHER, 'witness.example/w');
  return [
    { comment: 'a note', input: { note, issuer: KEY.did }, want: stated },
    {
      comment: 'a second signature of somebody else',
      input: { note: note + witness, issuer: KEY.did },
      want: stated,
    },
    {
      comment: 'a cosignature of a witness, which is longer, and a name beyond ASCII',
      input: {
        note: note + cosignature('witness.example/w') + cosignature('Zeuge-ä'),
        issuer: KEY.did,
      },
      want: stated,
    },
    ...refusedNotes(note),
  ];
}

function refusedNotes(note: string): Vector[] {
  const notes: readonly (readonly [string, string])[] = [
    ['another size', note.replace('\n2\n', '\n3\n')],
    ['another origin', note.replaceAll(ORIGIN, 'others.example/log')],
    ['a size with a leading zero', note.replace('\n2\n', '\n02\n')],
    ['no empty line', note.replace('\n\n', '\n')],
    ['no line end', note.slice(0, -1)],
    ['no signature', `${TEXT}\n`],
    ['an altered signature', note.replace(/.{6}\n$/, 'AAAAA=\n')],
    ['a line of extension', noteOf(`${TEXT}more\n`)],
    ['the key of another', noteOf(TEXT, OTHER)],
    ['the cosignature of a witness alone', `${TEXT}\n${cosignature('witness.example/w')}`],
    ['a cosignature without a signature', `${note}\u2014 witness.example/w AAAAAA==\n`],
    ['a line that is no signature', `${note}witness.example/w\n`],
    ['one key twice', note + note.slice(note.lastIndexOf('\u2014'))],
  ];
  return notes.map(([comment, text]) => {
    return {
      comment: `refused: ${comment}`,
      input: { note: text, issuer: KEY.did },
      error: 'checkpoint',
    };
  });
}

/** A key of nobody, made of a text of 32 letters. */
export function keyOf(seed: string) {
  const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');
  const der = Buffer.concat([pkcs8, Buffer.from(seed, 'ascii')]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const bytes = new Uint8Array(spki.subarray(-32));
  return { key, bytes, did: didKey(bytes) };
}

function noteOf(text: string, signer = KEY): string {
  return `${text}\n${lineOf(text, signer, ORIGIN)}`;
}

/** A line of C2SP tlog-cosignature: key hash of type 4, eight bytes of time, a signature; nobody here can check it. */
function cosignature(name: string): string {
  return `\u2014 ${name} ${Buffer.alloc(4 + 8 + 64, 9).toString('base64')}\n`;
}

/** A line of C2SP signed-note: em dash, name, four bytes that tell the key, signature. */
function lineOf(text: string, signer: ReturnType<typeof keyOf>, name: string): string {
  const named = createHash('sha256').update(`${name}\n`).update(Buffer.of(1)).update(signer.bytes);
  const signature = sign(null, Buffer.from(text, 'utf8'), signer.key);
  const bytes = Buffer.concat([named.digest().subarray(0, 4), signature]);
  return `\u2014 ${name} ${bytes.toString('base64')}\n`;
}

// What every judge has to say of the bodies of made-bodies.ts. With each case that is accepted stand its rejecting twins.

import type { JsonObject, JsonValue } from '../../compiler/format/strict-json.ts';
import {
  ANSWERED,
  answered,
  asCsv,
  BASE,
  city,
  ENDED,
  echoed,
  FIRST,
  joined,
  listText,
  lookedAt,
  type MadeKey,
  type MadeRelease,
  nothingFiled,
  proofOf,
  proven,
  RECORD_TARGET,
  record,
  revocation,
  roster,
  rotation,
  SECOND,
  STRANGER,
  series,
  settlement,
  THIRD,
  WITNESS,
  witnessText,
} from './made-bodies.ts';

export type MadeVerdict =
  | 'verified'
  | 'partly_verified'
  | 'issuer_unknown'
  | 'undecided'
  | 'unsigned'
  | 'failed';

/** A reader: whom it trusts, its clock, and what it knows and asks for. */
export interface MadeReader {
  readonly issuers?: readonly string[];
  readonly now?: string;
  readonly keys?: string;
  readonly witnesses?: readonly string[];
  readonly expect?: string;
  readonly noProof?: boolean;
}

export interface MadeCase extends MadeReader {
  readonly name: string;
  readonly text: string;
  readonly verdict: MadeVerdict;
}

const NOW = '2026-11-20T12:20:00Z';
const LATER = '2026-12-20T12:00:00Z';

type Path = readonly (string | number)[];

/** A copy of a body with one member set, or without it. */
export function changed(body: JsonObject, path: Path, value?: JsonValue): JsonObject {
  const copy = structuredClone(body) as JsonObject;
  let holder = copy as { [name: string]: JsonValue };
  for (const name of path.slice(0, -1)) holder = holder[name] as { [name: string]: JsonValue };
  const last = path.at(-1) as string;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

function caseOf(name: string, body: JsonValue, verdict: MadeVerdict, by: MadeReader = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { issuers: [FIRST.did], now: NOW, ...by, name, text, verdict };
}

const sold = (stored: JsonObject, release?: MadeRelease, at = ANSWERED): JsonObject =>
  proven(answered(stored, at), release);

/** A body that holds, without each of its words of time in turn, and with another one in their place. */
function wordCases(name: string, body: JsonObject, words: readonly Path[]): MadeCase[] {
  return [
    caseOf(name, body, 'verified'),
    ...words.flatMap((path) => {
      const word = path.join('.');
      return [
        caseOf(`${name}, without ${word}`, changed(body, path), 'failed'),
        caseOf(`${name}, with another ${word}`, changed(body, path, 'another'), 'failed'),
      ];
    }),
  ];
}

const TOP = ['answered_at', 'age_hours_now', 'freshness', 'at_request'].map((name) => {
  return ['provenance', name];
});

function wordsOfTime(): MadeCase[] {
  const whole = sold(record());
  const dead = sold(record(), { as_of: '2026-11-30T12:00:00Z' }, '2026-11-30T12:15:00Z');
  const status = (looked: string, at: string): JsonObject =>
    sold(lookedAt(looked), { as_of: '2026-11-20T12:00:00Z' }, at);
  const later = { now: LATER };
  return [
    ...wordCases('a record', whole, TOP),
    ...wordCases('a joined body', sold(joined()), [
      ...TOP,
      ['provenance', 'freshness_leg'],
      ['legs', 'wind', 'freshness'],
      ['legs', 'rain', 'freshness'],
    ]),
    ...wordCases('a city', sold(city()), [
      ...TOP,
      ['provenance', 'freshness_leg'],
      ['readings', 1, 'provenance', 'freshness'],
      ['readings', 0, 'provenance', 'age_hours_now'],
    ]),
    ...wordCases('a roster', sold(roster()), TOP),
    ...wordCases('a record that was looked at', status('2026-11-20T11:30:00Z', ANSWERED), [
      ...TOP,
      ['update_status'],
    ]),
    caseOf('a source that is dead', dead, 'verified', later),
    caseOf('…without saying so', changed(dead, ['provenance', 'dead_source']), 'failed', later),
    caseOf(
      'a source that is dead only by its word',
      changed(
        whole,
        ['provenance', 'dead_source'],
        'no official reading since 2026-11-20T10:45:00Z',
      ),
      'failed',
    ),
    caseOf('a word of time that is not owed', changed(whole, ['update_status'], 'x'), 'failed'),
    caseOf(
      'a status that is not owed',
      changed(sold(roster()), ['servers', 0, 'last_looked_at'], NOW),
      'failed',
    ),
    caseOf(
      'an instant shifted by an hour',
      changed(whole, ['provenance', 'answered_at'], '2026-11-20T13:15:00Z'),
      'failed',
      later,
    ),
    caseOf(
      'an instant with a fraction',
      changed(whole, ['provenance', 'answered_at'], '2026-11-20T12:15:00.000Z'),
      'failed',
    ),
    caseOf('an answer of a month ago', whole, 'verified', later),
    caseOf(
      'an answer of before its release',
      sold(record(), { as_of: '2026-11-20T12:20:01Z' }),
      'failed',
    ),
    caseOf(
      'an answer of five minutes before it',
      sold(record(), { as_of: '2026-11-20T12:20:00Z' }),
      'verified',
    ),
    caseOf('an answer still to come', whole, 'failed', { now: '2026-11-20T12:09:59Z' }),
    caseOf('an answer of a clock ahead', whole, 'verified', { now: '2026-11-20T12:10:00Z' }),
    caseOf('a release of before the look', status('2026-11-20T12:05:01Z', ANSWERED), 'failed'),
    caseOf('a look within the grace', status('2026-11-20T12:05:00Z', ANSWERED), 'verified'),
    ...(['2026-11-22T12:00:00Z', '2026-11-23T12:00:00Z', '2027-01-30T12:00:00Z'] as const).map(
      (at) =>
        caseOf(`a status at ${at}`, status('2026-11-20T11:30:00Z', at), 'verified', {
          now: '2027-02-01T00:00:00Z',
        }),
    ),
  ];
}

function signedCases(): MadeCase[] {
  const whole = sold(record());
  const reader = (issuers: readonly string[]) => ({ issuers });
  const { _citation, ...bare } = whole;
  const citation = _citation as { [name: string]: JsonValue };
  return [
    caseOf('trusted by nobody', whole, 'issuer_unknown', reader([])),
    caseOf('of a stranger', whole, 'failed', reader([STRANGER.did])),
    caseOf('a changed figure', changed(whole, ['current', 'stage_ft'], 13.7), 'failed'),
    caseOf(
      'another record hash',
      changed(whole, ['record_hash'], `sha256:${'0'.repeat(64)}`),
      'failed',
    ),
    caseOf('a member more', { ...whole, extra: 1 }, 'failed'),
    caseOf('another fact', changed(whole, ['_citation', 'fact'], 'x'), 'failed'),
    caseOf('a citation with a member more', changed(whole, ['_citation', 'x'], 1), 'failed'),
    caseOf('a citation of null', changed(whole, ['_citation'], null), 'failed'),
    caseOf(
      'another verify_url',
      changed(whole, ['_citation', 'verify_url'], 'https://x.example/v/x'),
      'failed',
    ),
    caseOf(
      'another key_id',
      changed(whole, ['_citation', 'key_id'], `${STRANGER.did}#x`),
      'failed',
    ),
    caseOf('a label as key_id', changed(whole, ['_citation', 'key_id'], 'label-1'), 'failed'),
    caseOf('without its citation', bare, 'failed'),
    caseOf('without citation and proof', changed(bare as JsonObject, ['_proof']), 'unsigned'),
    caseOf('a list', [1], 'unsigned'),
    caseOf('no JSON', '{"a":1,"a":2}', 'undecided'),
    caseOf('a number that a double does not keep', '{"a":0.10000000000000001}', 'undecided'),
    caseOf('64 open containers', `${'['.repeat(64)}${']'.repeat(64)}`, 'unsigned'),
    caseOf('65 open containers', `${'['.repeat(65)}${']'.repeat(65)}`, 'undecided'),
    caseOf(
      'a number in another spelling',
      JSON.stringify(whole).replaceAll('13.6', '1.360e1'),
      'failed',
    ),
    caseOf(
      'a figure in another spelling',
      JSON.stringify(whole).replace('{"stage_ft":13.6}', '{"stage_ft":1.360e1}'),
      'verified',
    ),
    caseOf('a sample', { sample: whole }, 'verified'),
    caseOf('a sample with a member more', { sample: changed(whole, ['_proof']), x: 1 }, 'unsigned'),
    caseOf(
      'a signature in another spelling',
      changed(whole, ['_citation', 'signature'], `${citation.signature}=`),
      'failed',
    ),
    caseOf('a roster with cores', sold(roster()), 'verified'),
    caseOf('a row with members of its core', sold(roster(undefined, CORE_MEMBERS)), 'verified'),
    ...[{ source_ref: [] }, { source_ref: {} }, { source_tier: ['T2'] }, { source_tier: null }].map(
      (other) =>
        caseOf(
          `a row with ${JSON.stringify(other)} beside its core`,
          sold(roster(undefined, { ...CORE_MEMBERS, ...other })),
          'failed',
        ),
    ),
    caseOf('a row with the core of another subject', sold(roster(['alpha', 'gamma'])), 'failed'),
    caseOf(
      'a row of a roster with another core',
      changed(sold(roster()), ['servers', 0, '_hash_core', 'status'], 'absent'),
      'failed',
    ),
  ];
}

/** Members that the core of a row has too, alike. */
const CORE_MEMBERS: JsonObject = { source_ref: null, source_tier: 'T2' };

function proofCases(): MadeCase[] {
  const stored = answered(record(), ANSWERED);
  const whole = proven(stored);
  const other = 'sha256:0000000000000000000000000000000000000000000000000000000000000000';
  const { proof } = proofOf(stored, { size: 3 });
  const put = (text: string): JsonObject => ({ ...whole, _proof: text });
  const [head = '', note = ''] = [
    proof.slice(0, proof.indexOf('\n\n')),
    proof.slice(proof.indexOf('\n\n')),
  ];
  const lines = head.split('\n');
  const extra = Buffer.from((lines[1] ?? '').slice('extra '.length), 'base64');
  const withExtra = (bytes: Uint8Array): string =>
    [lines[0], `extra ${Buffer.from(bytes).toString('base64')}`, ...lines.slice(2)].join('\n') +
    note;
  const forged = Buffer.from(extra);
  forged[extra.length - 1] = (forged[extra.length - 1] ?? 0) ^ 1;
  const text = extra.toString('latin1');
  const moved = Buffer.from(text.replace('Z"}\n0\n', 'Z"}\n1\n'), 'latin1');
  const renewed = Buffer.from(text.replace('2026-11-21', '2036-11-21'), 'latin1');
  const witnesses = [witnessText(WITNESS)];
  const cosigned = (key: MadeKey, time: string) => sold(record(), { witnesses: [[key, time]] });
  return [
    caseOf('in a log of three entries', put(proof), 'verified'),
    caseOf('without its proof', changed(whole, ['_proof']), 'undecided'),
    caseOf('without its proof, as asked', changed(whole, ['_proof']), 'verified', {
      noProof: true,
    }),
    caseOf('a proof that is no text', changed(whole, ['_proof'], null), 'failed'),
    caseOf('the proof of another position', put(proof.replace('index 2', 'index 1')), 'failed'),
    caseOf('a path with a forged hash', put(withExtra(forged)), 'failed'),
    caseOf('a path to another place', put(withExtra(moved)), 'failed'),
    caseOf('an entry that is valid for longer', put(withExtra(renewed)), 'failed'),
    caseOf(
      'an extra with a hash more',
      put(withExtra(Buffer.concat([extra, Buffer.alloc(32)]))),
      'failed',
    ),
    caseOf(
      'an extra with a byte more',
      put(withExtra(Buffer.concat([extra, Buffer.alloc(1)]))),
      'failed',
    ),
    caseOf('without its extra', put([lines[0], ...lines.slice(2)].join('\n') + note), 'failed'),
    caseOf('the answer to another target', proven(stored, { target: '/gauge?entity=x' }), 'failed'),
    caseOf('a checkpoint of a stranger', proven(stored, { signers: [STRANGER] }), 'failed'),
    caseOf(
      'a checkpoint of a stranger beside ours',
      proven(stored, { signers: [STRANGER, FIRST] }),
      'verified',
    ),
    caseOf(
      'the proof of another statement',
      { ...whole, _proof: proven(answered(record(FIRST, '/x'), ANSWERED))._proof ?? other },
      'failed',
    ),
    caseOf('cosigned in time', cosigned(WITNESS, '2026-11-20T12:01:00Z'), 'verified', {
      witnesses,
    }),
    caseOf('cosigned within the grace', cosigned(WITNESS, '2026-11-20T11:55:00Z'), 'verified', {
      witnesses,
    }),
    caseOf('cosigned before the release', cosigned(WITNESS, '2026-11-20T11:54:59Z'), 'failed', {
      witnesses,
    }),
    caseOf(
      'cosigned before the release, which nobody demands',
      cosigned(WITNESS, '1970-01-02T00:00:00Z'),
      'verified',
    ),
    caseOf('cosigned in the future', cosigned(WITNESS, '2026-11-20T12:25:01Z'), 'failed', {
      witnesses,
    }),
    caseOf('cosigned by nobody', whole, 'failed', { witnesses }),
    caseOf('cosigned by the log itself', sold(record(), { witnesses: [[FIRST, NOW]] }), 'failed', {
      witnesses: [witnessText(FIRST)],
    }),
    caseOf('cosigned by another', cosigned(STRANGER, NOW), 'failed', { witnesses }),
  ];
}

function keyCases(): MadeCase[] {
  const keys = listText();
  const later = { keys, now: LATER };
  const by = (key: MadeKey, ...signers: readonly MadeKey[]) => sold(record(key), { signers });
  const cosigned = (time: string) => sold(record(), { witnesses: [[WITNESS, time]] });
  const witnesses = [witnessText(WITNESS)];
  const revoked = listText(
    [rotation(FIRST, SECOND)],
    [revocation(FIRST, SECOND, '2026-11-21T00:00:00Z')],
  );
  const earlier = listText(
    [rotation(FIRST, SECOND)],
    [revocation(FIRST, SECOND, '2026-11-20T11:00:00Z')],
  );
  const late = listText([rotation(FIRST, SECOND, { valid_from: '2026-11-28T00:00:00Z' })]);
  const taken = listText(
    [rotation(FIRST, SECOND, { valid_from: '2026-11-28T00:00:00Z' })],
    [revocation(FIRST, FIRST, '2026-11-20T11:00:00Z')],
  );
  const afterEnd = { as_of: '2026-12-01T00:00:01Z', signers: [FIRST, SECOND] };
  return [
    caseOf('a key in its time', by(FIRST, FIRST), 'verified', { keys }),
    caseOf('its successor', by(SECOND, FIRST, SECOND), 'verified', { keys }),
    caseOf('its successor, which no list names', by(SECOND, SECOND), 'failed'),
    caseOf('the key before the one that is trusted', by(FIRST, FIRST), 'failed', {
      keys,
      issuers: [SECOND.did],
    }),
    caseOf('a successor of nobody', by(THIRD, FIRST), 'failed', { keys }),
    caseOf('a successor before its time', by(SECOND, FIRST, SECOND), 'failed', { keys: late }),
    caseOf('a successor that takes over from a revoked key', by(SECOND, SECOND), 'verified', {
      keys: taken,
    }),
    caseOf('an ended key under a checkpoint of both', by(FIRST, FIRST, SECOND), 'verified', later),
    caseOf('an ended key under a checkpoint of its own', by(FIRST, FIRST), 'undecided', later),
    caseOf('an ended key without its proof', changed(by(FIRST, FIRST), ['_proof']), 'undecided', {
      ...later,
      noProof: true,
    }),
    caseOf(
      'an ended key that a witness saw in its time',
      cosigned('2026-11-20T12:01:00Z'),
      'verified',
      { ...later, witnesses },
    ),
    caseOf(
      'an ended key that a witness saw after it',
      cosigned('2026-12-02T00:00:00Z'),
      'undecided',
      { ...later, witnesses },
    ),
    caseOf(
      'an ended key in a release after its end',
      sold(record(), afterEnd, '2026-12-01T00:15:00Z'),
      'failed',
      later,
    ),
    caseOf(
      'an ended key in a release of its last instant',
      sold(record(), { ...afterEnd, as_of: ENDED }, ENDED),
      'verified',
      later,
    ),
    caseOf(
      'a forged line of a known key',
      { ...by(FIRST, FIRST, SECOND), _proof: twisted(by(FIRST, FIRST, SECOND)) },
      'failed',
      { keys },
    ),
    caseOf(
      'a forged line of a key that is not known',
      { ...by(FIRST, FIRST, SECOND), _proof: twisted(by(FIRST, FIRST, SECOND)) },
      'verified',
    ),
    caseOf('a key revoked later', by(FIRST, FIRST, SECOND), 'verified', {
      keys: revoked,
      now: LATER,
    }),
    caseOf('a key revoked later, under its own checkpoint', by(FIRST, FIRST), 'undecided', {
      keys: revoked,
      now: LATER,
    }),
    caseOf('a key revoked by then', by(FIRST, FIRST, SECOND), 'failed', {
      keys: earlier,
      now: LATER,
    }),
  ];
}

/** The proof of a body with a changed byte in its second signature line. */
function twisted({ _proof }: JsonObject): string {
  const text = String(_proof);
  const at = text.length - 6;
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}

function seriesCases(): MadeCase[] {
  const whole = sold(series(400));
  const cut = sold(series(2));
  const cores = sold(series(2, true));
  const rows = cut.rows as JsonValue[];
  const csv = asCsv(cut);
  return [
    caseOf('a series', whole, 'verified'),
    caseOf('the last two days of it', cut, 'verified'),
    caseOf('the same with its cores', cores, 'verified'),
    caseOf('the same as CSV', csv, 'verified'),
    caseOf('the same with cores as CSV', asCsv(cores), 'verified'),
    caseOf('a CSV with a figure of another', csv.replace('13.6}', '13.7}'), 'failed'),
    caseOf(
      'a CSV that quotes what needs none',
      csv.replace('\r\n2026', '\r\n"2026').replace('T00:00:00Z,', 'T00:00:00Z",'),
      'undecided',
    ),
    caseOf('a CSV without its last line end', csv.slice(0, -2), 'undecided'),
    caseOf('a bare table', csv.slice(csv.indexOf('snapshot_date,')), 'unsigned'),
    caseOf('a row less', { ...cut, rows: rows.slice(1), count: 1 }, 'failed'),
    caseOf('the newest row less', { ...cut, rows: rows.slice(0, -1), count: 1 }, 'failed'),
    caseOf('another count', changed(cut, ['count'], 3), 'failed'),
    caseOf('more days than are there', changed(cut, ['days'], 3), 'failed'),
    caseOf('fewer days than are there', changed(cut, ['days'], 1), 'failed'),
    caseOf('a changed row', changed(cut, ['rows', 0, 'band'], 'x'), 'failed'),
    caseOf(
      'a changed core',
      changed(cores, ['rows', 0, '_hash_core', 'source_tier'], 'T9'),
      'failed',
    ),
    caseOf(
      'a core of another reading',
      changed(
        cores,
        ['rows', 0, '_hash_core'],
        (cores.rows as JsonObject[])[1]?._hash_core ?? null,
      ),
      'failed',
    ),
    caseOf('another state before', changed(cut, ['before', 'rows'], 1), 'failed'),
  ];
}

function requestCases(): MadeCase[] {
  const whole = sold(record());
  const cut = sold(series(2));
  const answer = proven(echoed(settlement()));
  const asks = (name: string, body: JsonObject, expect: string, verdict: MadeVerdict) =>
    caseOf(`${name}: ${expect}`, body, verdict, { expect });
  const noMarket = 'cutoff=2026-11-11&entity=0000320193&form=10-K';
  const ask = 'cutoff=2026-11-11&entity=0000320193&form=10-k&market_or_event=a%20market';
  return [
    asks('a record', whole, RECORD_TARGET, 'verified'),
    asks('a record', whole, `GET ${BASE}${RECORD_TARGET}&proof=1`, 'verified'),
    asks(
      'a record',
      whole,
      '/gauge?signal_id=hydrology.river-level&issuer=07010000&dim=gauge&format=json',
      'verified',
    ),
    asks('a record', whole, `${RECORD_TARGET}&format=fact`, 'verified'),
    asks('a record in a sample', { sample: whole }, RECORD_TARGET, 'failed'),
    asks('a record', whole, `${RECORD_TARGET}&dim=ruler`, 'failed'),
    asks('a record', whole, `${RECORD_TARGET}&format=thin`, 'failed'),
    asks('a record', whole, `https://other.example${RECORD_TARGET}`, 'failed'),
    asks('a record', whole, `${BASE}.other.example${RECORD_TARGET}`, 'failed'),
    asks('a record', whole, '/gauge?entity=07010001&signal_id=hydrology.river-level', 'failed'),
    asks(
      'a series',
      cut,
      '/gauge/history-series?entity=07010000&signal_id=hydrology.river-level&days=2',
      'verified',
    ),
    asks(
      'a series',
      cut,
      '/gauge/history-series?entity=07010000&signal_id=hydrology.river-level',
      'failed',
    ),
    asks('an answer', answer, `/resolve?${ask}`, 'verified'),
    asks('an answer', answer, `/resolve?${ask.replace('11-11', '11-20')}`, 'failed'),
    asks('an answer', answer, `/resolve?${ask.replace('11-11', '10-31')}`, 'failed'),
    asks('an answer', answer, `/resolve?${ask.replace('a%20market', 'another')}`, 'failed'),
    asks('an answer', answer, `/resolve?${ask.replace('10-k', '8-K')}`, 'failed'),
    ...[
      { form: null, holds: ['form=8-K', 'form=10-K&event_class=2.02'], fails: [] },
      {
        form: '8-K',
        holds: ['form=FORM%208-k', 'form=8-K&event_class=2.02'],
        fails: ['form=10-K'],
      },
      {
        form: '8-K',
        other_than: ['2.02'],
        holds: ['form=8-K&event_class=4.02'],
        fails: ['form=8-K', 'form=8-K&event_class=2.02', 'form=10-K&event_class=4.02'],
      },
    ].flatMap(({ holds, fails, ...scope }) => {
      const body = proven(echoed(nothingFiled(scope)));
      const about = `cutoff=2026-11-11&market_or_event=a%20market&entity=EXMP`;
      return [
        ...holds.map((more) => [more, 'verified'] as const),
        ...fails.map((more) => [more, 'failed'] as const),
      ].map(([more, verdict]) =>
        asks(`nothing but ${JSON.stringify(scope)}`, body, `/resolve?${about}&${more}`, verdict),
      );
    }),
    asks(
      'an answer with another cutoff_time',
      changed(answer, ['cutoff_time'], '2026-11-11T05:00:00Z'),
      `/resolve?${ask}`,
      'failed',
    ),
    asks(
      'no market',
      changed(answer, ['market_or_event'], null),
      `/resolve?${noMarket}`,
      'verified',
    ),
    asks(
      'an echo that is gone',
      changed(answer, ['market_or_event']),
      `/resolve?${noMarket}`,
      'failed',
    ),
    caseOf('an answer for a longer time', changed(answer, ['valid_until'], '2026-12-01'), 'failed'),
    caseOf('an answer with another echo', changed(answer, ['market_or_event'], 'x'), 'verified'),
    caseOf('a record with an echo', { ...whole, market_or_event: 'x' }, 'failed'),
  ];
}

/** Bodies and readers, and what a judge says of each. */
export function madeCases(): MadeCase[] {
  const made = [wordsOfTime, signedCases, proofCases, keyCases, seriesCases, requestCases];
  return made.flatMap((cases) => cases());
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { isObject, type JsonObject, type JsonValue } from '../../compiler/format/strict-json.ts';
import { answerFault, knownQuestion } from '../../compiler/verify/answer-fault.ts';
import { withDemands } from '../../compiler/verify/demand-checks.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import type { Service } from '../../gatekeeper/heart/answers/service.ts';
import { resolve } from '../../gatekeeper/rooms/resolve.ts';
import { FILINGS } from '../filing-rows.ts';
import { filingService, jsonOf, question } from '../gatekeeper/tiny-service.ts';
import { removeFolders } from '../snapshot-folder.ts';

let service: Service;
beforeAll(async () => {
  service = await filingService(FILINGS);
});
afterAll(removeFolders);

async function sold(target: string): Promise<JsonObject> {
  const body = jsonOf(await resolve(question(target), service)) as JsonValue;
  if (!isObject(body)) throw new Error(target);
  return body;
}

const judged = (body: JsonObject) => verifyBody(body, { trust: [service.release.head.issuer_did] });
const failures = (body: JsonObject): string[] =>
  judged(body)
    .checks.filter(({ status }) => status === 'fail')
    .map(({ where, detail }) => `${where}: ${detail}`);

/** Why a body is no answer to a request; null for one that is. */
const faultOf = (target: string, body: JsonObject): string | null =>
  answerFault(knownQuestion(target, BUILTIN), body, BUILTIN);

const ask = (more: string, path = '/resolve'): string => `${path}?entity=EXMP&${more}`;

/** A request, others that its signed answer holds for, and others that it does not. */
const CASES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'form=10-K&cutoff=2026-03-31',
    ['form=10-K&cutoff=2026-02-01', 'form=10-K&cutoff=2026-11-19'],
    [
      'form=10-K&cutoff=2026-01-31',
      'form=10-K&cutoff=2026-11-20',
      'form=10-K&cutoff=2026-02-02T00:00:00Z',
      'form=10-Q&cutoff=2026-03-31',
      'form=10-K/A&cutoff=2026-03-31',
    ],
  ],
  [
    'form=10-K&cutoff=2026-03-31T12:00:00Z',
    ['form=10-K&cutoff=2026-02-01T15:00:00Z', 'form=10-K&cutoff=2026-11-20T10:59:59Z'],
    ['form=10-K&cutoff=2026-02-01T14:59:59Z', 'form=10-K&cutoff=2026-11-20T11:00:00Z'],
  ],
  // An amendment ends what was resolved, and begins what is ambiguous.
  [
    'form=10-Q&cutoff=2026-05-10',
    ['form=10-Q&cutoff=2026-05-19'],
    ['form=10-Q&cutoff=2026-05-20', 'form=10-Q&cutoff=2026-04-30'],
  ],
  // Two filings of one day.
  ['form=4&cutoff=2026-08-04', ['form=4&cutoff=2026-08-03'], ['form=4&cutoff=2026-08-02']],
  // Two sources that disagree.
  ['form=20-F&cutoff=2026-05-01', ['form=20-F&cutoff=2026-11-01'], ['form=6-K&cutoff=2026-05-01']],
  // A form without filings, and a class without filings.
  [
    'form=S-1&cutoff=2026-05-01',
    ['form=S-1&cutoff=2001-01-01', 'form=S-1&cutoff=2026-11-20T10:59:59Z'],
    ['form=S-1&cutoff=2026-11-20', 'form=S-3&cutoff=2026-05-01'],
  ],
  [
    'form=8-K&event_class=1.03&cutoff=2026-05-01',
    ['form=8-K&event_class=4.02&cutoff=2026-05-02', 'form=8-K&event_class=1.03&cutoff=2026-11-19'],
    [
      'form=8-K&cutoff=2026-05-01',
      'form=8-K&event_class=2.02&cutoff=2026-05-01',
      'form=8-K/A&event_class=1.03&cutoff=2026-05-01',
      'form=8-K&event_class=1.03&cutoff=2026-11-20',
    ],
  ],
  // After the last look nothing is known of any form.
  [
    'form=10-K&cutoff=2026-11-20',
    ['form=8-K&event_class=2.02&cutoff=2027-01-01', 'form=S-1&cutoff=2026-11-20T11:00:00Z'],
    ['form=10-K&cutoff=2026-11-19', 'form=10-K&cutoff=2026-11-20T10:59:59Z'],
  ],
];

describe.each(['/resolve', '/resolve/proposer'])('an answer of %s', (path) => {
  it.each(CASES)(
    'I53: to "%s" holds for its interval and for nothing else',
    async (own, yes, no) => {
      const body = await sold(ask(own, path));
      expect(judged(body).verdict).toBe('verified');
      expect(faultOf(ask(own, path), body)).toBeNull();
      for (const other of yes) {
        const same = await sold(ask(other, path));
        expect(same._citation).toEqual(body._citation);
        // Only what repeats the request tells the two deliveries apart.
        expect(faultOf(ask(other, path), body)).toMatch(/cutoff_time/);
        expect(faultOf(ask(other, path), same)).toBeNull();
      }
      for (const other of no) {
        const target = ask(other, path);
        const answer = await sold(target);
        expect((answer._citation as JsonObject).record_hash).not.toBe(
          (body._citation as JsonObject).record_hash,
        );
        const { cutoff_time = null, market_or_event = null } = answer;
        for (const moved of [body, { ...body, cutoff_time, market_or_event }]) {
          expect([other, faultOf(target, moved)]).toEqual([other, expect.any(String)]);
        }
      }
    },
  );

  it('I53: fails with any signed bound moved, and with what repeats the request outside of them', async () => {
    const body = await sold(ask('form=10-K&cutoff=2026-03-31', path));
    for (const edit of [
      { valid_from: '2025-01-01' },
      { valid_until: '2027-01-01' },
      { valid_until: null },
      { basis: 'acceptance_time' },
      { basis: null },
      { form: '10-Q' },
      { event_class: '2.02' },
      { other_than: ['2.02'] },
      { tickers: ['OTHR'] },
      { entity: '0000999999' },
    ]) {
      expect([edit, judged({ ...body, ...edit } as JsonObject).verdict]).toEqual([edit, 'failed']);
    }
    for (const cutoff_time of ['2026-02-01T04:59:59Z', '2026-11-21T04:59:59Z', 'soon', null]) {
      expect(failures({ ...body, cutoff_time })).toEqual([
        'cutoff_time: not a cutoff that the answer holds for',
      ]);
    }
    for (const cutoff_time of ['2026-02-02T04:59:59Z', '2026-11-20T04:59:59Z']) {
      expect(failures({ ...body, cutoff_time })).toEqual([]);
    }
  });

  it('says in one line that nobody signed what repeats the request, and none of another body', async () => {
    const body = await sold(ask('form=10-K&cutoff=2026-03-31&market_or_event=x', path));
    const words = judged(body).checks.filter(({ detail }) => detail.startsWith('nobody signed'));
    expect(words.map(({ where, detail }) => [where, detail])).toEqual([
      [
        'cutoff_time, market_or_event',
        'nobody signed what repeats the request; signed are cutoffs from 2026-02-01, before 2026-11-20',
      ],
    ]);
    const { cutoff_time: _, market_or_event: __, ...signed } = body;
    expect(
      judged(signed as JsonObject)
        .checks.map(({ detail }) => detail)
        .join(),
    ).not.toContain('nobody signed');
    const target = ask('form=10-K&cutoff=2026-03-31&market_or_event=x', path);
    expect(faultOf(target, body)).toBeNull();
    expect(faultOf(target, { ...body, market_or_event: 'y' })).toMatch(/market_or_event "y"/);
    expect(faultOf(target, signed as JsonObject)).toMatch(/is not an answer/);
  });

  it('I53: is of one filer, by its names', async () => {
    const body = await sold(ask('form=10-K&cutoff=2026-03-31', path));
    const by = (entity: string) =>
      faultOf(`${path}?entity=${entity}&form=10-K&cutoff=2026-03-31`, body);
    for (const entity of ['EXMP', 'exmp', '123456', 'CIK0000123456']) expect(by(entity)).toBeNull();
    for (const entity of ['OTHR', '123457']) expect(by(entity)).toMatch(/answers entity/);
  });

  it('is told as about its form, its item and its cutoffs', async () => {
    const target = ask('form=8-K&event_class=2.02&cutoff=2026-07-02', path);
    const body = await sold(target);
    const report = withDemands(judged(body), body, { expect: target, catalog: BUILTIN });
    expect(report.verdict).toBe('verified');
    expect(report.about).toMatchObject({
      subject:
        'filing record of form 8-K with item 2.02 by Example Corp, cutoffs from 2026-06-01 on, before 2026-11-20',
      fact: expect.stringContaining('form 8-K with item 2.02'),
      time_of: 'coverage',
    });
    const later = ask('form=8-K&event_class=2.02&cutoff=2026-11-20', path);
    expect(withDemands(judged(body), body, { expect: later, catalog: BUILTIN }).verdict).toBe(
      'failed',
    );
  });
});

describe('an answer of the other operation', () => {
  it('I53: is none of this one', async () => {
    const about = 'form=10-K&cutoff=2026-03-31';
    const proposed = await sold(ask(about, '/resolve/proposer'));
    expect(faultOf(ask(about), proposed)).toMatch(/is not an answer of "\/resolve"/);
    expect(faultOf(ask(about, '/resolve/proposer'), proposed)).toBeNull();
  });
});

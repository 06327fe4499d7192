import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { verify } from '../../../../compiler/client/verify.ts';
import { type JsonValue, parseJson } from '../../../../compiler/format/strict-json.ts';
import { knownQuestion } from '../../../../compiler/verify/answer-fault.ts';
import type { BodyVerdict } from '../../../../compiler/verify/body-check.ts';
import { type Demands, withDemands } from '../../../../compiler/verify/demand-checks.ts';
import { bodyText } from '../../../../compiler/verify/report-text.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { SOLD_TARGETS, type SoldShop, soldShop, VARIANT_TARGETS } from '../../../gate.ts';
import { removeFolders } from '../../../snapshot-folder.ts';
import { hasPython, pythonVerdicts } from '../../../verify/python-judge.ts';

const PAIR = 'signal_id=airquality.aqi&entity=us-denver';
const RECORD = `/gauge?${PAIR}`;
const FILED = '/resolve?entity=AAPL&form=10-K&cutoff=2026-11-18';
const HOUR = 3_600_000;

let shop: SoldShop;
let now: number;
beforeAll(async () => {
  shop = await soldShop();
  now = Date.parse(shop.now);
});
afterAll(removeFolders);

const sold = async (target: string): Promise<JsonValue> =>
  parseJson((await shop.ask(target)).toString('utf8'));
const judge = (body: JsonValue, demands: Partial<Demands> = {}) =>
  withDemands(verifyBody(body, { trust: [shop.did], now }), body, {
    now,
    catalog: BUILTIN,
    ...demands,
  });
const demand = ({ checks }: ReturnType<typeof judge>, name: 'expect' | 'max_age') =>
  checks.find(({ check }) => check === name);
const isTable = (target: string): boolean => target.includes('format=csv');
const isToken = (target: string): boolean => target.startsWith('/gauge/subscribe');
const JSON_TARGETS = [...SOLD_TARGETS, ...VARIANT_TARGETS].filter(
  (target) => !isTable(target) && !isToken(target),
);

describe('withDemands() of --expect', () => {
  it('takes each signed body for its own request, and names that request in its canonical form', async () => {
    expect(JSON_TARGETS.length).toBeGreaterThan(90);
    for (const target of JSON_TARGETS) {
      const report = judge(await sold(target), { expect: `GET ${target}` });
      expect([target, report.verdict]).toEqual([target, 'verified']);
      // A settlement answer is signed as that to the first cutoff of its interval.
      if (target.startsWith('/resolve')) continue;
      // Nobody signs how many days of a series were asked for.
      const signed = knownQuestion(target, BUILTIN).target.replace(/(?<=[?&])days=\d+&/, '');
      expect(report.about?.answers).toBe(signed);
    }
  });

  it.skipIf(!hasPython)(
    'says of each what signalpress_verify.py does (skipped without python3)',
    async () => {
      const texts = await Promise.all(
        JSON_TARGETS.map(async (target) => JSON.stringify(await sold(target))),
      );
      const second = pythonVerdicts(texts, [shop.did], now);
      expect(second.map(({ about }) => about)).toEqual(
        texts.map((text) => {
          const body = parseJson(text) as { provenance?: { answered_at?: string } };
          const { subject, fact, observed_at, retrieved_at } = { ...judge(body).about };
          const answered_at = body.provenance?.answered_at ?? null;
          return { subject, fact, observed_at, retrieved_at, answered_at };
        }),
      );
      const altered = texts.map((text) => text.replace('"fact":"', '"fact":"x'));
      const refused = pythonVerdicts(altered, [shop.did], now);
      expect(refused.filter(({ about }) => about !== null)).toEqual([]);
    },
  );

  it('takes no body for the request of any other', async () => {
    const bodies = await Promise.all(JSON_TARGETS.map(sold));
    const reports = bodies.map((body) => verifyBody(body, { trust: [shop.did], now }));
    const taken = JSON_TARGETS.flatMap((want) =>
      JSON_TARGETS.filter((got, at) => got !== want && isTaken(want, at)).map(
        (got) => `${got} for ${want}`,
      ),
    );
    expect(taken).toEqual([]);

    function isTaken(expected: string, at: number): boolean {
      const [report, body] = [reports[at], bodies[at]];
      if (report === undefined || body === undefined) throw new Error(`no body ${at}`);
      const { verdict } = withDemands(report, body, { catalog: BUILTIN, expect: expected });
      return verdict !== 'failed';
    }
  });

  it.each([
    [RECORD, '/gauge?signal_id=airquality.aqi&entity=us-chicago'],
    [RECORD, '/gauge?signal_id=airquality.pm25&entity=us-denver'],
    [RECORD, `${RECORD}&format=thin`],
    [RECORD, `/gauge/ruler?${PAIR}`],
    [`/gauge/history-series?${PAIR}&days=5`, `/gauge/history-series?${PAIR}&days=6`],
    [FILED, '/resolve?entity=AAPL&form=10-K&cutoff=2026-11-17'],
    [FILED, '/resolve?entity=AAPL&form=10-Q&cutoff=2026-11-18'],
    [FILED, '/resolve/proposer?entity=AAPL&form=10-K&cutoff=2026-11-18'],
  ])('for %s refuses the true answer of %s', async (want, got) => {
    const report = judge(await sold(got), { expect: want });
    expect(report.verdict).toBe('failed');
    expect(demand(report, 'expect')).toMatchObject({ status: 'fail' });
    expect(judge(await sold(got), { expect: got }).verdict).toBe('verified');
  });

  it('compares the address of the service where one is given', async () => {
    const body = await sold(RECORD);
    const base = String((body as { _citation: { verify_url: string } })._citation.verify_url);
    const own = base.slice(0, base.indexOf('/v/'));
    expect(judge(body, { expect: `GET ${own}${RECORD}` }).verdict).toBe('verified');
    for (const other of [`https://other.example${RECORD}`, `${own}0${RECORD}`]) {
      const report = judge(body, { expect: other });
      expect(report.verdict).toBe('failed');
      expect(demand(report, 'expect')?.detail).toContain('not the one expected');
    }
    expect(() => judge(body, { expect: `${own}/shop${RECORD}` })).toThrow('no such operation');
  });

  it.each([
    ['POST /gauge?x=1', 'not a request such as'],
    ['', 'not a request such as'],
    ['/nowhere', 'no such operation'],
    ['/gauge?signal_id=airquality.aqi', '"entity" is missing'],
    ['/gauge?signal_id=harbour.level&entity=a', 'has no legal value by this catalogue'],
    [`${RECORD}&date=2026-11-01`, '"date" is no parameter of it'],
    [`${RECORD}&entity=us-denver`, 'is repeated'],
  ])('refuses %j, which no body could answer', async (expectation, why) => {
    const body = await sold(RECORD);
    expect(() => judge(body, { expect: expectation })).toThrow(why);
  });

  it('I53: names the words of a request that nobody signed apart from what an answer is signed to be', async () => {
    const body = (await sold(FILED)) as Record<string, JsonValue>;
    const marked = { ...body, market_or_event: 'Will it be bought?' };
    const said = [body, marked].map((each) => {
      const { verdict, about, checks } = judge(each);
      const echo = checks.find(({ check }) => check === 'echo')?.detail;
      return { verdict, answers: about?.answers, echo };
    });
    const answers = expect.stringMatching(/^\/resolve\?cutoff=[\d-]{10}&entity=\d{10}&form=10-K$/);
    expect(said).toEqual([
      { verdict: 'verified', answers, echo: expect.stringMatching(/signed: cutoff_time "[^"]+"$/) },
      {
        verdict: 'verified',
        answers,
        echo: expect.stringMatching(/signed: cutoff_time "[^"]+", market_or_event "Will it be/),
      },
    ]);
    expect(bodyText('-', judge(marked), { pinned: true, issuers: [] })).toContain(
      'market_or_event "Will it be bought?"',
    );
    expect(bodyText('-', judge(body), { pinned: true, issuers: [] })).not.toContain(
      'market_or_event',
    );
    const signed = judge(await sold(RECORD));
    expect(bodyText('-', signed, { pinned: true, issuers: [] })).not.toContain('nobody signed');
  });

  it('judges no request of an altered body, nor of a record inside a sample', async () => {
    const body = (await sold(RECORD)) as Record<string, JsonValue>;
    const altered = judge({ ...body, entity: 'us-chicago' }, { expect: RECORD });
    expect(demand(altered, 'expect')?.status).toBe('not_applicable');
    expect([altered.verdict, altered.about]).toEqual(['failed', null]);
    const wrapped = judge({ sample: body }, { expect: RECORD });
    expect(demand(wrapped, 'expect')).toMatchObject({
      status: 'fail',
      detail: 'the body does not say what it answers',
    });
    expect(judge({ sample: body }).verdict).toBe('verified');
    expect(judge({ sample: body }).about).toMatchObject({ answers: null });
  });
});

describe('withDemands() of --max-age', () => {
  it.each([
    [RECORD, 'reading'],
    [`/gauge/ruler?${PAIR}`, 'reading'],
    ['/gauge/region?loc=us-denver', 'oldest'],
    ['/gauge/air?loc=us-denver', 'oldest'],
    ['/gauge/census?signal_id=airquality.aqi', 'oldest'],
    [`/gauge/history-series?${PAIR}`, 'newest_row'],
    [FILED, 'coverage'],
    ['/resolve/proposer?entity=AAPL&form=10-K&cutoff=2026-11-18', 'coverage'],
  ])('of %s counts the time of: %s', async (target, kind) => {
    const body = await sold(target);
    const { about } = judge(body);
    expect(about?.time_of).toBe(kind);
    const age = now - Date.parse(about?.observed_at ?? '');
    expect(age).toBeGreaterThan(0);
    expect(judge(body, { maxAgeMs: age }).verdict).toBe('verified');
    const late = judge(body, { maxAgeMs: age - 1 });
    expect(late.verdict).toBe('failed');
    expect(demand(late, 'max_age')?.detail).toContain(`is of ${about?.observed_at}`);
  });

  it('of a bundle counts its oldest leg', async () => {
    const body = (await sold('/gauge/region?loc=us-denver')) as Record<string, JsonValue>;
    const legs = Object.values(body.legs as Record<string, { observed_at: string }>);
    const oldest = legs.map(({ observed_at }) => observed_at).sort()[0];
    expect(judge(body).about?.observed_at).toBe(oldest);
  });

  it('fails an observation that is still to come, and needs a clock', async () => {
    const body = await sold(RECORD);
    const report = verifyBody(body, { trust: [shop.did] });
    const by = { catalog: BUILTIN, maxAgeMs: HOUR };
    const early = withDemands(report, body, { ...by, now: now - 10 * HOUR });
    expect(demand(early, 'max_age')?.detail).toMatch('still to come');
    expect(() => withDemands(report, body, by)).toThrow('a clock');
    expect(() => withDemands(report, body, { ...by, maxAgeMs: -1, now })).toThrow('from 0 on');
  });

  it('does not judge the age of an altered body', async () => {
    const body = (await sold(RECORD)) as Record<string, JsonValue>;
    const altered = judge({ ...body, observed_at: shop.now }, { maxAgeMs: HOUR });
    expect(demand(altered, 'max_age')?.status).toBe('not_applicable');
    expect(altered.verdict).toBe('failed');
  });
});

describe('withDemands() of a body of which not all is signed', () => {
  const by = { expect: RECORD, maxAgeMs: HOUR };
  const statuses = (verdict: BodyVerdict, body: JsonValue) => {
    const report = withDemands({ verdict, issuer: null, checks: [] }, body, {
      ...by,
      now,
      catalog: BUILTIN,
    });
    return [report.verdict, ...report.checks.map(({ status }) => status)];
  };

  it('fails where the verdict would be good: of a proof, a basket, a citation alone', async () => {
    for (const body of [{}, { parts: [] }, await sold(RECORD)]) {
      expect(statuses('verified', body)).toEqual(['failed', 'fail', 'fail']);
      expect(statuses('partly_verified', body)).toEqual(['failed', 'fail', 'fail']);
      expect(statuses('issuer_unknown', body)).toEqual(['failed', 'fail', 'fail']);
    }
  });

  it('leaves them open where nothing is signed, which is not verified anyway', () => {
    expect(statuses('unsigned', {})).toEqual(['unsigned', 'not_applicable', 'not_applicable']);
  });
});

describe('verify() of the client', () => {
  it('takes the same demands, and tells them as steps', async () => {
    const text = (await shop.ask(RECORD)).toString('utf8');
    const by = {
      issuer: shop.did,
      now,
      demandsProof: false,
      expect: `GET ${RECORD}`,
      maxAgeMs: 24 * HOUR,
    };
    const met = verify(text, by);
    expect([met.verdict, met.about?.answers]).toEqual([
      'verified',
      knownQuestion(RECORD, BUILTIN).target,
    ]);
    expect(met.steps.slice(-2).map(({ id, status }) => [id, status])).toEqual([
      ['expect', 'pass'],
      ['max_age', 'pass'],
    ]);
    expect(verify(text, { ...by, maxAgeMs: 60_000 }).verdict).toBe('failed');
    expect(verify(text, { ...by, expect: `/gauge/ruler?${PAIR}` }).verdict).toBe('failed');
    expect(() => verify(text, { ...by, expect: '/nowhere' })).toThrow('no such operation');
  });
});

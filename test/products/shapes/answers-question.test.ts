import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import type { Route } from '../../../compiler/catalog/route.ts';
import { type JsonValue, parseJson } from '../../../compiler/format/strict-json.ts';
import { answerFault, questionOf } from '../../../compiler/verify/answer-fault.ts';
import { SOLD_TARGETS, type SoldShop, soldShop, VARIANT_TARGETS } from '../../gate.ts';
import { removeFolders } from '../../snapshot-folder.ts';

const PAIR = 'signal_id=airquality.aqi&entity=us-denver';
const FILED = 'entity=AAPL&form=10-K&cutoff=2026-11-18';

let shop: SoldShop;
beforeAll(async () => {
  shop = await soldShop();
});
afterAll(removeFolders);

function asked(target: string): Route {
  const found = questionOf(target, BUILTIN);
  if (found === null) throw new Error(`no question: ${target}`);
  return found;
}
const sold = async (target: string): Promise<JsonValue> =>
  parseJson((await shop.ask(target)).toString('utf8'));
const fault = async (want: string, got: string) =>
  answerFault(asked(want), await sold(got), BUILTIN);

describe('answerFault()', () => {
  it('accepts the answer of each of the 64 paid operations, in every form', async () => {
    expect(SOLD_TARGETS).toHaveLength(64);
    expect(VARIANT_TARGETS.length).toBeGreaterThan(35);
    for (const target of [...SOLD_TARGETS, ...VARIANT_TARGETS]) {
      expect([target, await fault(target, target)]).toEqual([target, null]);
    }
  });

  it('I53: refuses the answer of every other paid operation and form', async () => {
    const targets = [...SOLD_TARGETS, ...VARIANT_TARGETS];
    const bodies = await Promise.all(targets.map(sold));
    const taken: string[] = [];
    for (const want of targets) {
      for (const [at, got] of targets.entries()) {
        if (got !== want && answerFault(asked(want), bodies[at] ?? null, BUILTIN) === null) {
          taken.push(`${got} for ${want}`);
        }
      }
    }
    expect(taken).toEqual([]);
    expect(targets.length ** 2).toBeGreaterThan(10_000);
  });

  it.each([
    [`/gauge?${PAIR}`, '/gauge?signal_id=airquality.aqi&entity=us-chicago'],
    [`/gauge?${PAIR}`, '/gauge?signal_id=airquality.pm25&entity=us-denver'],
    [`/gauge?${PAIR}&dim=ruler`, `/gauge?${PAIR}`],
    [`/gauge/history-series?${PAIR}`, `/gauge/history-series?${PAIR}&days=5`],
    [`/gauge/history-series?${PAIR}&days=5`, `/gauge/history-series?${PAIR}&days=6`],
    [`/gauge/history-series?${PAIR}&format=csv`, `/gauge/history-series?${PAIR}`],
    [`/gauge/history-series?${PAIR}&verifiable=1`, `/gauge/history-series?${PAIR}`],
    [`/gauge/history-series?${PAIR}`, `/gauge/history-series?${PAIR}&verifiable=1`],
    ['/gauge/census?signal_id=airquality.aqi', '/gauge/census?signal_id=airquality.pm25'],
    ['/gauge/region?loc=us-chicago', '/gauge/region?loc=us-denver'],
    ['/gauge/air?loc=us-chicago', '/gauge/air?loc=us-denver'],
    ['/shadow/region-plus?loc=us-denver&topic=energy', '/gauge/region?loc=us-denver'],
    [`/resolve?${FILED}`, '/resolve?entity=AAPL&form=10-K&cutoff=2026-11-17'],
    [`/resolve?${FILED}`, '/resolve?entity=AAPL&form=10-Q&cutoff=2026-11-18'],
    [`/resolve?${FILED}`, '/resolve?entity=MSFT&form=10-K&cutoff=2026-11-18'],
    [`/resolve?${FILED}&market_or_event=a`, `/resolve?${FILED}`],
    [`/resolve?${FILED}`, `/resolve?${FILED}&market_or_event=a`],
    [`/resolve/proposer?${FILED}`, '/resolve/proposer?entity=AAPL&form=10-K&cutoff=2026-11-17'],
    [
      '/resolve?entity=AAPL&form=8-K&cutoff=2026-11-18',
      '/resolve?entity=AAPL&form=8-K&cutoff=2026-11-18&event_class=2.02',
    ],
  ])('I53: refuses for %s the answer of %s', async (want, got) => {
    expect(await fault(want, got)).toMatch(/^the body answers /);
    expect(await fault(got, got)).toBeNull();
  });

  it.each([
    [`/gauge?${PAIR}&dim=ruler`, `/gauge/ruler?${PAIR}`],
    ['/gauge?issuer=us-denver&signal_id=airquality.aqi', `/gauge?${PAIR}`],
    [`/gauge/history-series?${PAIR}`, `/gauge/history-series?${PAIR}&days=400`],
    ['/stable/coin?symbol=sampleusd', '/stable/coin?symbol=SAMPLEUSD'],
    [
      '/resolve?issuer=aapl&form=form%2010-k&cutoff=2026-11-18&source_class=sec',
      `/resolve?${FILED}`,
    ],
    ['/resolve/proposer?entity=AAPL&form=10-K&as_of=2026-11-18', `/resolve/proposer?${FILED}`],
  ])('accepts for %s the answer of %s, which is the same question', async (want, got) => {
    expect(await fault(want, got)).toBeNull();
  });

  it.each<[string, (body: Record<string, JsonValue>) => JsonValue]>([
    [`/gauge?${PAIR}`, ({ _citation, ...body }) => body],
    [`/gauge?${PAIR}`, (sample) => ({ sample })],
    [`/gauge?${PAIR}`, () => []],
    [`/gauge?${PAIR}`, () => null],
    [`/resolve?${FILED}`, ({ _citation, ...body }) => body],
    [`/resolve?${FILED}`, ({ candidate_sources }) => (candidate_sources as JsonValue[])[0] ?? null],
    [`/resolve/proposer?${FILED}`, ({ evidence }) => evidence ?? null],
    ['/gauge/subscribe', (token) => ({ ...token, _citation: {} })],
    ['/gauge/subscribe', (token) => ({ ...token, plan: 'watch' })],
  ])('refuses a body of %s that is cut or wrapped', async (target, change) => {
    const body = (await sold(target)) as Record<string, JsonValue>;
    expect(answerFault(asked(target), change(body), BUILTIN)).toMatch(
      /^the body (does|is no|answers)/,
    );
  });

  it('takes an address for one of the service only where the citation says both', async () => {
    const body = (await sold(`/gauge?${PAIR}`)) as Record<string, Record<string, string>>;
    const { _citation: cited } = body;
    const elsewhere = `https://other.example/v/${cited?.record_hash}`;
    const moved = { ...body, _citation: { ...cited, verify_url: elsewhere } };
    expect(answerFault(asked(`/gauge?${PAIR}`), moved, BUILTIN)).toBe(
      'the body does not say what it answers',
    );
  });
});

describe('questionOf()', () => {
  it.each(['/nowhere', '/gauge', '/gauge/air?loc=nowhere', '//x', `/gauge?${PAIR}&dim=x`])(
    'knows no question %s',
    (target) => {
      expect(questionOf(target, BUILTIN)).toBeNull();
    },
  );

  it('reads every paid operation of the table', () => {
    const paid = BUILTIN.operations.filter(({ priceUsd }) => priceUsd !== null);
    expect(SOLD_TARGETS.map((target) => asked(target).endpoint.path)).toEqual(
      paid.map(({ path }) => path),
    );
  });
});

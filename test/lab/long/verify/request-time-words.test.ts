import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../compiler/format/strict-json.ts';
import { deliveredText } from '../../../../compiler/products/shapes/request-time.ts';
import { bulkSignatureCheck } from '../../../../compiler/verify/bulk-signature.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { watch } from '../../../../gatekeeper/rooms/subscription.ts';
import { compiledService, jsonOf, question } from '../../../gatekeeper/tiny-service.ts';
import { SAMPLE_HOUR } from '../../../shared-folder.ts';
import { type CompiledSample, compiledSample } from '../../../shop.ts';
import { removeFolders } from '../../../snapshot-folder.ts';
import { type WrongWord, wrongWords } from '../../../verify/alterations.ts';
import { hasPython, pythonVerdicts } from '../../../verify/python-judge.ts';

afterAll(removeFolders);

const HOUR_MS = 3_600_000;
/** Hours after the release: all is fresh; much is late, stale or unknown; every source is dead. */
const HOURS = [0.7, 61.2, 44_000];
/** Kinds of bodies, and how many of each are looked at. */
const KINDS: readonly (readonly [prefix: string, count: number])[] = [
  ['record/airquality.aqi/', 1],
  ['record/macro.unemployment/', 1],
  ['record/filing.insider/', 1],
  ['record/agriculture.drought/', 1],
  ['ruler/', 1],
  ['thin/calibrated/', 1],
  ['bundle/environment/', 1],
  ['bundle/grid/', 1],
  ['bundle/earthquake/', 1],
  ['thin/bundle/hurricane/', 1],
  ['document/', 11],
  ['air/', 1],
  ['precip/', 1],
  ['census/macro', 1],
  ['lifecycle/', 1],
  ['roster/', 7],
  ['subject/', 3],
  ['free/raw/', 1],
  ['free/sample/crypto', 1],
];

/** One of so many wrong words is tried, at each hour others: a body has hundreds, and each kind comes many times. */
const TRIED_EVERY = 2;

type Body = Record<string, JsonValue>;

let sample: CompiledSample;
let stored: readonly string[];
beforeAll(async () => {
  sample = await compiledSample();
  stored = KINDS.flatMap(([prefix, count]) => {
    const ofKind = sample.paths.filter((path) => path.startsWith(prefix) && path.endsWith('.json'));
    const found = ofKind.slice(0, count);
    expect([prefix, found.length]).toEqual([prefix, count]);
    return found.map((path) => sample.text(path));
  });
});

const instant = (hours: number): number => Date.parse(SAMPLE_HOUR) + hours * HOUR_MS;
const isSignature = bulkSignatureCheck();
const verdict = (body: Body, now: number): string =>
  verifyBody(body, { trust: [sample.did], isSignature, now }).verdict;

/** Bodies as they are served at an instant, an answer of the watchlist among them. */
async function served(now: number): Promise<Body[]> {
  const service = await compiledService(sample.data, new Date(now).toISOString());
  const items = 'environment:us-denver,macro:us,filings:AAPL,energy:us-ercot';
  const watched = jsonOf(await watch(question(`/gauge/watch?items=${items}`), service));
  const bodies = stored.map((text) => JSON.parse(deliveredText(text, now)) as Body);
  return [...bodies, watched as Body];
}

describe('words of request time', () => {
  it.each(HOURS)('are true of every body as it is served %f hours later', async (hours) => {
    const now = instant(hours);
    const verdicts = (await served(now)).map((body) => verdict(body, now));
    expect(verdicts).not.toContain('failed');
    expect(verdicts.filter((word) => word === 'verified').length).toBeGreaterThan(30);
  });

  it('I53: none that is wrong passes', async () => {
    let tried = 0;
    for (const [turn, hours] of HOURS.entries()) {
      const now = instant(hours);
      for (const body of await served(now)) {
        const words = [...wrongWords(body)].filter(
          (_, at) => at % TRIED_EVERY === turn % TRIED_EVERY,
        );
        const passed = words.filter((word) => verdict(word.body, now) !== 'failed');
        expect(passed.map(({ where }) => `${where} after ${hours} hours`)).toEqual([]);
        tried += words.length;
      }
    }
    expect(tried).toBeGreaterThan(2500);
  });

  it('of a body that speaks of a moment to come are refused, with five minutes of grace', async () => {
    const now = instant(1);
    let refused = 0;
    for (const body of await served(now)) {
      expect(verdict(body, now - 299_000)).not.toBe('failed');
      if (!JSON.stringify(body).includes('"answered_at"')) continue;
      expect(verdict(body, now - 302_000)).toBe('failed');
      refused += 1;
    }
    expect(refused).toBeGreaterThan(10);
  });
});

/** Python sees one of so many wrong words, at each hour others. */
const PYTHON_EVERY = 8;

describe.skipIf(!hasPython)(
  'signalpress_verify.py on words of request time (skipped without python3)',
  () => {
    function judged(bodies: readonly Body[], now: number): string[] {
      const texts = bodies.map((body) => JSON.stringify(body));
      return pythonVerdicts(texts, [sample.did], now).map(({ verdict }) => verdict);
    }

    it.each(HOURS)('agrees on every body as it is served %f hours later', async (hours) => {
      const now = instant(hours);
      const bodies = await served(now);
      expect(judged(bodies, now)).toEqual(bodies.map((body) => verdict(body, now)));
    });

    it('I53: lets none pass that is wrong', async () => {
      for (const [turn, hours] of HOURS.entries()) {
        const now = instant(hours);
        const words: WrongWord[] = (await served(now))
          .flatMap((body) => [...wrongWords(body)])
          .filter((_, at) => at % PYTHON_EVERY === turn % PYTHON_EVERY);
        for (let from = 0; from < words.length; from += 500) {
          const some = words.slice(from, from + 500);
          const verdicts = judged(
            some.map(({ body }) => body),
            now,
          );
          expect(verdicts).toHaveLength(some.length);
          const passed = some.filter((_, at) => verdicts[at] !== 'failed');
          expect(passed.map(({ where }) => where)).toEqual([]);
        }
      }
    });
  },
);

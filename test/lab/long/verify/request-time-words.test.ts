import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveredText } from '../../../../compiler/contract/request-time.ts';
import type { JsonValue } from '../../../../compiler/contract/strict-json.ts';
import { bulkSignatureCheck } from '../../../../compiler/verify/bulk-signature.ts';
import { commonInstant, consistentSpans } from '../../../../compiler/verify/request-time-checks.ts';
import type { TimeWindow } from '../../../../compiler/verify/request-time-claims.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { watch } from '../../../../gatekeeper/rooms/subscription.ts';
import { compiledService, jsonOf, question } from '../../../gatekeeper/tiny-service.ts';
import { SAMPLE_HOUR } from '../../../sample-folder.ts';
import { type CompiledSample, compiledSample } from '../../../shop.ts';
import { removeFolders } from '../../../snapshot-folder.ts';
import { hasPython, pythonVerdicts } from '../../../verify/python-judge.ts';
import { type WrongWord, wrongWords } from '../../../verify/wrong-words.ts';

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

  it('are true at the last instant before any of them turns, and at the first after it', () => {
    let turns = 0;
    for (const text of stored) {
      for (const { before, after, until } of turnsOf(text)) {
        expect(after).not.toBe(before);
        expect(verdict(JSON.parse(before) as Body, until)).not.toBe('failed');
        expect(verdict(JSON.parse(after) as Body, until + 1)).not.toBe('failed');
        turns += 1;
      }
    }
    expect(turns).toBeGreaterThan(400);
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
      if (!hasAge(body)) continue;
      expect(verdict(body, now - 660_000)).toBe('failed');
      refused += 1;
    }
    expect(refused).toBeGreaterThan(10);
  });
});

/** A stored body as it is served before and after its members turn, further and further apart. */
function* turnsOf(text: string) {
  const at = (when: number) => deliveredText(text, when);
  let now = instant(0);
  for (let turn = 0; turn < 12 && at(now) !== text; turn += 1) {
    const until = lastOf(now, (when) => at(when) === at(now));
    yield { before: at(until), after: at(until + 1), until };
    now = until + 1 + turn * turn * HOUR_MS;
  }
}

/** The last instant at which something holds that holds at `from` and no longer an hour later: an age never comes back. */
function lastOf(from: number, holds: (when: number) => boolean): number {
  let [first, end] = [from, from + HOUR_MS];
  while (end - first > 1) {
    const middle = Math.floor((first + end) / 2);
    if (holds(middle)) first = middle;
    else end = middle;
  }
  return first;
}

function hasAge(body: Body): boolean {
  return JSON.stringify(body).includes('"age_hours_now"');
}

/** Python sees one of so many wrong words, at each hour others. */
const PYTHON_EVERY = 8;

describe.skipIf(!hasPython)(
  'verify_record.py on words of request time (skipped without python3)',
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

const WINDOW = { from: 0, to: 20 };

describe('consistentSpans()', () => {
  const claim = (shown: string) => ({
    where: '',
    shown: { word: shown },
    expected: (now: number) => ({ word: now <= 5 || now > 15 ? 'outer' : 'inner' }),
    turns: [5, 15, 40, -3],
    window: WINDOW,
  });

  it('are the parts of the window in which the words follow', () => {
    expect(consistentSpans(claim('inner'), WINDOW)).toEqual([{ from: 6, to: 15 }]);
    expect(consistentSpans(claim('outer'), WINDOW)).toEqual([
      { from: 0, to: 5 },
      { from: 16, to: 20 },
    ]);
    expect(consistentSpans(claim('outer'), { from: 5, to: 5 })).toEqual([{ from: 5, to: 5 }]);
  });

  it('are none for a word of no instant', () => {
    expect(consistentSpans(claim('other'), WINDOW)).toEqual([]);
  });
});

describe('commonInstant()', () => {
  it('is an instant of as many sets as any other', () => {
    const span = fc.tuple(fc.nat(20), fc.nat(6)).map(([from, more]) => ({ from, to: from + more }));
    fc.assert(
      fc.property(fc.array(span), (spans) => {
        const covering = (at: number) => spans.filter(({ from, to }) => from <= at && at <= to);
        const best = Math.max(0, ...Array.from({ length: 27 }, (_, at) => covering(at).length));
        const { at, covered } = commonInstant(
          spans.map((one): TimeWindow[] => [one]),
          WINDOW,
        );
        expect(covered).toBe(best);
        expect(covering(at)).toHaveLength(best);
      }),
    );
  });

  it('takes spans that only touch, at one instant', () => {
    const sets = [[{ from: 0, to: 5 }], [{ from: 5, to: 9 }]];
    expect(commonInstant(sets, WINDOW)).toEqual({ at: 5, covered: 2 });
    expect(commonInstant([[{ from: 0, to: 4 }], [{ from: 5, to: 9 }]], WINDOW).covered).toBe(1);
  });
});

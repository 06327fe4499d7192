import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HashedFiling } from '../../../compiler/products/shapes/filing.ts';
import { settleFilings } from '../../../compiler/products/shapes/settle-filings.ts';
import { settlementNote } from '../../../compiler/products/shapes/settlement-note.ts';
import { CASE, type Case } from '../../settlement-cases.ts';

// The facts are found again from the raw filings, with code that shares nothing with the rule and with the note.

type Position = 'yes' | 'no' | 'maybe';

interface Facts {
  readonly given: Case;
  /** What the sentences name first: later ones say "its filing day". */
  named: HashedFiling | undefined;
}

const NEW_YORK = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'America/New_York',
  dateStyle: 'short',
  timeStyle: 'medium',
});

/** Whether a filing lies at or before the cutoff, as far as its facts tell. */
function position({ filing_date, disclosure_time }: HashedFiling, { question }: Case): Position {
  const { cutoff } = question;
  if (cutoff.basis === 'filing_date') return filing_date > cutoff.date ? 'no' : 'yes';
  const at = new Date(cutoff.at);
  if (disclosure_time !== null) return new Date(disclosure_time) <= at ? 'yes' : 'no';
  if (NEW_YORK.format(at) >= `${filing_date} 23:59:59`) return 'yes';
  const week = new Date(`${filing_date}T00:00:00Z`).getTime() - 7 * 24 * 60 * 60 * 1000;
  return at.getTime() < week ? 'no' : 'maybe';
}

const baseForm = (form: string): string => form.replace('SCHEDULE', 'SC').replace('/A', '');

/** One listing of each filing of a kind, that of the better source. */
function filingsOf({ filings, question }: Case, amended: boolean): HashedFiling[] {
  const of = filings.filter(
    ({ form, items }) =>
      baseForm(form) === baseForm(question.form) &&
      form.endsWith('/A') === amended &&
      (question.eventClass === null || items.includes(question.eventClass)),
  );
  const other = filings.filter((one) => baseForm(one.form) === baseForm(question.form));
  const best = (accession: string) =>
    other.filter(
      (one) =>
        one.accession === accession &&
        (question.eventClass === null || one.items.includes(question.eventClass)) &&
        (!question.form.endsWith('/A') || one.form.endsWith('/A')),
    );
  const isBest = (one: HashedFiling): boolean =>
    one.source === 'sec-edgar' || best(one.accession).every(({ source }) => source === 'other');
  return of.filter(isBest);
}

const originals = (given: Case): HashedFiling[] =>
  filingsOf(given, given.question.form.endsWith('/A'));
const amendments = (given: Case): HashedFiling[] =>
  given.question.form.endsWith('/A') ? [] : filingsOf(given, true);
const at = (given: Case, filings: HashedFiling[], ...wanted: Position[]): HashedFiling[] =>
  filings.filter((one) => wanted.includes(position(one, given)));
const newestDay = (filings: HashedFiling[]): string | undefined =>
  filings
    .map(({ filing_date }) => filing_date)
    .sort()
    .at(-1);

const mayHide = ({ question }: Case, from: string): boolean => {
  const { cutoff } = question;
  if (cutoff.basis === 'filing_date') return from <= cutoff.date;
  return new Date(`${from}T00:00:00Z`).getTime() - 604_800_000 <= new Date(cutoff.at).getTime();
};

const KIND = 'form (?<kind>[\\w /-]+?)(?: with item (?<item>[\\d.]+))?';
const UNTIL = 'the cutoff';
const NAMED =
  '(?<form>[\\w /-]+) (?<accession>\\d{10}-\\d\\d-\\d{6}) of the filing day (?<day>[\\d-]+)';
const SUCH = 'Amendments(?: with item (?<item>[\\d.]+))?';

type Groups = Readonly<Record<string, string>>;
type Truth = (groups: Groups, facts: Facts) => boolean;

function isAsked({ kind, item }: Groups, { given }: Facts): boolean {
  const { form, eventClass } = given.question;
  return kind === form && (item ?? null) === eventClass;
}

/** The listing that a sentence names, with the form and day that it tells. */
function pick({ form, accession, day }: Groups, filings: HashedFiling[]): HashedFiling | undefined {
  return filings.find(
    (one) => one.form === form && one.accession === accession && one.filing_date === day,
  );
}

const SENTENCES: readonly (readonly [string, Truth])[] = [
  [
    `The stored list holds no ${KIND} until ${UNTIL}; it is whole until then\\.`,
    (groups, facts) =>
      isAsked(groups, facts) &&
      at(facts.given, originals(facts.given), 'yes', 'maybe').length === 0 &&
      facts.given.coverage.covered_from === null &&
      !facts.given.coverage.gaps.some(({ from }) => mayHide(facts.given, from)),
  ],
  [
    `The stored list holds no ${KIND} until ${UNTIL}, which does not mean that none was filed\\.`,
    (groups, facts) =>
      isAsked(groups, facts) &&
      at(facts.given, originals(facts.given), 'yes', 'maybe').length === 0 &&
      (facts.given.coverage.covered_from !== null ||
        facts.given.coverage.gaps.some(({ from }) => mayHide(facts.given, from))),
  ],
  [
    'The first filing day of one after that is (?<day>[\\d-]+), of (?<form>[\\w /-]+) (?<accession>\\d{10}-\\d\\d-\\d{6})\\.',
    (groups, { given }) => {
      const behind = at(given, originals(given), 'no');
      const first = behind.map(({ filing_date }) => filing_date).sort()[0];
      return pick(groups, behind) !== undefined && first === groups.day;
    },
  ],
  [
    `By filing day, the newest ${KIND} that the stored list holds until ${UNTIL} is ${NAMED}\\.`,
    (groups, facts) => {
      const held = at(facts.given, originals(facts.given), 'yes');
      const last = held.filter(({ filing_date }) => filing_date === newestDay(held));
      facts.named = pick(groups, last);
      return isAsked(groups, facts) && facts.named !== undefined && last.length === 1;
    },
  ],
  [
    `The stored list holds (?<n>\\d+) filings of ${KIND} of the newest filing day until ${UNTIL}; one of them is ${NAMED}\\.`,
    (groups, facts) => {
      const held = at(facts.given, originals(facts.given), 'yes');
      const last = held.filter(({ filing_date }) => filing_date === newestDay(held));
      facts.named = pick(groups, last);
      const several = last.length === Number(groups.n) && last.length > 1;
      return isAsked(groups, facts) && facts.named !== undefined && several;
    },
  ],
  [
    'That does not count (?<n>\\d+) of its filing day or a later one of which the hour is not known, so that they may lie on either side of the cutoff\\.',
    ({ n }, { given, named }) => {
      const open = at(given, originals(given), 'maybe').filter(
        ({ disclosure_time, filing_date }) => {
          return disclosure_time === null && filing_date >= (named?.filing_date ?? '~');
        },
      );
      return open.length === Number(n) && open.length > 0;
    },
  ],
  [
    `${SUCH} of its filing day or a later one that lie before the cutoff or may do so: (?<n>\\d+)\\.`,
    ({ n, item }, { given, named }) => {
      const near = at(given, amendments(given), 'yes', 'maybe').filter(
        ({ filing_date }) => filing_date >= (named?.filing_date ?? '~'),
      );
      return (
        near.length === Number(n) &&
        near.length > 0 &&
        item === (given.question.eventClass ?? undefined)
      );
    },
  ],
  [
    `The stored list holds no ${KIND} that certainly lies before ${UNTIL} or on it\\.`,
    (groups, facts) =>
      isAsked(groups, facts) && at(facts.given, originals(facts.given), 'yes').length === 0,
  ],
  [
    'Filings of it of which the hour is not known, so that they may lie on either side of the cutoff: (?<n>\\d+)\\.',
    ({ n }, { given }) => at(given, originals(given), 'maybe').length === Number(n) && n !== '0',
  ],
  [
    `${SUCH} that lie before the cutoff or may do so: (?<n>\\d+)\\.`,
    ({ n, item }, { given }) =>
      at(given, amendments(given), 'yes', 'maybe').length === Number(n) &&
      n !== '0' &&
      item === (given.question.eventClass ?? undefined),
  ],
  [
    `One of these is ${NAMED}\\.`,
    (groups, { given }) => {
      const near = at(given, amendments(given), 'yes', 'maybe');
      return pick(groups, [...at(given, originals(given), 'maybe'), ...near]) !== undefined;
    },
  ],
  [
    'The (?<n>\\d+) listings of filing (?<accession>\\S+) do not tell the same facts, so nothing is settled\\.',
    ({ n, accession }, { given }) => {
      const reported = given.filings.filter((one) => one.accession === accession);
      const words = reported.map((one) =>
        [one.form.replace('SCHEDULE', 'SC'), one.filing_date].join(),
      );
      const hours = reported.flatMap(({ disclosure_time }) => disclosure_time ?? []);
      const differ = new Set(words).size > 1 || new Set(hours).size > 1;
      return reported.length === Number(n) && reported.length > 1 && differ;
    },
  ],
  [
    'The list reaches back to the filing day (?<day>[\\d-]+); older filings are not all stored\\.',
    ({ day }, { given }) => given.coverage.covered_from === day,
  ],
  [
    'The list is incomplete from the filing day (?<from>[\\d-]+) to (?<to>[\\d-]+)\\.',
    ({ from, to }, { given }) =>
      given.coverage.gaps.some((gap) => gap.from === from && gap.to === to),
  ],
];

/** The sentences of a note that the facts do not bear out, and a rest that is no known sentence. */
function untrue(note: string, given: Case): string[] {
  const facts: Facts = { given, named: undefined };
  const wrong: string[] = [];
  let rest = note;
  while (rest !== '') {
    const found = SENTENCES.flatMap(([pattern, isTrue]) => {
      const match = new RegExp(`^${pattern}(?: |$)`).exec(rest);
      return match === null ? [] : [{ match, isTrue }];
    });
    const [hit] = found;
    if (hit === undefined || found.length > 1) return [...wrong, rest];
    if (!hit.isTrue({ ...hit.match.groups } as Groups, facts)) wrong.push(hit.match[0]);
    rest = rest.slice(hit.match[0].length);
  }
  return wrong;
}

function noteOf({ filings, coverage, question }: Case) {
  const settlement = settleFilings(filings, coverage, question);
  return settlementNote({ question, coverage, settlement });
}

describe('settlementNote()', () => {
  it('says nothing that the filings do not bear out, and every kind of sentence', () => {
    const stated = new Set<string>();
    fc.assert(
      fc.property(CASE, (given) => {
        const note = noteOf(given);
        expect([note, untrue(note, given)]).toEqual([note, []]);
        for (const [pattern] of SENTENCES) if (new RegExp(pattern).test(note)) stated.add(pattern);
      }),
      { numRuns: 6000, seed: 21 },
    );
    expect(SENTENCES.map(([pattern]) => pattern).filter((one) => !stated.has(one))).toEqual([]);
  });

  it('is caught by these facts when it speaks of another question, filing, count or list', () => {
    let caught = 0;
    let reported = 0;
    fc.assert(
      fc.property(CASE, ({ filings, coverage, question }) => {
        const given = { filings, coverage, question };
        const note = noteOf(given);
        const lies = [
          note.replace(/form \S+/, 'form 6-K'),
          note.replace(
            /-(\d{5})(\d) /,
            (_all, kept, digit) => `-${kept}${(Number(digit) + 1) % 10} `,
          ),
          note.replace(/filings? day (\d{4})/, 'filing day 2025'),
          note.replace(/: (\d+)\./, (_all, count) => `: ${Number(count) + 1}.`),
        ].filter((lie) => lie !== note);
        reported += lies.length;
        caught += lies.filter((lie) => untrue(lie, given).length > 0).length;
      }),
      { numRuns: 1000, seed: 21 },
    );
    expect(reported).toBeGreaterThan(1000);
    expect(caught / reported).toBeGreaterThan(0.9);
  });
});

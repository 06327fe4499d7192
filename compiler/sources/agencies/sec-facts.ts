import { z } from 'zod';
import { asksFor, originOf } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import { ReadingList, statedReading } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

// Facts of a filer from its XBRL reports: https://www.sec.gov/search-filings/edgar-application-programming-interfaces

/** GPU-cloud providers that report to the SEC, by CIK; the choice is ours. */
const FILERS: Readonly<Record<string, readonly [cik: string, name: RegExp]>> = {
  coreweave: ['0001769628', /coreweave/i],
  'applied-digital': ['0001144879', /applied digital/i],
  iren: ['0001878848', /iren|iris energy/i],
  'cipher-mining': ['0001819989', /cipher/i],
  'core-scientific': ['0001839341', /core scientific/i],
  terawulf: ['0001083301', /terawulf/i],
};
const EARNINGS = 'OperatingIncomeLoss';
/** Names for the cost of debt, the first that a filer uses for a period. */
const INTEREST = ['InterestExpense', 'InterestExpenseNonoperating', 'InterestExpenseDebt'] as const;
const ORIGIN = originOf('SEC EDGAR, as the company reported', 'https://www.sec.gov/edgar', {
  role: 'filing',
  status: 'as filed',
});

const day = z.string().refine((text) => dayTime(text) !== null, 'not a day');
const fact = z.looseObject({
  start: day.optional(),
  end: day,
  val: z.number(),
  form: z.string(),
  filed: day,
});
type Fact = z.infer<typeof fact>;
const concept = z
  .looseObject({ units: z.looseObject({ USD: z.array(fact).optional() }) })
  .optional();
const factsSchema = z.looseObject({
  cik: z.union([z.int(), z.string().regex(/^\d{1,10}$/)]),
  entityName: z.string().min(1),
  facts: z.looseObject({
    'us-gaap': z.looseObject({
      [EARNINGS]: concept,
      InterestExpense: concept,
      InterestExpenseNonoperating: concept,
      InterestExpenseDebt: concept,
    }),
  }),
});

/** Operating income over interest of the newest period that both are reported for: a quarter, where there is one. */
function read(payload: Payload): Imported {
  const { cik, entityName, facts } = jsonOf(payload, factsSchema, 'XBRL facts of a filer');
  const found = Object.entries(FILERS).find(([, [own]]) => own === String(cik).padStart(10, '0'));
  if (found === undefined || !found[1][1].test(entityName))
    throw fetchAgain(payload, `it is about ${entityName.slice(0, 60)}, no filer of ours`);
  const [entity] = found;
  const gaap = facts['us-gaap'];
  const earnings = byPeriod(gaap[EARNINGS]?.units.USD);
  const interest = INTEREST.map((name) => byPeriod(gaap[name]?.units.USD));
  const both = [...earnings].flatMap(([period, earned]) => {
    const cost = interest.map((facts) => facts.get(period)).find((one) => one !== undefined);
    return cost === undefined || cost.val <= 0 ? [] : [{ earned, cost }];
  });
  const list = new ReadingList();
  const [newest] = both.sort((a, b) => (after(a.earned, b.earned) ? -1 : 1));
  if (newest === undefined) {
    list.skips.add(entity, 'no period with operating income and interest');
    return list.someOf(payload);
  }
  const { earned, cost } = newest;
  const stated = {
    entity,
    entity_name: entityName,
    at: dayTime(earned.end) ?? Number.NaN,
    current: {
      interest_coverage_ratio: Math.round((100 * earned.val) / cost.val) / 100,
      operating_income_usd: earned.val,
      interest_expense_usd: cost.val,
    },
    scope: `operating income over interest expense from ${earned.start} to ${earned.end}, of the form ${earned.form} filed on ${earned.filed}`,
  };
  list.add('ai-compute.financing-distress', statedReading(ORIGIN, payload, stated));
  return list.imported();
}

/** Facts of a span of time by that span; of several filings of one span the last one holds. */
function byPeriod(facts: readonly Fact[] = []): ReadonlyMap<string, Fact> {
  const spans = facts.filter(({ start, end }) => start !== undefined && start < end);
  const inOrder = spans.toSorted((a, b) => (a.filed < b.filed ? -1 : 1));
  return new Map(inOrder.map((one) => [`${one.start} ${one.end}`, one]));
}

/** Later first, and of two that end together the shorter one. */
function after(a: Fact, b: Fact): boolean {
  return a.end === b.end ? (a.start ?? '') > (b.start ?? '') : a.end > b.end;
}

export const secFacts: Source = {
  ...registered('sec-facts'),
  version: 1,
  read,
  asks: asksFor(FILERS, ([cik]) => ({ cik })),
};

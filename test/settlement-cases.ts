import { hash } from 'node:crypto';
import fc from 'fast-check';
import { parseCutoff } from '../compiler/format/cutoff.ts';
import { filingCore, type HashedFiling, isEventClass } from '../compiler/products/shapes/filing.ts';
import type {
  FilingCoverage,
  SettlementQuestion,
} from '../compiler/products/shapes/settle-filings.ts';
import { jcs } from '../compiler/system/jcs.ts';
import { CIK } from './filing-rows.ts';

/** A filer's filings, what its list covers, and a question. */
export interface Case {
  readonly filings: readonly HashedFiling[];
  readonly coverage: FilingCoverage & { readonly collected_at: string };
  readonly question: SettlementQuestion;
}

const dayOf = (n: number): string => new Date(Date.UTC(2026, 1, 1 + n)).toISOString().slice(0, 10);
const DAY = fc.integer({ min: 0, max: 30 }).map(dayOf);
const FORM = fc.constantFrom('8-K', '8-K/A', '10-K', '10-K/A', 'SC 13D', 'SCHEDULE 13D');

const DRAWN = fc.record({
  serial: fc.integer({ min: 1, max: 9 }),
  form: FORM,
  items: fc.subarray(['1.01', '2.02']),
  day: DAY,
  /** Hours from the filing day to the acceptance: mostly that day or the evening before, sometimes far off. */
  lead: fc.oneof(fc.constantFrom(null, -15, 2, 3), fc.integer({ min: -400, max: 400 })),
  source: fc.constantFrom('sec-edgar', 'other'),
});

type Drawn = typeof DRAWN extends fc.Arbitrary<infer Value> ? Value : never;

function filingOf({ serial, form, items, day, lead, source }: Drawn): HashedFiling {
  const at = Date.parse(`${day}T00:00:00Z`) - (lead ?? 0) * 3_600_000;
  const facts = {
    accession: `0000123456-26-${String(serial).padStart(6, '0')}`,
    form,
    items: form.startsWith('8-K') ? items : [],
    event_time: null,
    filing_date: day,
    disclosure_time: lead === null ? null : new Date(at).toISOString().replace('.000Z', 'Z'),
    acceptance_basis: lead === null ? 'undetermined' : 'utc',
    snapshot_date: '2026-11-20T00:00:00Z',
    source,
    source_ref: null,
    source_tier: source === 'other' ? 'T2' : 'T1',
  } as const;
  const digest = hash('sha256', jcs(filingCore(CIK, facts)), 'hex');
  return { ...facts, record_hash: `sha256:${digest}` };
}

const CUTOFF = fc
  .oneof(
    DAY,
    fc
      .tuple(DAY, fc.constantFrom('00:00:00Z', '12:00:00Z', '23:59:59-05:00'))
      .map((at) => at.join('T')),
  )
  .map((text) => {
    const cutoff = parseCutoff(text);
    if (cutoff === null) throw new Error(text);
    return cutoff;
  });

const QUESTION = fc
  .record({ form: FORM, item: fc.constantFrom(null, null, '1.01', '2.02'), cutoff: CUTOFF })
  .map(({ form, item, cutoff }): SettlementQuestion => {
    const isLegal = item !== null && isEventClass(form, item);
    return { form, eventClass: isLegal ? item : null, cutoff };
  });

const COVERAGE = fc.record({
  collected_at: fc.oneof(
    fc.constant('2026-11-20T11:00:00Z'),
    DAY.map((day) => `${day}T11:00:00Z`),
  ),
  covered_from: fc.oneof(fc.constant(null), fc.constant(null), DAY),
  gaps: fc.oneof(
    fc.constant([]),
    DAY.map((from) => [{ from, to: dayOf(40) }]),
  ),
});

/** Any filings, any list, any question: one listing of each filing and source. */
export const CASE: fc.Arbitrary<Case> = fc
  .tuple(fc.array(DRAWN, { maxLength: 14 }), COVERAGE, QUESTION)
  .map(([drawn, coverage, question]) => {
    const unique = new Map(drawn.map((one) => [`${one.serial} ${one.source}`, filingOf(one)]));
    return { filings: [...unique.values()], coverage, question };
  });

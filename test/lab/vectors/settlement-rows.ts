import type { Vector } from './core-rows.ts';

const CIK = '0000123456';

/** A filing as its source lists it; what the verdict does not need is the same in all of them. */
function listing(serial: number, [form, day]: readonly [string, string], more: object = {}) {
  return {
    entity: CIK,
    accession: `0000123456-26-${String(serial).padStart(6, '0')}`,
    form,
    items: [],
    event_time: null,
    filing_date: day,
    disclosure_time: `${day}T15:00:00Z`,
    source: 'sec-edgar',
    source_tier: 'T1',
    ...more,
  };
}

const WHOLE = { observed_at: '2026-11-20T11:00:00Z', covered_from: null, gaps: [] };
const asked = (form: string, cutoff: string, event_class: string | null = null) => ({
  form,
  event_class,
  cutoff,
});

const ANNUAL = listing(1, ['10-K', '2026-02-01'], { event_time: '2025-12-31' });
const OLDER = listing(2, ['10-K', '2025-02-01']);
const HOURLESS = listing(3, ['NT 10-K', '2026-03-02'], { disclosure_time: null });
const EVENT = listing(4, ['8-K', '2026-06-01'], { items: ['2.02', '9.01'] });
const AMENDED = listing(5, ['10-K/A', '2026-02-20']);

/** What a verdict says without a filing. */
const NONE = { event_time: null, disclosure_time: null, disclosure_date: null, candidate_count: 0 };
const FIRST = {
  event_time: '2025-12-31',
  disclosure_time: '2026-02-01T15:00:00Z',
  disclosure_date: '2026-02-01',
};
const HELD = 'By filing day, the newest form 10-K that the stored list holds until';

/** Settled questions: what was asked, what the filer's list covers, the filings of its list, and the answer. */
export function settlementVectors(): Vector[] {
  return [...answered(), ...instants(), ...open(), ...refused()];
}

function answered(): Vector[] {
  return [
    {
      comment: 'filed by the cutoff: the newest filing of the form',
      input: { ...asked('10-K', '2026-03-31'), coverage: WHOLE, filings: [[ANNUAL], [OLDER]] },
      want: {
        resolution_status: 'resolved',
        filed_by_cutoff: true,
        ...FIRST,
        candidate_count: 1,
        note: `${HELD} the filing day 2026-03-31 is 10-K 0000123456-26-000001 of the filing day 2026-02-01.`,
      },
    },
    {
      comment: 'not filed by the cutoff: the first filing behind it',
      input: { ...asked('10-K', '2026-01-31'), coverage: WHOLE, filings: [[ANNUAL]] },
      want: {
        resolution_status: 'resolved',
        filed_by_cutoff: false,
        ...FIRST,
        candidate_count: 1,
        note: 'The stored list holds no form 10-K until the filing day 2026-01-31; it is whole until then and was collected at 2026-11-20T11:00:00Z. The first filing day of one after that is 2026-02-01, of 10-K 0000123456-26-000001.',
      },
    },
    {
      comment: 'never filed: the filer has no list of the form and item',
      input: { ...asked('8-K', '2026-07-01', '1.01'), coverage: WHOLE, filings: [] },
      want: {
        resolution_status: 'no_authoritative_source',
        filed_by_cutoff: false,
        ...NONE,
        note: 'The stored list holds no form 8-K with item 1.01 until the filing day 2026-07-01; it is whole until then and was collected at 2026-11-20T11:00:00Z.',
      },
    },
    {
      comment:
        'the cutoff lies behind the collection of the list: a yes stands, and the note says so',
      input: { ...asked('10-K', '2027-01-31'), coverage: WHOLE, filings: [[ANNUAL], [OLDER]] },
      want: {
        resolution_status: 'resolved',
        filed_by_cutoff: true,
        ...FIRST,
        candidate_count: 1,
        note: `${HELD} the filing day 2027-01-31 is 10-K 0000123456-26-000001 of the filing day 2026-02-01. The list was collected at 2026-11-20T11:00:00Z, before the end of the filing day 2027-01-31, and does not tell what was filed later.`,
      },
    },
  ];
}

function instants(): Vector[] {
  return [
    {
      comment: 'an instant with an offset is compared with the acceptance',
      input: {
        ...asked('8-K', '2026-06-01T10:59:59.5-04:00', '2.02'),
        coverage: WHOLE,
        filings: [[EVENT]],
      },
      want: {
        resolution_status: 'resolved',
        filed_by_cutoff: false,
        event_time: null,
        disclosure_time: '2026-06-01T15:00:00Z',
        disclosure_date: '2026-06-01',
        candidate_count: 1,
        note: 'The stored list holds no form 8-K with item 2.02 until the instant 2026-06-01T14:59:59.500Z; it is whole until then and was collected at 2026-11-20T11:00:00Z. The first filing day of one after that is 2026-06-01, of 8-K 0000123456-26-000004.',
      },
    },
    {
      comment: 'the end of a day is the instant at which the next one begins',
      input: {
        ...asked('10-K', '2026-01-31T24:00:00.000Z'),
        coverage: WHOLE,
        filings: [[ANNUAL]],
      },
      want: {
        resolution_status: 'resolved',
        filed_by_cutoff: false,
        ...FIRST,
        candidate_count: 1,
        note: 'The stored list holds no form 10-K until the instant 2026-02-01T00:00:00Z; it is whole until then and was collected at 2026-11-20T11:00:00Z. The first filing day of one after that is 2026-02-01, of 10-K 0000123456-26-000001.',
      },
    },
  ];
}

function open(): Vector[] {
  const twin = { ...ANNUAL, source: 'other', source_tier: 'T2', filing_date: '2026-02-02' };
  return [
    {
      comment:
        'a list that begins on a day, has a gap and was collected before the cutoff says no "no"',
      input: {
        ...asked('SC 13D', '2027-01-31'),
        coverage: {
          ...WHOLE,
          covered_from: '2020-01-01',
          gaps: [{ from: '2026-05-01', to: '2026-05-31' }],
        },
        filings: [],
      },
      want: {
        resolution_status: 'no_authoritative_source',
        filed_by_cutoff: null,
        ...NONE,
        note: 'The stored list holds no form SC 13D until the filing day 2027-01-31, which does not mean that none was filed. The list was collected at 2026-11-20T11:00:00Z, before the end of the filing day 2027-01-31, and does not tell what was filed later. The list reaches back to the filing day 2020-01-01; older filings are not all stored. The list is incomplete from the filing day 2026-05-01 to 2026-05-31.',
      },
    },
    {
      comment: 'ambiguous: an amendment stands beside the filing',
      input: { ...asked('10-K', '2026-03-31'), coverage: WHOLE, filings: [[AMENDED], [ANNUAL]] },
      want: {
        resolution_status: 'ambiguous',
        filed_by_cutoff: true,
        ...FIRST,
        candidate_count: 2,
        note: `${HELD} the filing day 2026-03-31 is 10-K 0000123456-26-000001 of the filing day 2026-02-01. Amendments of its filing day or a later one that lie before the cutoff or may do so: 1.`,
      },
    },
    {
      comment: 'ambiguous: only the filing day is known, and the cutoff is an instant near it',
      input: {
        ...asked('NT 10-K', '2026-03-02T12:00:00Z'),
        coverage: WHOLE,
        filings: [[HOURLESS]],
      },
      want: {
        resolution_status: 'ambiguous',
        filed_by_cutoff: null,
        event_time: null,
        disclosure_time: null,
        disclosure_date: '2026-03-02',
        candidate_count: 1,
        note: 'The stored list holds no form NT 10-K that certainly lies before the instant 2026-03-02T12:00:00Z or on it. Filings of it of which the hour is not known, so that they may lie on either side of the cutoff: 1. One of these is NT 10-K 0000123456-26-000003 of the filing day 2026-03-02.',
      },
    },
    {
      comment: 'conflicting: two sources tell different filing days',
      input: { ...asked('10-K', '2026-03-31'), coverage: WHOLE, filings: [[ANNUAL, twin]] },
      want: {
        resolution_status: 'conflicting',
        filed_by_cutoff: null,
        ...FIRST,
        candidate_count: 2,
        note: 'The 2 listings of filing 0000123456-26-000001 do not tell the same facts, so nothing is settled.',
      },
    },
  ];
}

function refused(): Vector[] {
  const filings: readonly object[] = [];
  return [
    {
      comment: 'a cutoff that is no day of the calendar',
      input: { ...asked('10-K', '2026-02-30'), coverage: WHOLE, filings },
      error: 'no legal question',
    },
    {
      comment: 'a cutoff of the year 0',
      input: { ...asked('10-K', '0000-12-31T12:00:00Z'), coverage: WHOLE, filings },
      error: 'no legal question',
    },
    {
      comment: 'a cutoff behind the end of its own day, be it by less than a millisecond',
      input: { ...asked('10-K', '2026-01-31T24:00:00.0001Z'), coverage: WHOLE, filings },
      error: 'no legal question',
    },
    {
      comment: 'a cutoff without a zone',
      input: { ...asked('10-K', '2026-02-03T12:00:00'), coverage: WHOLE, filings },
      error: 'no legal question',
    },
    {
      comment: 'an item of a form that names none',
      input: { ...asked('10-K', '2026-02-03', '2.02'), coverage: WHOLE, filings },
      error: 'no legal question',
    },
    {
      comment: 'a form in another spelling than that of questions',
      input: { ...asked('Form 10-k', '2026-02-03'), coverage: WHOLE, filings },
      error: 'no legal question',
    },
  ];
}

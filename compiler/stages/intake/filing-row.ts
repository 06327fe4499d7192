import { z } from 'zod';
import { cikOf, FORM_TYPE } from '../../contract/filing.ts';
import { address, isAfter } from './reading.ts';
import { day, utcTime } from './times.ts';

const text = z.string().min(1).max(2000);
/** The filing days of a page, and how many filings it holds where its source says so. */
const span = { from: day, to: day, count: z.int().min(1).optional() };

/** How the clock of a whole list was read; "contradictory" where its hours fit neither UTC nor New York. */
const listBasis = z.enum(['utc', 'new-york', 'undetermined', 'contradictory']).optional();

/** Filing days, first to last, that could not be read whole from the source's list. */
const gaps = z
  .array(
    z
      .strictObject({ from: day, to: day })
      .refine(({ from, to }) => from <= to, 'from is after to; swap them'),
  )
  .max(1000)
  .optional();

/** What every row of the collection says. */
const shared = {
  /** Ten-digit CIK of the filer. */
  cik: z.string().refine((cik) => cikOf(cik) === cik, 'not a CIK of ten digits'),
  collected_at: utcTime,
  /** Who lists the filing, a slug: two sources of one filing are compared. */
  source: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'a source is a slug such as sec-edgar'),
  source_tier: z
    .string()
    .regex(/^(T1|T2|T2-[a-z-]+)$/, 'T1, T2, T2-<subtype> or null')
    .nullable(),
  /** What the row is fit for, where its source says so. */
  grade: text.nullable().optional(),
};

/** One filing as a source lists it. */
const filing = z
  .strictObject({
    ...shared,
    kind: z.literal('filing'),
    accession: z
      .string()
      .regex(/^\d{10}-\d{2}-\d{6}$/, 'not a number such as 0000320193-26-000006'),
    form: z.string().regex(FORM_TYPE, 'not a form type such as 10-K'),
    items: z.array(z.string().regex(/^[A-Za-z0-9.]{1,10}$/)).max(100),
    /** Period or event date. */
    event_time: day.nullable(),
    filing_date: day,
    disclosure_time: utcTime.nullable(),
    acceptance_basis: z.enum(['utc', 'new-york', 'undetermined']),
    /** Acceptance as the source writes it, where its list does not tell whether that is UTC or New York time. */
    acceptance_written: utcTime.optional(),
    source_ref: address.nullable(),
  })
  .refine(
    ({ disclosure_time, acceptance_basis }) =>
      (disclosure_time === null) === (acceptance_basis === 'undetermined'),
    'disclosure_time must be null if acceptance_basis is "undetermined", and only then',
  )
  .refine(
    ({ acceptance_written, acceptance_basis }) =>
      acceptance_written === undefined || acceptance_basis === 'undetermined',
    {
      path: ['acceptance_written'],
      message: 'only where acceptance_basis is "undetermined"; leave it out',
    },
  )
  .refine(
    ({ disclosure_time, collected_at }) =>
      disclosure_time === null || !isAfter(disclosure_time, collected_at),
    {
      path: ['disclosure_time'],
      message: 'after collected_at; a list cannot hold what was accepted later',
    },
  );

/** A filer's list at the time of its collection: whole from a day on, older pages apart. */
const listing = z.strictObject({
  ...shared,
  kind: z.literal('listing'),
  name: text,
  tickers: z.array(z.string().regex(/^[A-Z0-9.-]{1,20}$/, 'not a ticker in upper case')).max(20),
  /** First filing day that the list is whole from: nothing of it and of later days is missing or unread; null for all days. */
  from: day.nullable(),
  /** Older pages of the list, newest first, as the list announces them. */
  pages: z.array(z.strictObject(span)).max(1000),
  gaps,
  acceptance_basis: listBasis,
  source_ref: address.nullable(),
});

/** An older page of a filer's list. */
const page = z.strictObject({
  ...shared,
  kind: z.literal('page'),
  ...span,
  gaps,
  acceptance_basis: listBasis,
});

/** One stored row of `filing.submission`. */
export const storedFilingRowSchema = z.discriminatedUnion('kind', [filing, listing, page]);
export type StoredFilingRow = z.infer<typeof storedFilingRowSchema>;
export type StoredFiling = Extract<StoredFilingRow, { kind: 'filing' }>;
export type StoredListing = Extract<StoredFilingRow, { kind: 'listing' }>;
export type StoredPage = Extract<StoredFilingRow, { kind: 'page' }>;

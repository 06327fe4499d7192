import { z } from 'zod';
import { grouped } from '../../format/lists.ts';
import { memberText, originOf, readableEntries } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import type { Imported, Payload } from '../kit/payload.ts';
import { csvRows } from '../kit/payload-formats.ts';
import { ReadingList } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';
import { stateReading, yearReading } from '../kit/subjects.ts';

// E-money tokens of the interim register under the regulation on markets in crypto-assets:
// https://www.esma.europa.eu/esmas-activities/digital-finance-and-innovation/markets-crypto-assets-regulation-mica
// Its columns were read in the schemas and tests of public programs. `ac_authorisationNotificationDate` is the date of the
// issuer's licence, often years older than the token, so a token begins with its white paper.

const ORIGIN = originOf(
  'European Securities and Markets Authority',
  'https://www.esma.europa.eu/',
  { status: 'interim register, as national authorities report it' },
);
const SCOPE =
  'e-money token whose white paper was notified in the EU, by its digital token identifier (ISO 24165); "operating" until the authorisation of its issuer ends';

/** Days are written 29/11/2026; an empty one is none. */
const day = z.string().transform((text, context) => {
  const [, date, month, year] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text) ?? [];
  const at = text === '' ? null : dayTime(`${year}-${month}-${date}`);
  if (at !== null || text === '') return at;
  context.addIssue({ code: 'custom', message: 'not a day such as 29/11/2026' });
  return z.NEVER;
});
const COLUMNS = [
  'ae_lei_name',
  'ae_commercial_name',
  'ae_DTI',
  'wp_authorisationNotificationDate',
  'ac_authorisationEndDate',
];
const rowSchema = z
  .looseObject({
    ae_lei_name: z.string().min(1),
    ae_commercial_name: z.string(),
    ae_DTI: z.string(),
    wp_authorisationNotificationDate: day,
    ac_authorisationEndDate: day,
  })
  .refine(
    ({ wp_authorisationNotificationDate: birth, ac_authorisationEndDate: end }) =>
      birth === null || end === null || birth <= end,
    'an end before the white paper',
  );

function read(payload: Payload): Imported {
  const list = new ReadingList();
  const rows = csvRows(payload, COLUMNS);
  const of = memberText('ae_lei_name');
  const { read: issues, unread } = readableEntries(rows, rowSchema, { list, of });
  const at = Date.parse(payload.note.fetched_at);
  const statement = { origin: ORIGIN, payload, at, scope: SCOPE };
  const tokens = issues.flatMap((issue) => {
    const codes = issue.ae_DTI.split(/[|,;\s]+/).filter((code) => /^[A-Z0-9]{9}$/.test(code));
    if (codes.length === 0)
      list.skips.add(issue.ae_lei_name.slice(0, 60), 'a token without an identifier');
    return codes.map((code) => ({ code, issue }));
  });
  const byCode = grouped(tokens, (one) => one.code);
  for (const [code, own] of byCode) {
    if (own.length === 1)
      list.add('stablecoin.lifecycle', stateReading(tokenOf(own[0], at), statement));
    else list.skips.add(code, 'a token that is listed twice');
  }
  const isOpen = unread > 0 || byCode.size < tokens.length;
  const year = {
    entity: 'eu-e-money-tokens',
    ends: isOpen ? [null] : issues.flatMap((one) => one.ac_authorisationEndDate ?? []),
    births: isOpen ? [null] : issues.map((one) => one.wp_authorisationNotificationDate),
  };
  list.add('stablecoin.industry-timeline', yearReading(year, statement));
  return list.imported();
}

function tokenOf({ code, issue }: { code: string; issue: z.infer<typeof rowSchema> }, at: number) {
  const { wp_authorisationNotificationDate: birth, ac_authorisationEndDate: end } = issue;
  const isOver = end !== null && end <= at;
  return {
    entity: `dti-${code.toLowerCase()}`,
    entity_name: issue.ae_commercial_name || issue.ae_lei_name,
    state: isOver ? 'ended' : 'operating',
    birth: birth !== null && birth <= at ? birth : null,
    end: isOver ? end : null,
    ...(isOver ? { death_type: 'authorisation ended' } : {}),
  };
}

export const esmaMica: Source = { ...registered('esma-mica'), version: 1, read };

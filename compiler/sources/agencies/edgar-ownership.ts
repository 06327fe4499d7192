import { z } from 'zod';
import { isRealDay } from '../../format/cutoff.ts';
import { defined } from '../../format/errors.ts';
import { ImportError, type Imported, numberOf, type Payload, shaped } from '../kit/payload.ts';
import { xmlDocument } from '../kit/payload-formats.ts';
import { observedAt, ReadingList } from '../kit/readings.ts';

const one = <Inner extends z.ZodType>(inner: Inner) => z.tuple([inner]).transform(([only]) => only);
const text = one(z.string());
const written = <Inner extends z.ZodType>(inner: Inner) =>
  one(z.looseObject({ value: one(inner) })).transform(({ value }) => value);
const day = z.string().refine(isRealDay, 'not a day such as 2026-11-20');
const shares = z
  .string()
  .transform(numberOf)
  .pipe(z.number({ error: 'not a number of shares' }).min(0));
const TICKER = /^[A-Z][A-Z0-9.-]{0,9}$/;
/** What filers write for an issuer that is not listed. */
const NO_TICKER = /^(none|n\/?a)?$/i;
/** Codes of the form; only P and S are trades in the open market. */
const CODES = [...'ACDEFGHIJKLMOPSUVWXZ'] as const;

const transactionSchema = z.looseObject({
  transactionDate: written(day),
  transactionCoding: one(z.looseObject({ transactionCode: one(z.enum(CODES)) })),
  transactionAmounts: one(
    z.looseObject({
      transactionShares: written(shares),
      transactionAcquiredDisposedCode: written(z.enum(['A', 'D'])),
    }),
  ),
});
type Transaction = z.infer<typeof transactionSchema>;
const ownershipSchema = z.looseObject({
  documentType: text,
  issuer: one(
    z.looseObject({
      issuerCik: one(z.string().regex(/^\d{10}$/)),
      issuerName: text,
      issuerTradingSymbol: one(z.string().regex(TICKER).or(z.string().regex(NO_TICKER))),
    }),
  ),
  reportingOwner: z
    .array(z.looseObject({ reportingOwnerId: one(z.looseObject({ rptOwnerCik: text })) }))
    .min(1),
  // Without shares of its own, a form tells of options only.
  nonDerivativeTable: one(
    z.strictObject({
      nonDerivativeTransaction: z.array(transactionSchema).min(1),
      nonDerivativeHolding: z.array(z.unknown()).optional(),
    }),
  ),
  ownerSignature: z.array(z.looseObject({ signatureDate: one(day) })).min(1),
});

/** Shares that one insider bought and sold in the open market, from the XML of a Form 4. */
export function readOwnership(payload: Payload): Imported {
  const { note, subject } = payload;
  const document = xmlDocument(payload, 'ownershipDocument');
  const is = 'a Form 4 with transactions in shares';
  const form = shaped(ownershipSchema, document, { subject, is });
  const fault = notUsable(form, note.url);
  if (fault !== null) throw new ImportError({ subject, state: fault });
  const { issuerCik, issuerName, issuerTradingSymbol } = form.issuer;
  const trades = form.nonDerivativeTable.nonDerivativeTransaction;
  const signatures = form.ownerSignature.map(({ signatureDate }) => signatureDate).sort();
  const signed = defined(signatures.at(-1), 'the last signature');
  const list = new ReadingList();
  list.add('filing.insider', {
    entity: NO_TICKER.test(issuerTradingSymbol) ? issuerCik : issuerTradingSymbol,
    entity_name: issuerName,
    observed_at: observedAt(Date.parse(`${signed}T00:00:00Z`), payload),
    collected_at: note.fetched_at,
    current: {
      // How many forms there are is known from the list of the filer only.
      form4_90d_count: null,
      form4_30d_count: null,
      shares_bought_count: traded(trades, 'P'),
      shares_sold_count: traded(trades, 'S'),
    },
    sources: [{ name: 'SEC EDGAR', weight: 1, role: 'measurement', independent: true }],
    source_ref: note.url,
    source_tier: 'T1',
    scope: `one Form 4 of one reporting owner about CIK ${issuerCik}, by the day of its signature: shares bought (P) and sold (S) in the open market; grants, exercises and options are left out`,
    validation_status: 'as filed with the SEC',
    uncertainty: 'other forms of the same days are not part of it',
  });
  return list.imported();
}

function notUsable(form: z.infer<typeof ownershipSchema>, address: string): string | null {
  const { documentType, issuer, reportingOwner } = form;
  if (documentType !== '4') {
    return `a form of type ${documentType.slice(0, 10)}; only a Form 4 that is no amendment is read`;
  }
  const parties = [
    issuer.issuerCik,
    ...reportingOwner.map(({ reportingOwnerId }) => reportingOwnerId.rptOwnerCik),
  ];
  const named = /\/edgar\/data\/(\d{1,10})\//.exec(address)?.[1]?.padStart(10, '0');
  if (named !== undefined && !parties.includes(named)) {
    return `it is about CIK ${issuer.issuerCik}, and its address about ${named}; correct the fetch note`;
  }
  const wrong = form.nonDerivativeTable.nonDerivativeTransaction.find(
    ({ transactionCoding, transactionAmounts }) => {
      const side = transactionAmounts.transactionAcquiredDisposedCode;
      const { transactionCode } = transactionCoding;
      return (transactionCode === 'P' && side === 'D') || (transactionCode === 'S' && side === 'A');
    },
  );
  return wrong === undefined
    ? null
    : 'it buys what is disposed of, or sells what is acquired; fetch it again';
}

function traded(transactions: readonly Transaction[], code: 'P' | 'S'): number {
  const sum = transactions
    .filter(({ transactionCoding }) => transactionCoding.transactionCode === code)
    .reduce((total, { transactionAmounts }) => total + transactionAmounts.transactionShares, 0);
  return Math.round(sum * 10_000) / 10_000;
}

/** Numbers (CIK) of the listed companies of the line, as `company_tickers.json` has them. */
export const TICKER_CIKS: ReadonlyMap<string, string> = new Map([
  ['AAPL', '0000320193'],
  ['MSFT', '0000789019'],
  ['NVDA', '0001045810'],
  ['TSLA', '0001318605'],
  ['AMZN', '0001018724'],
  ['META', '0001326801'],
  ['GOOGL', '0001652044'],
  ['BA', '0000012927'],
  ['F', '0000037996'],
  ['INTC', '0000050863'],
  ['GME', '0001326380'],
  ['AMC', '0001411579'],
  ['CVNA', '0001690820'],
  ['PLTR', '0001321655'],
  ['NFLX', '0001065280'],
  ['DIS', '0001744489'],
  ['JPM', '0000019617'],
  ['BAC', '0000070858'],
]);

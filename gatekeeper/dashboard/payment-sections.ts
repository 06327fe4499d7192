import { type Html, type HtmlPart, html } from '../../compiler/contract/html.ts';
import { isoTime } from '../../compiler/contract/iso-time.ts';
import type { LedgerRow, RevenueRow } from '../journal/ledger.ts';
import { conversionPercent, type LoggedAnswers } from './answers-log.ts';
import { moneyText } from './revenue-chart.ts';
import type { OpenPayments, Sales } from './sales.ts';
import { section, table } from './table.ts';

/** Sales by product; with a log, also how often its price was told. */
export function productSection({ byProduct }: Sales, answers: LoggedAnswers | null): Html {
  const asked = new Map(answers?.products.map((row) => [row.path, row]));
  const sold = byProduct.rows.map((row) => soldRow(row, asked.get(row.group)));
  const names = new Set(byProduct.rows.map(({ group }) => group));
  const unsold = [...asked.values()].filter(({ path }) => !names.has(path));
  const unsoldRows = unsold.map((row) => [row.path, '', 0, '', ...askedCells(row)]);
  const rows = [...sold, ...unsoldRows];
  if (rows.length === 0) return section('Sales by product', html`<p>Nothing was sold.</p>`);
  const columns = [
    'Product',
    'Network',
    ...['Paid calls', 'Revenue', ...ASKED].map((number) => ({ number })),
  ];
  return section('Sales by product', table({ caption: 'Products by path', columns, rows }));
}

const ASKED = ['Answered 402', 'Answered 200', 'Conversion'];

type AskedProduct = LoggedAnswers['products'][number];

function soldRow(row: RevenueRow, asked: AskedProduct | undefined): HtmlPart[] {
  return [row.group, row.network, row.payments, moneyText(row), ...askedCells(asked)];
}

function askedCells(asked: AskedProduct | undefined): HtmlPart[] {
  if (asked === undefined) return ['', '', ''];
  const percent = conversionPercent(asked);
  return [asked.priced, asked.delivered, percent === null ? '' : `${percent} %`];
}

/** Conversion over all products. */
export function conversionText(answers: LoggedAnswers | null): HtmlPart {
  if (answers === null) return html`?<small>give a log with --log</small>`;
  const sum = { priced: 0, delivered: 0 };
  for (const { priced, delivered } of answers.products) {
    sum.priced += priced;
    sum.delivered += delivered;
  }
  const percent = conversionPercent(sum);
  const small = html`<small>${sum.delivered} answers 200, ${sum.priced} answers 402</small>`;
  return html`${percent === null ? 'none asked' : `${percent} %`}${small}`;
}

/** Payments whose end is not known yet, with what to do about them. */
export function openSection({ total, listed }: OpenPayments, nowMs: number): Html {
  const title = 'Open payments';
  if (total === 0) return section(title, html`<p>None: the end of every payment is known.</p>`);
  const rows = listed.map((row) => openRow(row, nowMs));
  const columns = [
    'Taken',
    'Age',
    'State',
    { number: 'Amount' },
    'Product',
    'Network',
    'Payer',
    'Detail',
  ];
  return section(title, [
    html`<p>The gatekeeper asks about them every 30 s. If one stays, set a chain node (SIGNALPRESS_RPC_URL). It is closed once its authorization is dead.</p>`,
    table({ caption: `The oldest ${listed.length} of ${total}`, columns, rows }),
  ]);
}

/** Only the path: a query may hold a token. */
function openRow(row: LedgerRow, nowMs: number): HtmlPart[] {
  const { created_at, state, path, network, payer, detail } = row;
  const at = Date.parse(created_at);
  return [
    isoTime(at),
    durationText(Math.max(0, nowMs - at)),
    state,
    moneyText(row),
    path,
    network,
    payer,
    detail,
  ];
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A duration as people read it: `340 ms`, `2.5 s`, `3.0 h`. */
export function durationText(ms: number | null): string {
  if (ms === null) return '?';
  const unit = UNITS.find(([, size]) => ms >= size);
  return unit === undefined ? `${ms} ms` : `${(ms / unit[1]).toFixed(1)} ${unit[0]}`;
}

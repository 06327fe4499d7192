import { createHash } from 'node:crypto';
import { Html, type HtmlPart, html } from '../../compiler/contract/html.ts';
import { isoTime } from '../../compiler/contract/iso-time.ts';
import type { RunStatus } from '../../compiler/contract/run-status.ts';
import type { RevenueRow } from '../journal/ledger.ts';
import type { LoggedAnswers } from './answers-log.ts';
import { conversionText, durationText, openSection, productSection } from './payment-sections.ts';
import { moneyText, revenueCharts } from './revenue-chart.ts';
import type { Period, Sales } from './sales.ts';
import { healthCount, sourcesSection } from './sources-section.ts';
import { section, table } from './table.ts';

/** Everything that the page shows. */
interface DashboardFacts {
  readonly nowMs: number;
  readonly period: Period;
  readonly sales: Sales;
  /** Null where no log was given. */
  readonly answers: LoggedAnswers | null;
  /** Null where no status file was given. */
  readonly status: RunStatus | null;
}

/** Style of the operator's page, in light and dark. */
const DASHBOARD_STYLE = `
:root{color-scheme:light dark;--ink:#16202b;--dim:#4d5b69;--page:#f6f7f9;--card:#fff;--rule:#d5dbe1;
--bar:#2563a8;--good:#14683a;--bad:#a3201d;--wait:#7a4b00}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--dim:#a9b6c3;--page:#10161d;--card:#18212b;
--rule:#33414e;--bar:#6fa8e8;--good:#6ed49a;--bad:#ff9c94;--wait:#f0c069}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
header,main{max-width:70rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
h1{font-size:1.5rem;margin:0}
h2{font-size:1.15rem;margin:0 0 .5rem}
p{margin:.25rem 0 .75rem}
header p,.note{color:var(--dim);font-size:.9rem}
section{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:1rem;margin:1rem 0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:1rem;margin:0}
.figures div{border-left:3px solid var(--bar);padding-left:.75rem}
dt{color:var(--dim);font-size:.9rem}
dd{margin:0;font-size:1.4rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
dd small{display:block;font-size:.8rem;color:var(--dim)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
caption{text-align:left;color:var(--dim);padding-bottom:.25rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--rule)}
td{overflow-wrap:anywhere}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
details table{margin:.25rem 0 .5rem}
summary{cursor:pointer}
:focus-visible{outline:3px solid var(--bar);outline-offset:2px}
figure{margin:0 0 1rem}
figcaption{color:var(--dim);font-size:.9rem}
svg{display:block;width:100%;height:8rem;border-bottom:1px solid var(--rule)}
rect{fill:var(--bar)}
.good,.bad,.wait{white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad);font-weight:600}.wait{color:var(--wait);font-weight:600}
`;
const STYLE_HASH = createHash('sha256').update(DASHBOARD_STYLE).digest('base64');
const STYLE = new Html(DASHBOARD_STYLE);

/** What the page may load: its own style, nothing else. */
export const DASHBOARD_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;

/** The operator's page: one file without scripts, and nothing from elsewhere. */
export function dashboardPage(facts: DashboardFacts): string {
  const { nowMs, period, sales, answers, status } = facts;
  const parts = [
    figures(facts),
    daySection(sales, period),
    productSection(sales, answers),
    openSection(sales.open, nowMs),
    sourcesSection(status, nowMs),
    originSection(sales, answers),
  ];
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${DASHBOARD_POLICY}">
<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">
<title>Sales and sources · Signalpress</title>
<style>${STYLE}</style></head>
<body><header><h1>Sales and sources</h1>
<p>${dayOf(period.sinceMs)} to ${dayOf(period.untilMs - 1)}. Made at ${isoTime(nowMs)}. All times are UTC.</p></header>
<main>${parts}</main>
</body></html>
`.toString();
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function figures({ sales, answers, status, nowMs }: DashboardFacts): Html {
  const { total, buyers, latency, open, refused } = sales;
  const payments = total.rows.reduce((sum, row) => sum + row.payments, 0);
  const revenue = total.rows.map((row) => html`${moneyText(row)}<small>${currency(row)}</small>`);
  const shown = [
    figure('Revenue', revenue.length === 0 ? '$0.00' : revenue),
    figure(
      'Paid calls',
      html`${payments}<small>accounts that paid: ${buyers}; payments refused: ${refused}</small>`,
    ),
    figure('Conversion, 402 to 200', conversionText(answers)),
    figure('Open payments', open.total),
    figure(
      'Settlement takes',
      html`${durationText(latency.medianMs)}<small>half of ${latency.count}; 95 % within ${durationText(latency.p95Ms)}, the longest ${durationText(latency.maxMs)}</small>`,
    ),
    figure('Healthy sources', healthCount(status, nowMs)),
  ];
  return section('The period at a glance', html`<dl class="figures">${shown}</dl>`);
}

function figure(name: string, value: HtmlPart): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function currency({ network, asset }: RevenueRow): string {
  return `${network}, ${asset}`;
}

function daySection({ byDay, byDayAndProduct }: Sales, period: Period): Html {
  if (byDay.rows.length === 0) return section('Sales by day', html`<p>Nothing was settled.</p>`);
  const days = [...byDay.rows].reverse();
  const rows = days.map((row) => [
    row.group,
    row.network,
    row.payments,
    moneyText(row),
    productsOf(row, byDayAndProduct.rows),
  ]);
  const columns = ['Day', 'Network', { number: 'Paid calls' }, { number: 'Revenue' }, 'Products'];
  return section('Sales by day', [
    revenueCharts(byDay.rows, period),
    table({ caption: 'Days with sales, the last one first', columns, rows }),
  ]);
}

/** The products of one day in one currency, folded up. */
function productsOf(day: RevenueRow, all: readonly RevenueRow[]): Html {
  const rows = all
    .filter(({ group, network, asset }) => {
      return group.startsWith(`${day.group} `) && network === day.network && asset === day.asset;
    })
    .map((row) => [row.group.slice(day.group.length + 1), row.payments, moneyText(row)]);
  const columns = ['Product', { number: 'Paid calls' }, { number: 'Revenue' }];
  return html`<details><summary>${rows.length} on ${day.group}</summary>${table({ columns, rows })}</details>`;
}

function originSection({ total }: Sales, answers: LoggedAnswers | null): Html {
  const items = [
    'Sales, revenue, buyers and open payments come from the payment journal. Days are those of the settlement. Sums are exact.',
    'A settlement takes from the moment when the journal noted the payment to the moment when it noted the end. A payment whose end was unclear takes until that became clear.',
    'The journal forgets refused payments after their retention, so older periods show fewer of them.',
    logOrigin(answers),
    ...(total.leftOut === 0
      ? []
      : [`Settled payments with impossible amounts are in no sum: ${total.leftOut}.`]),
  ];
  const list = items.map((item) => html`<li>${item}</li>`);
  return section('Where these figures come from', html`<ul class="note">${list}</ul>`);
}

function logOrigin(answers: LoggedAnswers | null): string {
  if (answers === null) {
    return 'Conversion needs the log, that is the standard output of signalpress-gate: give its file with --log.';
  }
  const { first, last, otherLines } = answers;
  const from =
    first === null
      ? 'It holds no answer of this period.'
      : `Its answers in this period are from ${first} to ${last}.`;
  return (
    `Conversion comes from the log: GETs of a product that were answered 200, for each hundred that were answered 402. ${from} ` +
    'Refused payments are 402 too, and a repeated delivery is a 200. A buyer that knows the price pays at once, so more than 100 % is possible. ' +
    `Lines that are no answer: ${otherLines}.`
  );
}

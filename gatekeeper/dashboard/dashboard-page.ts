import { createHash } from 'node:crypto';
import { Html, type HtmlPart, html } from '../../compiler/contract/html.ts';
import { isoTime } from '../../compiler/contract/iso-time.ts';
import type { RunStatus } from '../../compiler/contract/run-status.ts';
import type { RevenueRow } from '../journal/ledger.ts';
import type { LoggedAnswers } from './answers-log.ts';
import { DASHBOARD_STYLE } from './dashboard-style.ts';
import { conversionText, durationText, openSection, productSection } from './payment-sections.ts';
import { moneyText, revenueCharts } from './revenue-chart.ts';
import type { Period, Sales } from './sales.ts';
import { healthCount, sourcesSection } from './sources-section.ts';
import { section, table } from './table.ts';

/** Everything that the page shows. */
export interface DashboardFacts {
  readonly nowMs: number;
  readonly period: Period;
  readonly sales: Sales;
  /** Null where no log was given. */
  readonly answers: LoggedAnswers | null;
  /** Null where no status file was given. */
  readonly status: RunStatus | null;
}

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

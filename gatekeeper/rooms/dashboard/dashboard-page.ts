import { createHash } from 'node:crypto';
import type { RunStatus, SourceStatus } from '../../../compiler/catalog/run-status.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { Html, type HtmlPart, html } from '../../../compiler/format/html.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../../compiler/format/iso-time.ts';
import { microUsd, type RevenueRow } from '../../heart/journal/ledger.ts';
import { dayChart, dayOf } from './day-chart.ts';
import type { LoggedAnswers } from './logged-answers.ts';
import type { Period, Sales, SpanOfSales } from './sales.ts';

export interface DiskSpace {
  /** Something that lies on it. */
  readonly path: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

interface DashboardFacts {
  readonly nowMs: number;
  readonly sales: Sales;
  /** Null where no log was given. */
  readonly answers: LoggedAnswers | null;
  /** Null where no status file was given. */
  readonly status: RunStatus | null;
  /** Null where none is linked. */
  readonly grafana: string | null;
  readonly disks: readonly DiskSpace[];
}

const DASHBOARD_STYLE = `
:root{color-scheme:light dark;--ink:#16202b;--dim:#4d5b69;--page:#f6f7f9;--card:#fff;--rule:#d5dbe1;
--bar:#2563a8;--good:#14683a;--bad:#a3201d;--wait:#7a4b00}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--dim:#a9b6c3;--page:#10161d;--card:#18212b;
--rule:#33414e;--bar:#6fa8e8;--good:#6ed49a;--bad:#ff9c94;--wait:#f0c069}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
header,main{max-width:70rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}
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
:focus-visible{outline:3px solid var(--bar);outline-offset:2px}
figure{margin:0 0 1rem}
figcaption{color:var(--dim);font-size:.9rem}
svg{display:block;width:100%;min-width:40rem}
svg text{fill:var(--dim);font-size:12px}.end{text-anchor:end}.middle{text-anchor:middle}
svg path{stroke:var(--rule)}
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
  const { nowMs, sales, answers, status, grafana } = facts;
  const [last, before, period] = sales.spans;
  const machines =
    grafana === null
      ? null
      : html` <a href="${grafana}" rel="noreferrer">The machines in Grafana</a>.`;
  const parts = [
    spansSection(sales, answers),
    wantedSection(answers),
    healthSection(facts),
    daySection(sales),
    productSection(sales, answers),
    openSection(sales.open, nowMs),
    sourcesSection(status, nowMs),
    originSection(sales, answers),
  ];
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${DASHBOARD_POLICY}">
<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">
<title>${moreOrLess(last, before)} · Signalpress</title>
<style>${STYLE}</style></head>
<body><header><h1>${moreOrLess(last, before)}: ${weekText(last)} in the 7 days to ${isoTime(last.untilMs)}, ${weekText(before)} in the 7 days before.</h1>
<p>${playText(period)}What is not of these two weeks is of ${dayOf(period.sinceMs)} to ${dayOf(period.untilMs - 1)}. Made at ${isoTime(nowMs)}. All times are UTC.${machines}</p></header>
<main>${parts}</main>
</body></html>
`.toString();
}

function moreOrLess(last: SpanOfSales, before: SpanOfSales): string {
  if (last.usd === before.usd) return last.usd === 0n ? 'No sale' : 'As much as last week';
  return `${last.usd > before.usd ? 'More' : 'Less'} than last week`;
}

function weekText({ usd, sales, buyers }: SpanOfSales): string {
  if (sales === 0) return 'nothing';
  return `${dollars(usd)} of ${counted(sales, 'sale')} to ${counted(buyers.size, 'buyer')}`;
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** Millionths of a dollar as people read them, without more places than it has. */
function dollars(micro: bigint): string {
  const places = `${micro % 1_000_000n}`.padStart(6, '0').replace(/0{1,4}$/, '');
  return `$${micro / 1_000_000n}.${places}`;
}

function playText({ played }: SpanOfSales): string {
  if (played === 0) return '';
  return `Not counted: ${counted(played, 'payment')} in money of a test network, which is worth nothing. `;
}

/** Each figure of the last week, of the week before and of the period. */
function spansSection({ spans }: Sales, answers: LoggedAnswers | null): Html {
  const logged = answers === null ? [] : loggedRows(answers.spans);
  const rows = [
    ['Revenue', ...spans.map(({ usd }) => dollars(usd))],
    ['Sales', ...spans.map(({ sales }) => sales)],
    ['Buyers', ...spans.map(({ buyers }) => buyers.size)],
    ['Payments refused', ...spans.map(({ refused }) => refused)],
    ...logged,
  ];
  const numbers = ['Last 7 days', '7 days before', 'Period'].map((number) => ({ number }));
  const caption =
    answers === null ? 'Give a log with --log for what was asked' : 'Out of journal and log';
  const columns = ['', ...numbers];
  const title = 'Last week, the week before, and the period';
  return section(title, table({ caption, columns, rows }));
}

function loggedRows(spans: LoggedAnswers['spans']): HtmlPart[][] {
  return [
    ['Price told (402)', ...spans.map(({ priced }) => priced)],
    ['Conversion', ...spans.map(({ priced, delivered }) => percentText(priced, delivered))],
    ['Asked for and not there (422)', ...spans.map(({ absent }) => absent)],
    ['Searches that found nothing', ...spans.map(({ emptySearches }) => emptySearches)],
    ['Refused as too many (429)', ...spans.map(({ limited }) => limited)],
    ['Failed here (500 and above)', ...spans.map(({ failed }) => failed)],
  ];
}

/** What to sell next: what people came for in vain. */
function wantedSection(answers: LoggedAnswers | null): Html {
  const title = 'Asked for and not there';
  if (answers === null) {
    return section(title, html`<p>Give the log of the gatekeeper with --log.</p>`);
  }
  const { rows, different, leftOut } = answers.wanted;
  if (rows.length === 0) return section(title, html`<p>Nothing, as far as the log tells.</p>`);
  const cells = rows.map(({ what, clients, last }) => [what, clients, last]);
  const columns = ['Request and words', { number: 'Clients' }, 'Last asked'];
  const caption = `The first ${rows.length} of ${different}; a client counts once a day for each, and for at most 20 of them. Left out: ${leftOut}`;
  return section(title, table({ caption, columns, rows: cells }));
}

/** Below it an operator has to act. */
const DISK_FREE_SHARE_MIN = 0.1;

function healthSection({ sales, answers, status, disks, nowMs }: DashboardFacts): Html {
  const sources = Object.values(status?.sources ?? {});
  const well = sources.filter((source) => healthOf(source, nowMs) === 'healthy').length;
  const served = answers?.served ?? null;
  const shown = [
    figure(
      'Age of the release',
      served === null
        ? html`?<small>give a log with --log</small>`
        : html`${durationText(Math.max(0, nowMs - Date.parse(served.as_of)))}<small>release ${served.sequence}, as of ${served.as_of}</small>`,
    ),
    ...disks.map(({ path, freeBytes, totalBytes }) => {
      const share = freeBytes / totalBytes;
      const word = html`<span class="${share < DISK_FREE_SHARE_MIN ? 'bad' : 'good'}">${(share * 100).toFixed(0)} % free</span>`;
      return figure(
        'Disk',
        html`${word}<small>${(freeBytes / 1e9).toFixed(1)} GB, under ${path}</small>`,
      );
    }),
    figure('Open payments', sales.open.total),
    figure(
      'Healthy sources',
      status === null
        ? html`?<small>give a status file with --status</small>`
        : html`${well} of ${sources.length}<small>as of ${status.updated_at ?? 'never'}</small>`,
    ),
  ];
  return section('Is all well', html`<dl class="figures">${shown}</dl>`);
}

function figure(name: string, value: HtmlPart): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function currency({ network, asset }: RevenueRow): string {
  return `${network}, ${asset}`;
}

function daySection({ byDay, spans: [, , period] }: Sales): Html {
  if (byDay.rows.length === 0) return section('Sales by day', html`<p>Nothing was settled.</p>`);
  const days = [...byDay.rows].reverse();
  const rows = days.map((row) => [row.group, currency(row), row.payments, moneyText(row)]);
  const columns = ['Day', 'Currency', { number: 'Paid calls' }, { number: 'Revenue' }];
  return section('Sales by day', [
    revenueChart(byDay.rows, period),
    table({ caption: 'Days with sales, the last one first', columns, rows }),
  ]);
}

function originSection({ byDay }: Sales, answers: LoggedAnswers | null): Html {
  const items = [
    'Sales, revenue, buyers and open payments come from the payment journal. Days are those of the settlement. Sums are exact.',
    'Payments on a test network are no sales: their money is worth nothing, and pretended payments are settled on no other one.',
    'What was asked for and is not there comes from the log: the parameters of a request that was answered 422, and the words of a search that found nothing. What looks like an address is left out of it.',
    'The journal forgets refused payments after their retention, so older periods show fewer of them.',
    logOrigin(answers),
    ...(byDay.leftOut === 0
      ? []
      : [`Settled payments with impossible amounts are in no sum: ${byDay.leftOut}.`]),
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

const CHART_DAYS_MAX = 92;

/** All currencies together, on each of the last CHART_DAYS_MAX days of a period. */
function revenueChart(byDay: readonly RevenueRow[], { sinceMs, untilMs }: Period): Html {
  const lastMs = Math.floor((untilMs - 1) / DAY_MS) * DAY_MS;
  const firstMs = Math.max(
    Math.floor(sinceMs / DAY_MS) * DAY_MS,
    lastMs - (CHART_DAYS_MAX - 1) * DAY_MS,
  );
  const sums = new Map<string, bigint>();
  for (const { group, usd } of byDay) sums.set(group, (sums.get(group) ?? 0n) + microUsd(usd));
  return html`<figure class="wide" tabindex="0" role="group" aria-label="Revenue by day">${dayChart(sums, { firstMs, lastMs })}
<figcaption>Revenue by day, ${dayOf(firstMs)} to ${dayOf(lastMs)}.</figcaption></figure>`;
}

/** An amount as people read it; in units of the asset where it is too large for dollars. */
function moneyText({ usd, value }: Pick<RevenueRow, 'usd' | 'value'>): string {
  return usd === '' ? `${value} units` : `$${usd}`;
}

/** Delivered answers for a hundred told prices; '' where no price was told. */
function percentText(priced: number, delivered: number): string {
  return priced === 0 ? '' : `${((delivered * 100) / priced).toFixed(1)} %`;
}

/** Sales by product; with a log, also how often its price was told. */
function productSection({ byProduct }: Sales, answers: LoggedAnswers | null): Html {
  const asked = new Map(answers?.products.map((row) => [row.path, row]));
  const sold = byProduct.rows.map((row) => {
    const { group, network, payments } = row;
    return [group, network, payments, moneyText(row), ...askedCells(asked.get(group))];
  });
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

function askedCells(asked: LoggedAnswers['products'][number] | undefined): HtmlPart[] {
  if (asked === undefined) return ['', '', ''];
  return [asked.priced, asked.delivered, percentText(asked.priced, asked.delivered)];
}

function openSection({ total, listed }: Sales['open'], nowMs: number): Html {
  const title = 'Open payments';
  if (total === 0) return section(title, html`<p>None: the end of every payment is known.</p>`);
  const rows = listed.map((row) => {
    // Only the path: a query may hold a token.
    const { created_at, state, path, network, payer, detail } = row;
    const at = Date.parse(created_at);
    const age = durationText(Math.max(0, nowMs - at));
    return [isoTime(at), age, state, moneyText(row), path, network, payer, detail];
  });
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

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A duration as people read it: `340 ms`, `2.5 s`, `3.0 h`. */
function durationText(ms: number | null): string {
  if (ms === null) return '?';
  const unit = UNITS.find(([, size]) => ms >= size);
  return unit === undefined ? `${ms} ms` : `${(ms / unit[1]).toFixed(1)} ${unit[0]}`;
}

/** A job of cron that runs every hour fetches what is due up to an hour late. */
const LATE_MS = 2 * HOUR_MS;
/** How a source does, in one word with its class; the worst first. */
const HEALTH = { failing: 'bad', late: 'wait', 'never asked': 'wait', healthy: 'good' } as const;

/** `late`: it should have been asked long ago, so nothing runs. */
function healthOf(source: SourceStatus, nowMs: number): keyof typeof HEALTH {
  const { consecutive_failures, last_attempt, next_due } = source;
  if (consecutive_failures > 0) return 'failing';
  if (next_due !== null && nowMs - Date.parse(next_due) > LATE_MS) return 'late';
  return last_attempt === null ? 'never asked' : 'healthy';
}

function sourcesSection(status: RunStatus | null, nowMs: number): Html {
  const title = 'Sources';
  if (status === null) {
    return section(
      title,
      html`<p>Give the status file of <code>signalpress run</code> with --status.</p>`,
    );
  }
  const sources = Object.entries(status.sources).map(([name, source]) => {
    return { name, source, health: healthOf(source, nowMs) };
  });
  sources.sort((left, right) => {
    const words = Object.keys(HEALTH);
    const worse = words.indexOf(left.health) - words.indexOf(right.health);
    return worse === 0 ? (left.name < right.name ? -1 : 1) : worse;
  });
  const rows = sources.map(({ name, source, health }) => {
    const { last_success, last_change, next_due, consecutive_failures, waiting } = source;
    const word = html`<span class="${HEALTH[health]}">${health}</span>`;
    const times = [last_success, last_change, next_due].map((time) => time ?? 'never');
    return [name, word, ...times, consecutive_failures, waiting, source.last_error ?? ''];
  });
  const columns = [
    'Source',
    'Health',
    'Last success',
    'Last change',
    'Next due',
    { number: 'Failures in a row' },
    { number: 'Readings that wait' },
    'Last error',
  ];
  return section(title, [
    compileText(status.compile),
    rows.length === 0
      ? html`<p>No source was asked yet.</p>`
      : table({ caption: 'Sources, the worst first', columns, rows }),
  ]);
}

function compileText({ release, last_success, last_error, is_due }: RunStatus['compile']): Html {
  const published =
    release === null
      ? 'No release was published yet.'
      : `Release ${release} was published at ${last_success ?? 'an unknown time'}.`;
  const due = is_due ? ' Newer snapshots wait for the next one.' : '';
  const failed =
    last_error === null ? null : html`<p class="bad">The last compile failed: ${last_error}</p>`;
  return html`<p>${published}${due}</p>${failed}`;
}

/** A table that scrolls within itself where it is wider than the page. */
function table(of: {
  caption?: string;
  columns: readonly (string | { readonly number: string })[];
  /** Cells by column; the first one names the row. */
  rows: readonly (readonly HtmlPart[])[];
}): Html {
  const { caption, columns, rows } = of;
  const heads = columns.map((column) =>
    typeof column === 'string'
      ? html`<th scope="col">${column}</th>`
      : html`<th scope="col" class="n">${column.number}</th>`,
  );
  const body = rows.map(([name, ...cells]) => {
    const rest = cells.map((cell, at) =>
      typeof columns[at + 1] === 'string'
        ? html`<td>${cell}</td>`
        : html`<td class="n">${cell}</td>`,
    );
    return html`<tr><th scope="row">${defined(name, 'a name')}</th>${rest}</tr>\n`;
  });
  const title = caption === undefined ? null : html`<caption>${caption}</caption>`;
  return html`<div class="wide" tabindex="0" role="group" aria-label="${caption ?? 'Details'}"><table>${title}<thead><tr>${heads}</tr></thead><tbody>
${body}</tbody></table></div>`;
}

function section(title: string, content: HtmlPart): Html {
  return html`<section><h2>${title}</h2>${content}</section>\n`;
}

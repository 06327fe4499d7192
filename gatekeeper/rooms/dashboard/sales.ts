// What was sold and what was asked in a period, out of the journal and out of the log.

import { closeSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import { findRow } from '../../../compiler/catalog/route.ts';
import { messageOf } from '../../../compiler/format/errors.ts';
import { type Books, type LedgerRow, RevenueSum, settledDay } from '../../heart/journal/ledger.ts';
import { openOwnFile } from '../../wire/plain-file.ts';
import { StartError } from '../../wire/start-error.ts';

const OPEN_LISTED_MAX = 50;

/** First and last instant of what is shown, in milliseconds since the epoch; the last is not part of it. */
export interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export type Sales = Awaited<ReturnType<typeof readSales>>;

/** Sums up a journal; amounts are added exactly. */
export async function readSales(books: Books, period: Period) {
  const total = new RevenueSum(() => '');
  const byDay = new RevenueSum(settledDay);
  const byProduct = new RevenueSum((row) => row.path);
  const byDayAndProduct = new RevenueSum((row) => `${settledDay(row)} ${row.path}`);
  const buyers = new Set<string>();
  const durations = new Map<number, number>();
  for await (const row of books.rows({ ...period, time: 'settled_at', state: 'settled' })) {
    for (const sum of [total, byDay, byProduct, byDayAndProduct]) sum.add(row);
    buyers.add(`${row.network}|${row.payer}`);
    // A clock that was set back in between counts as 0.
    const ms = Math.max(0, Date.parse(row.settled_at) - Date.parse(row.created_at));
    durations.set(ms, (durations.get(ms) ?? 0) + 1);
  }
  let refused = 0;
  for await (const _ of books.rows({ ...period, time: 'created_at', state: 'refused' }))
    refused += 1;
  return {
    total: total.revenue(),
    byDay: byDay.revenue(),
    byProduct: byProduct.revenue(),
    /** Groups are `day path`. */
    byDayAndProduct: byDayAndProduct.revenue(),
    buyers: buyers.size,
    /** From the claim of a payment to the note that it is settled. */
    latency: summaryOf(durations),
    /** Refusals of the period that the journal still holds. */
    refused,
    open: await openPayments(books),
  };
}

/** Payments whose end nobody noted, of all time, and the oldest of them. */
async function openPayments(books: Books) {
  const oldest: LedgerRow[] = [];
  let total = 0;
  for (const state of ['settling', 'unknown']) {
    let known = 0;
    for await (const row of books.rows({ time: 'created_at', state })) {
      known += 1;
      if (known <= OPEN_LISTED_MAX) oldest.push(row);
    }
    total += known;
  }
  oldest.sort((left, right) => (left.created_at < right.created_at ? -1 : 1));
  return { total, listed: oldest.slice(0, OPEN_LISTED_MAX) };
}

/** Of durations in whole milliseconds, with how often each was measured; null where nothing was. */
function summaryOf(counts: ReadonlyMap<number, number>) {
  const sorted = [...counts].sort(([left], [right]) => left - right);
  const count = sorted.reduce((sum, [, times]) => sum + times, 0);
  const at = (share: number): number | null => {
    let left = Math.ceil(count * share);
    for (const [ms, times] of sorted) {
      left -= times;
      if (left <= 0) return ms;
    }
    return null;
  };
  return { count, medianMs: at(0.5), p95Ms: at(0.95), maxMs: at(1) };
}

const CHUNK_BYTES = 1 << 16;
/** Our own lines are far shorter; a file without line ends must not fill the memory. */
const LINE_CHARS_MAX = 16_384;

const answerLine = z.object({
  time: z.iso.datetime(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  payer: z.string().optional(),
});

export type LoggedAnswers = ReturnType<typeof readAnswers>;

/** Counts the answers to GETs of what is sold, in files that hold the standard output of the gatekeeper. */
export function readAnswers(
  files: readonly string[],
  { period, catalog }: { readonly period: Period; readonly catalog: Catalog },
) {
  const products: ProductCounts = new Map();
  // Lines that are no answers, other lines of the gatekeeper among them.
  let otherLines = 0;
  // First and last answer of the period; null when there is none.
  let first: string | null = null;
  let last: string | null = null;
  const add = (line: string): void => {
    let answer: z.infer<typeof answerLine>;
    try {
      answer = answerLine.parse(JSON.parse(line));
    } catch {
      otherLines += Number(line !== '');
      return;
    }
    const { time } = answer;
    const at = Date.parse(time);
    if (at < period.sinceMs || at >= period.untilMs) return;
    first = first === null || time < first ? time : first;
    last = last === null || time > last ? time : last;
    countProduct(products, answer, catalog);
  };
  for (const file of files) {
    try {
      for (const line of linesOf(file)) add(line);
    } catch (cause) {
      const why = `${messageOf(cause)}; name a file that holds what signalpress-gate printed`;
      throw new StartError(`Cannot read log "${file}": ${why}`, { cause });
    }
  }
  const sorted = [...products].map(([path, counts]) => ({ path, ...counts }));
  sorted.sort((left, right) => (left.path < right.path ? -1 : 1));
  const span: { first: string | null; last: string | null } = { first, last };
  return { products: sorted, otherLines, ...span };
}

/** By path, the answers 402 and 200. */
type ProductCounts = Map<string, { priced: number; delivered: number }>;

function countProduct(
  products: ProductCounts,
  { method, path, status, payer }: z.infer<typeof answerLine>,
  catalog: Catalog,
): void {
  const row = method === 'GET' ? findRow(path, catalog)?.row : undefined;
  if (row === undefined || row.priceUsd === null) return;
  const counts = products.get(row.path) ?? { priced: 0, delivered: 0 };
  products.set(row.path, counts);
  // Where some signals are free, only a payer tells what was bought.
  const isGiven = payer === undefined && Object.values(row.signalPrices ?? {}).includes(null);
  if (status === 402) counts.priced += 1;
  if (status === 200 && !isGiven) counts.delivered += 1;
}

/** Lines of a file; one that is too long comes as a piece that is no JSON. */
function* linesOf(path: string): Generator<string> {
  const file = openOwnFile(path);
  try {
    const decoder = new StringDecoder('utf8');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest = '';
    for (let read = CHUNK_BYTES; read > 0; ) {
      read = readSync(file, chunk);
      const lines = (rest + decoder.write(chunk.subarray(0, read))).split('\n');
      rest = (lines.pop() ?? '').slice(0, LINE_CHARS_MAX);
      yield* lines;
    }
    yield rest + decoder.end();
  } finally {
    closeSync(file);
  }
}

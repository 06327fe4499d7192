// What was asked in a period, and what is not there, out of the log.

import { closeSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import { findRow } from '../../../compiler/catalog/route.ts';
import { messageOf } from '../../../compiler/format/errors.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { openOwnFile } from '../../wire/plain-file.ts';
import { WANTED_CHARS_MAX } from '../../wire/reply.ts';
import { StartError } from '../../wire/start-error.ts';
import { isWithin, type Period, type Spans } from './sales.ts';

const CHUNK_BYTES = 1 << 16;
/** Our own lines are far shorter; a file without line ends must not fill the memory. */
const LINE_CHARS_MAX = 16_384;

const answerLine = z.object({
  time: z.iso.datetime(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  payer: z.string().optional(),
  client: z.string().default(''),
  wanted: z.string().max(WANTED_CHARS_MAX).optional(),
});
type AnswerLine = z.infer<typeof answerLine>;

const release = z.object({ sequence: z.int(), as_of: z.iso.datetime() });
/** Lines that tell which release is served from then on. */
const releaseLine = z.union([
  z.object({ event: z.literal('started'), release }).transform((line) => line.release),
  z.object({ event: z.literal('release_swapped'), ...release.shape }),
]);

/** Answers by what became of them. */
function noAnswers(span: Period) {
  return { ...span, priced: 0, delivered: 0, absent: 0, emptySearches: 0, limited: 0, failed: 0 };
}

export type LoggedAnswers = ReturnType<typeof readAnswers>;

/** Reads files that hold the standard output of the gatekeeper: answers to GETs of what is sold, and what went wrong. */
export function readAnswers(
  files: readonly string[],
  { periods, catalog }: { readonly periods: Spans<Period>; readonly catalog: Catalog },
) {
  const products: ProductCounts = new Map();
  const [last7, before7, all] = periods;
  const spans = [noAnswers(last7), noAnswers(before7), noAnswers(all)] as const;
  const wanted = new Wanted();
  let served: z.infer<typeof release> | null = null;
  // Lines that are no answers, other lines of the gatekeeper among them.
  let otherLines = 0;
  // First and last answer of the period; null when there is none.
  let first: string | null = null;
  let last: string | null = null;
  const add = (line: string): void => {
    const value = jsonOf(line);
    const { data: answer } = answerLine.safeParse(value);
    if (answer === undefined) {
      otherLines += Number(line !== '');
      const { data: told } = releaseLine.safeParse(value);
      served = told !== undefined && told.sequence >= (served?.sequence ?? 0) ? told : served;
      return;
    }
    const { time } = answer;
    const at = Date.parse(time);
    const bought = boughtAs(answer, catalog);
    for (const span of spans) if (isWithin(at, span)) countAnswer(span, answer, bought);
    if (!isWithin(at, all)) return;
    first = first === null || time < first ? time : first;
    last = last === null || time > last ? time : last;
    wanted.add(answer);
    countProduct(products, bought);
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
  const told: {
    first: string | null;
    last: string | null;
    served: z.infer<typeof release> | null;
  } = { first, last, served };
  return { products: sorted, spans, wanted: wanted.most(), otherLines, ...told };
}

/** What a line says; undefined where it is no JSON. */
function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Which product an answer was about, and whether its price was told or it was delivered; null for any other answer. */
function boughtAs({ method, path, status, payer }: AnswerLine, catalog: Catalog) {
  const row = method === 'GET' ? findRow(path, catalog)?.row : undefined;
  if (row === undefined || row.priceUsd === null) return null;
  // Where some signals are free, only a payer tells what was bought.
  const isGiven = payer === undefined && Object.values(row.signalPrices ?? {}).includes(null);
  const isDelivered = status === 200 && !isGiven;
  return { path: row.path, priced: Number(status === 402), delivered: Number(isDelivered) };
}

type Bought = ReturnType<typeof boughtAs>;

function countAnswer(
  span: ReturnType<typeof noAnswers>,
  { status, wanted }: AnswerLine,
  bought: Bought,
): void {
  span.priced += bought?.priced ?? 0;
  span.delivered += bought?.delivered ?? 0;
  span.absent += Number(status === 422);
  span.emptySearches += Number(status === 200 && wanted !== undefined);
  span.limited += Number(status === 429);
  span.failed += Number(status >= 500);
}

/** By path, the answers 402 and 200. */
type ProductCounts = Map<string, { priced: number; delivered: number }>;

function countProduct(products: ProductCounts, bought: Bought): void {
  if (bought === null) return;
  const { priced, delivered } = products.get(bought.path) ?? { priced: 0, delivered: 0 };
  products.set(bought.path, {
    priced: priced + bought.priced,
    delivered: delivered + bought.delivered,
  });
}

/** Different things that one client counts for in a day, and clients and things that are counted at once. */
const WANTED_BY_CLIENT_MAX = 20;
const CLIENTS_MAX = 100_000;
const WANTED_MAX = 10_000;
const WANTED_SHOWN = 40;

/** What was asked for and is not there, by how many asked: whoever asks a thousand times, or for a thousand things, is one. */
class Wanted {
  readonly #askedBy = new BoundedMap<string, Set<string>>(CLIENTS_MAX);
  readonly #counts = new Map<string, { clients: number; last: string }>();
  #leftOut = 0;

  add({ client, wanted, path, time }: AnswerLine): void {
    if (wanted === undefined) return;
    const what = `${path} ${wanted.trim().toLowerCase().replace(/\s+/g, ' ')}`;
    // The name of a client is another one each day.
    const asked = this.#askedBy.get(client) ?? new Set();
    if (asked.has(what)) return;
    if (asked.size >= WANTED_BY_CLIENT_MAX || !this.#hasRoom(what)) {
      this.#leftOut += 1;
      return;
    }
    this.#askedBy.set(client, asked.add(what));
    const { clients = 0, last = '' } = this.#counts.get(what) ?? {};
    this.#counts.set(what, { clients: clients + 1, last: time > last ? time : last });
  }

  /** What many asked for stays; what one alone asked for makes room. */
  #hasRoom(what: string): boolean {
    if (this.#counts.size < WANTED_MAX || this.#counts.has(what)) return true;
    for (const [one, { clients }] of this.#counts) {
      if (clients === 1) this.#leftOut += Number(this.#counts.delete(one));
    }
    return this.#counts.size < WANTED_MAX;
  }

  most() {
    const all = [...this.#counts].map(([what, counts]) => ({ what, ...counts }));
    all.sort((a, b) => b.clients - a.clients || b.last.localeCompare(a.last));
    return { rows: all.slice(0, WANTED_SHOWN), different: all.length, leftOut: this.#leftOut };
  }
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

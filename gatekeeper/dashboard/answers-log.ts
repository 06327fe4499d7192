import { closeSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { findRow } from '../../compiler/contract/route.ts';
import { messageOf } from '../system/message-of.ts';
import { openOwnFile } from '../system/plain-file.ts';
import { StartError } from '../system/start-error.ts';
import type { Period } from './sales.ts';

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

/** How often the price of a product was told, and how often the product was delivered. */
interface ProductAnswers {
  readonly path: string;
  /** Answers 402. */
  readonly priced: number;
  /** Answers 200. */
  readonly delivered: number;
}

/** What a log of the gatekeeper says about a period. */
export interface LoggedAnswers {
  /** Products that were asked for, by path. */
  readonly products: readonly ProductAnswers[];
  /** Lines that are no answers, other lines of the gatekeeper among them. */
  readonly otherLines: number;
  /** First and last answer of the period, RFC 3339; null when there is none. */
  readonly first: string | null;
  readonly last: string | null;
}

/** Counts the answers to GETs of what is sold, in files that hold the standard output of the gatekeeper. */
export function readAnswers(
  files: readonly string[],
  { period, catalog }: { readonly period: Period; readonly catalog: Catalog },
): LoggedAnswers {
  const counts = new AnswerCounts(period, catalog);
  for (const file of files) {
    try {
      for (const line of linesOf(file)) counts.add(line);
    } catch (cause) {
      const why = `${messageOf(cause)}; name a file that holds what signalpress-gate printed`;
      throw new StartError(`Cannot read log "${file}": ${why}`, { cause });
    }
  }
  return counts.answers();
}

class AnswerCounts {
  readonly #period: Period;
  readonly #catalog: Catalog;
  readonly #products = new Map<string, { priced: number; delivered: number }>();
  #otherLines = 0;
  #first: string | null = null;
  #last: string | null = null;

  constructor(period: Period, catalog: Catalog) {
    this.#period = period;
    this.#catalog = catalog;
  }

  add(line: string): void {
    const answer = answerOf(line);
    if (answer === null) {
      if (line !== '') this.#otherLines += 1;
      return;
    }
    const at = Date.parse(answer.time);
    if (at < this.#period.sinceMs || at >= this.#period.untilMs) return;
    const { time } = answer;
    this.#first = this.#first === null || time < this.#first ? time : this.#first;
    this.#last = this.#last === null || time > this.#last ? time : this.#last;
    this.#count(answer);
  }

  #count({ method, path, status, payer }: z.infer<typeof answerLine>): void {
    const row = method === 'GET' ? findRow(path, this.#catalog)?.row : undefined;
    if (row === undefined || row.priceUsd === null) return;
    const counts = this.#products.get(row.path) ?? { priced: 0, delivered: 0 };
    if (status === 402) counts.priced += 1;
    // Where some signals are free, only a payer tells what was bought.
    const isGiven = payer === undefined && Object.values(row.signalPrices ?? {}).includes(null);
    if (status === 200 && !isGiven) counts.delivered += 1;
    this.#products.set(row.path, counts);
  }

  answers(): LoggedAnswers {
    const products = [...this.#products].map(([path, counts]) => ({ path, ...counts }));
    products.sort((left, right) => (left.path < right.path ? -1 : 1));
    const [otherLines, first, last] = [this.#otherLines, this.#first, this.#last];
    return { products, otherLines, first, last };
  }
}

function answerOf(line: string): z.infer<typeof answerLine> | null {
  try {
    return answerLine.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
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

/** Delivered answers for a hundred told prices, one decimal; null where no price was told. */
export function conversionPercent({
  priced,
  delivered,
}: Omit<ProductAnswers, 'path'>): string | null {
  return priced === 0 ? null : ((delivered * 100) / priced).toFixed(1);
}

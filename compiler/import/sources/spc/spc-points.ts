import { HOUR_MS } from '../../../contract/iso-time.ts';
import { type Payload, readable } from '../../payload.ts';
import type { Position } from '../../region-box.ts';
import { instantAfter, issueOf, type TextProduct } from '../../text-product.ts';
import { closeAtBorder } from './us-outline.ts';

/** Categories of the outlook, mildest first, by their short names. */
export const CATEGORIES = ['TSTM', 'MRGL', 'SLGT', 'ENH', 'MDT', 'HIGH'] as const;
export type Category = (typeof CATEGORIES)[number];

/** West of it a longitude has four digits, and one of 100 degrees and more loses its first. */
const WEST_MIN = 50;

const SYNTHETIC = /^IOWA MESONET SYNTHETIC PRODUCT/;
const VALID = /^VALID TIME (\d{6})Z - (\d{6})Z$/;
const ROW = /^(?:([A-Z]+) +)?(\d{8}(?: \d{8})*)$/;
const BREAK = '99999999';
/** A ring may end this far from where it began, in degrees (seen: 0.03). */
const CLOSED_MAX = 0.1;
/** An outlook of one day holds no longer than this. */
const HOURS_MAX = 30;
/** Categories as the sentences below the table spell them; "GEN TSTMS" stands for the mildest one. */
const SPELLED: ReadonlyMap<string, Category> = new Map([
  ...CATEGORIES.map((category) => [category, category] as const),
  ['MARGINAL', 'MRGL'],
  ['SLIGHT', 'SLGT'],
  ['ENHANCED', 'ENH'],
  ['MODERATE', 'MDT'],
]);
const SENTENCE =
  /(?:THERE IS AN? ([A-Z]+) RISK|GEN TSTMS ARE).*?(?:LINE FROM|LN FM)(.*?)(?=THERE IS AN? [A-Z]+ RISK|GEN TSTMS ARE|$)/g;
/** A point in words: `35 WSW MCK`, `0 - MAF` or `MCK`. */
const SPOKEN = /(?:\d+ +(?:[NSEW]{1,3}|-) +)?\b[A-Z0-9]{3}\b/g;

/**
 * The outlook points of the first day (PTSDY1). Its sentences name every point once more: a table that lost a line does not
 * fit them, and is refused with an ImportError like everything else that cannot be read.
 */
export function pointsOutlook(product: TextProduct, payload: Payload): Outlook {
  const { at: issuedAt } = issueOf(product, payload);
  const { lines } = product;
  return readable(payload, () => {
    const [table, words] = parts(lines);
    const drawn = drawnLines(table);
    compareWithWords(drawn, words);
    const relay = lines.some((line) => SYNTHETIC.test(line)) ? 'Iowa Environmental Mesonet' : null;
    const areas = new Map([...drawn].map(([category, own]) => [category, rings(own)] as const));
    return { issuedAt, expiresAt: expiryOf(lines, issuedAt), relay, areas };
  });
}

function expiryOf(lines: readonly string[], issuedAt: number): number {
  const [, begin = '', end = ''] =
    VALID.exec(lines.find((line) => line.startsWith('VALID')) ?? '') ?? [];
  const [from, to] = [instantAfter(issuedAt - HOUR_MS, begin), instantAfter(issuedAt, end)];
  const isOrdered = from !== null && to !== null && from < to;
  if (isOrdered && to - issuedAt <= HOURS_MAX * HOUR_MS) return to;
  throw new RangeError(`no VALID TIME that fits the time of issue`);
}

/** Rows of the table of categories, and the sentences behind it. */
function parts(lines: readonly string[]): [table: readonly string[], words: string] {
  const title = lines.indexOf('CATEGORICAL OUTLOOK POINTS DAY 1');
  const from = lines.indexOf('... CATEGORICAL ...', title);
  const to = lines.indexOf('&&', from);
  if (title < 0 || from < 0 || to < 0) throw new RangeError('no whole table of categories');
  const table = lines.slice(from + 1, to).filter((line) => line !== '');
  return [
    table,
    lines
      .slice(to + 1)
      .join(' ')
      .toUpperCase(),
  ];
}

type Drawn = ReadonlyMap<Category, readonly (readonly Position[])[]>;

function drawnLines(table: readonly string[]): Drawn {
  const codes = new Map<Category, string[]>();
  let category: Category | null = null;
  for (const row of table) {
    const [, label, points = ''] = ROW.exec(row.trimStart()) ?? [];
    // Rows of one name are separate areas, as parts of one row are.
    if (label !== undefined) category = categoryOf(label);
    if (points === '' || category === null) throw new RangeError(`row "${row}" is not known`);
    const own = codes.get(category) ?? [];
    codes.set(category, own);
    own.push(...(label === undefined ? [] : [BREAK]), ...points.split(' '));
  }
  return new Map([...codes].map(([name, own]) => [name, split(own)] as const));
}

function split(codes: readonly string[]): Position[][] {
  const lines: Position[][] = [];
  for (const code of codes) {
    if (code === BREAK) lines.push([]);
    else lines.at(-1)?.push(position(code));
  }
  const line = lines.filter((points) => points.length > 0);
  if (line.some((points) => points.length < 2)) throw new RangeError('a line of one point');
  return line;
}

function position(code: string): Position {
  const [latitude, west] = [Number(code.slice(0, 4)) / 100, Number(code.slice(4)) / 100];
  return [-(west < WEST_MIN ? west + 100 : west), latitude];
}

function rings(lines: readonly (readonly Position[])[]): (readonly Position[])[] {
  // A line may be given twice: it bounds its area once.
  const once = [...new Map(lines.map((line) => [line.join(' '), line])).values()];
  const closed = once.filter(isClosed);
  return [...closed, ...closeAtBorder(once.filter((line) => !isClosed(line)))];
}

function isClosed(line: readonly Position[]): boolean {
  const [from, to] = [line[0], line.at(-1)];
  if (from === undefined || to === undefined || line.length < 4) return false;
  return Math.hypot(from[0] - to[0], from[1] - to[1]) <= CLOSED_MAX;
}

function compareWithWords(drawn: Drawn, words: string): void {
  const spoken = spokenPoints(words);
  for (const category of CATEGORIES) {
    const held = drawn.get(category)?.flat().length ?? 0;
    const named = spoken.get(category) ?? 0;
    if (held !== named) {
      throw new RangeError(`${category} has ${held} points, its sentences name ${named}`);
    }
  }
  if (spoken.size === 0) throw new RangeError('no category is drawn');
}

/** How many points the sentences name, by category. */
function spokenPoints(words: string): ReadonlyMap<Category, number> {
  const counts = new Map<Category, number>();
  for (const [, name, points = ''] of words.matchAll(SENTENCE)) {
    const category = name === undefined ? 'TSTM' : SPELLED.get(name);
    if (category === undefined) throw new RangeError(`a sentence on "${name} RISK" is not known`);
    counts.set(category, (counts.get(category) ?? 0) + (points.match(SPOKEN)?.length ?? 0));
  }
  return counts;
}

/** One convective outlook; times in epoch milliseconds. */
export interface Outlook {
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Who made the payload, where that is not the agency. */
  readonly relay: string | null;
  /** Rings of each category that is drawn: clockwise around an area, the other way around a hole. */
  readonly areas: ReadonlyMap<Category, readonly (readonly Position[])[]>;
}

function categoryOf(text: string): Category | null {
  return CATEGORIES.find((category) => category === text) ?? null;
}

import { DAY_MS } from '../../format/iso-time.ts';
import { fetchAgain, type Imported, numberOf, type Payload, textOf } from '../kit/payload.ts';
import { type Origin, ReadingList, statedReading } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

const ORIGIN: Origin = {
  name: 'NOAA STAR Global Vegetation Health',
  role: 'measurement',
  independent: true,
  page: 'https://www.star.nesdis.noaa.gov/smcd/emb/vci/VH/vh_browse.php',
  tier: 'T1',
  status: 'as published by NOAA STAR',
};
const YEARS_ASKED = 6;

const TITLE =
  /^Mean data for ([A-Z]{3}) +Province= *(\d{1,3}): *([^<>,]{1,80}), *from (\d{4}) to (\d{4}), weekly$/;

function readProvince(payload: Payload): Imported {
  const [title = '', ...lines] = linesOf(payload);
  const province = provinceOf(title, payload);
  const entity =
    REGIONS.get(`${province.country} ${province.name}`) ??
    `${province.country.toLowerCase()}-${province.number}`;
  const list = new ReadingList();
  const seen = new Set<number>();
  for (const line of lines.filter((text) => squeezed(text) !== HEADER)) {
    const { end, values } = weekOf(line, province.years, payload);
    if (seen.has(end)) throw fetchAgain(payload, `"${line.slice(0, 40)}" repeats a week`);
    seen.add(end);
    if (values === null) list.skips.add(entity, 'a week without data (-1)');
    else {
      list.add(
        'agriculture.crop-vhi',
        statedReading(ORIGIN, payload, {
          entity,
          entity_name: `${province.name}, ${province.country}`,
          at: end,
          current: values,
          scope: `mean of province ${province.number} of ${province.country} by the numbers of the agency, over a week, which its last day at 00:00Z stands for`,
        }),
      );
    }
  }
  return list.someOf(payload);
}

/** The table stands in markup, its first row in the line of the title. */
function linesOf(payload: Payload): string[] {
  const text = textOf(payload);
  if (!text.trimEnd().endsWith('</pre></tt>'))
    throw fetchAgain(payload, 'it does not end with </pre></tt>, so it may be cut off');
  return text
    .replaceAll(/<br>|<\/?tt>|<\/?pre>/g, '\n')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function provinceOf(title: string, payload: Payload) {
  const [, country = '', number = '', name = '', from, to] = TITLE.exec(title) ?? [];
  const begins = `"${title.slice(0, 60)}"`;
  if (country === '')
    throw fetchAgain(payload, `${begins} is not the title of a weekly mean of a province`);
  const query = new URL(payload.note.url).searchParams;
  const asked = [query.get('country') ?? country, query.get('provinceID') ?? number];
  if (asked[0] !== country || asked[1] !== number) {
    const state = `it holds ${country} ${number}, its address asks for ${asked.join(' ')}`;
    throw fetchAgain(payload, state);
  }
  return { country, number, name: name.trim(), years: [Number(from), Number(to)] as const };
}

const SENTINELS = [-1];

/** Weekly means of provinces: https://www.star.nesdis.noaa.gov/smcd/emb/vci/VH/vh_browse.php */
export const noaaStarVhi: Source = {
  ...registered('noaa-star-vhi'),
  version: 1,
  sentinels: SENTINELS,
  read: readProvince,
  asks: ({ entities, now }) => {
    const to = new Date(now).getUTCFullYear();
    const years = { from: String(to - YEARS_ASKED), to: String(to) };
    // What to ask the agency for; entities that are no province are left out, none at all stand for our own regions.
    const wanted = entities.length === 0 ? [...NUMBERS.keys()] : entities;
    return wanted.flatMap((entity) => {
      const [, country, province] = PROVINCE_ID.exec(NUMBERS.get(entity) ?? entity) ?? [];
      return country === undefined || province === undefined
        ? []
        : [{ with: { country: country.toUpperCase(), province, ...years }, about: entity }];
    });
  },
};

/** A newer form names the columns, all of them in the order that is read. */
const HEADER = 'year,week,smn,smt,vci,tci,vhi';
const WEEKS_A_YEAR = 52;
const COLUMNS = 7;

/** A row is `year,week, SMN,SMT, VCI, TCI, VHI,`; without data all five are -1, and its values are null. */
function weekOf(line: string, [from, to]: readonly [number, number], payload: Payload) {
  const cells = squeezed(line).split(',').map(numberOf);
  const [year, week, smn, smt, vci, tci, vhi] = cells.map((value) => value ?? Number.NaN) as Cells;
  const isWeek = Number.isInteger(year) && week >= 1 && week <= WEEKS_A_YEAR && week % 1 === 0;
  if (cells.length !== COLUMNS || cells.includes(null) || !isWeek || year < from || year > to) {
    const state = `"${line.slice(0, 60)}" is no week of ${from} to ${to} with five values`;
    throw fetchAgain(payload, state);
  }
  const end = weekEnd(year, week);
  if ([smn, smt, vci, tci, vhi].every((value) => SENTINELS.includes(value)))
    return { end, values: null };
  const indices = { vhi_index: vhi, vci_index: vci, tci_index: tci };
  if (
    isOdd(smn, -0.2, 1) ||
    isOdd(smt, 150, 350) ||
    Object.values(indices).some((value) => isOdd(value, 0, 100))
  ) {
    throw fetchAgain(payload, `"${line.slice(0, 60)}" has a value outside of its scale`);
  }
  return { end, values: { ...indices, ndvi_smn: smn, bt_smt_k: smt } };
}

type Cells = [number, number, number, number, number, number, number];

function isOdd(value: number, from: number, to: number): boolean {
  return value < from || value > to;
}

function squeezed(line: string): string {
  return line.replaceAll(' ', '').toLowerCase().replace(/,$/, '');
}

/** Weeks are seven days from 1 January on; the last one takes the rest of the year. */
function weekEnd(year: number, week: number): number {
  if (week === WEEKS_A_YEAR) return Date.UTC(year, 11, 31);
  return Date.UTC(year, 0, 1) + (week * 7 - 1) * DAY_MS;
}

/** Our regions that are one province, by country and the name that the agency prints. */
const REGIONS: ReadonlyMap<string, string> = new Map([
  ['USA Iowa', 'us-iowa'],
  ['USA Illinois', 'us-illinois'],
  ['USA Nebraska', 'us-nebraska'],
  ['USA Kansas', 'us-kansas'],
  ['BRA Mato Grosso', 'br-matogrosso'],
  ['AUS New South Wales', 'au-nsw'],
  ['IND Punjab', 'in-punjab'],
]);
/** Provinces that stand for regions of ours, by the numbers that the agency gives those of a country in order of names. */
const NUMBERS: ReadonlyMap<string, string> = new Map([
  ['us-iowa', 'usa-16'],
  ['us-illinois', 'usa-14'],
  ['us-nebraska', 'usa-28'],
  ['us-kansas', 'usa-17'],
]);
const PROVINCE_ID = /^([a-z]{3})-([1-9]\d{0,2})$/;

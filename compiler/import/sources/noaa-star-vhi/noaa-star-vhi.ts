import { fetchAgain } from '../../fetch-again.ts';
import { type Imported, type Payload, textOf } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import type { Source } from '../../source.ts';
import { type Origin, statedReading } from '../../stated-reading.ts';
import { entityOf, type Province, provincesAsked } from './vhi-provinces.ts';
import { type Announced, isHeader, weekOf } from './vhi-weeks.ts';

const SERVICE = 'https://www.star.nesdis.noaa.gov/smcd/emb/vci/VH/get_TS_admin.php';
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
  const entity = entityOf(province);
  const list = new ReadingList();
  const seen = new Set<number>();
  for (const line of lines.filter((text) => !isHeader(text))) {
    const { end, values } = weekOf(line, province, payload);
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

function provinceOf(title: string, payload: Payload): Province & Announced {
  const [, country = '', number = '', name = '', from, to] = TITLE.exec(title) ?? [];
  if (country === '')
    throw fetchAgain(
      payload,
      `"${title.slice(0, 60)}" is not the title of a weekly mean of a province`,
    );
  const query = new URL(payload.note.url).searchParams;
  const asked = [query.get('country') ?? country, query.get('provinceID') ?? number];
  if (asked[0] !== country || asked[1] !== number) {
    throw fetchAgain(
      payload,
      `it holds ${country} ${number}, its address asks for ${asked.join(' ')}`,
    );
  }
  return { country, number, name: name.trim(), years: [Number(from), Number(to)] };
}

/** Weekly means of provinces: https://www.star.nesdis.noaa.gov/smcd/emb/vci/VH/vh_browse.php */
export const noaaStarVhi: Source = {
  id: 'noaa-star-vhi',
  agency: 'NOAA Center for Satellite Applications and Research',
  version: 1,
  format: 'text',
  feeds: ['agriculture.crop-vhi'],
  read: readProvince,
  fetch: {
    hosts: ['www.star.nesdis.noaa.gov'],
    addresses: ({ entities, now }) => {
      const to = new Date(now).getUTCFullYear();
      const years = `year1=${to - YEARS_ASKED}&year2=${to}&type=Mean`;
      return provincesAsked(entities).map(
        ({ country, number }) => `${SERVICE}?country=${country}&provinceID=${number}&${years}`,
      );
    },
    accept: 'text/html, text/plain',
    mediaTypes: ['text/html'],
    everyMinutes: 24 * 60,
    perMinute: 6,
  },
};

import { builtinRuler } from '../../catalog/builtin.ts';
import { HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { originOf } from '../kit/entries.ts';
import { fetchAgain, type Imported, type Payload } from '../kit/payload.ts';
import { nameOf, ReadingList, statedReading } from '../kit/readings.ts';
import { isWanted, registered, type Source } from '../kit/source.ts';
import { issueOf, productIn, refuseProduct, type TextProduct } from '../kit/text-product.ts';

// Tropical weather outlooks, https://www.nhc.noaa.gov/aboutnhcprod.shtml; their wording was read in outlooks that public
// programs keep for their tests.

const BASINS: Readonly<Record<string, readonly [entity: string, file: string]>> = {
  TWOAT: ['atlantic', 'ab/abnt20.knhc.two.at.txt'],
  TWOEP: ['epacific', 'ab/abpz20.knhc.two.ep.txt'],
  TWOCP: ['cpacific', 'ac/acpn50.phfo.two.cp.txt'],
};
const ORIGIN = originOf('NOAA National Hurricane Center', 'https://www.nhc.noaa.gov/gtwo.php', {
  role: 'publication',
  status: 'as published by NHC',
});
const RULER = builtinRuler('formation-chance');
/** An outlook is written every six hours of the season: an older one does not say what there is now. */
const AGE_HOURS_MAX = 12;
const CHANCE =
  /\* ?Formation chance through (48 hours|7 days)\.{2,3} ?(low|medium|high)\.{2,3} ?(?:near )?(\d{1,3}) percent\./gi;
/** The beginning of each statement of a chance, whether the rest of it can be read or not. */
const ANY_CHANCE = /Formation chance through/gi;
const NONE =
  /Tropical cyclone (?:formation|activity) is not expected during the next (?:7|seven) days/i;

function read(payload: Payload): Imported {
  const product = productIn(payload);
  if (product === null) throw fetchAgain(payload, 'not a text product of the weather service');
  const basin = BASINS[product.name.replace(/^(?:MIA|HFO)/, '')];
  if (basin === undefined)
    refuseProduct(payload.subject, product, 'an outlook (TWOAT, TWOEP, TWOCP) in its place');
  const { at } = issueOf(product, payload);
  if (Date.parse(payload.note.fetched_at) - at > AGE_HOURS_MAX * HOUR_MS)
    throw fetchAgain(payload, `an outlook of ${isoTime(at)}, stale when it was fetched`);
  const [entity] = basin;
  const list = new ReadingList();
  const stated = {
    entity,
    ...nameOf('hurricane', entity),
    at,
    current: chancesIn(product, payload),
    scope:
      'published chances of each disturbance, the highest of seven days first; "near 0" is 0; without any disturbance the band is none',
  };
  list.add('hurricane.formation-outlook', statedReading(ORIGIN, payload, stated));
  return list.imported();
}

function chancesIn({ lines }: TextProduct, payload: Payload) {
  const text = lines.join(' ').replace(/\s+/g, ' ');
  const found = [...text.matchAll(CHANCE)].map(([, span = '', word = '', percent]) => ({
    isWeek: span.startsWith('7'),
    word: word.toLowerCase(),
    percent: Number(percent),
  }));
  const [week, days] = [true, false].map((isWeek) => found.filter((one) => one.isWeek === isWeek));
  const stated = text.match(ANY_CHANCE)?.length ?? 0;
  if (stated !== found.length || week?.length !== days?.length)
    throw fetchAgain(payload, 'a chance of formation that cannot be read');
  const wrong = week?.find(({ word, percent }) => bandOf(percent) !== word || percent > 100);
  if (wrong !== undefined)
    throw fetchAgain(payload, `it calls ${wrong.percent} percent ${wrong.word}`);
  if (found.length === 0 && !NONE.test(text))
    throw fetchAgain(payload, 'it states no chance of formation, and not that there is none');
  const [most, soonest] = [week, days].map((list = []) =>
    list.length === 0 ? null : Math.max(...list.map(({ percent }) => percent)),
  );
  return {
    formation_7d_pct: most ?? null,
    band: most == null ? 'none' : bandOf(most),
    formation_48h_pct: soonest ?? null,
    disturbances_count: week?.length ?? 0,
  };
}

/** The word for a chance: 40 and 60 percent are medium. */
function bandOf(percent: number): string {
  const reached = RULER.steps.findLast(({ at, edge }) =>
    edge === 'milder' ? percent > at : percent >= at,
  );
  return reached?.band ?? 'low';
}

export const nhcFormation: Source = {
  ...registered('nhc-formation'),
  version: 1,
  read,
  asks: (asked) =>
    Object.values(BASINS)
      .filter(([entity]) => isWanted(asked, entity))
      .map(([, file]) => ({ with: { file } })),
};

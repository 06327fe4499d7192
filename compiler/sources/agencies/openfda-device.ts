import { z } from 'zod';
import { DAY_MS } from '../../format/iso-time.ts';
import { firstTwice } from '../../format/lists.ts';
import { memberText, originOf, plainDay, readableEntries } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import { ReadingList, statedReading } from '../kit/readings.ts';
import { isWanted, registered, type Source } from '../kit/source.ts';
import { stateReading, yearReading } from '../kit/subjects.ts';

// Devices in three lists of openFDA: https://open.fda.gov/apis/device/ (udi, recall, event). Fields as its reference names
// them; how status words, dates and quantities look was read in tests and schemas of public clients.

/** Kinds of device by the product code of the FDA, each a line of ours as `fda-qbj` (the choice is ours). */
const KINDS: Readonly<Record<string, string>> = {
  qbj: 'continuous glucose monitors, integrated',
  qfg: 'insulin pumps, alternate controller enabled',
  lzg: 'insulin infusion pumps',
  bzd: 'ventilators, non-continuous (CPAP)',
  nbw: 'glucose test systems, over the counter',
  cbk: 'ventilators, continuous',
  frn: 'infusion pumps',
  lws: 'implantable cardioverter defibrillators',
  mkj: 'automated external defibrillators',
  dxy: 'implantable pacemaker pulse generators',
};
const ORIGIN = originOf('US Food and Drug Administration', 'https://open.fda.gov/apis/device/', {
  status: 'as published by openFDA, which asks not to rely on it for medical care',
});
/** What openFDA gives at most in one answer. */
const ENTRIES_MAX = 1000;
const REPORT_DAYS = 30;

const answerSchema = z.looseObject({
  meta: z.looseObject({
    last_updated: z.string().refine((text) => dayTime(text) !== null, 'not a day'),
    results: z.looseObject({ total: z.int().min(0) }).optional(),
  }),
  results: z.array(z.unknown()),
});
const isoDay = z.string().refine((text) => dayTime(text) !== null, 'not a day');
const deviceSchema = z.looseObject({
  brand_name: z.string().min(1),
  publish_date: isoDay.optional(),
  commercial_distribution_status: z.enum([
    'In Commercial Distribution',
    'Not in Commercial Distribution',
  ]),
  commercial_distribution_end_date: isoDay.optional(),
  identifiers: z.array(z.looseObject({ id: z.string(), type: z.string() })),
});
const recallSchema = z.looseObject({
  product_res_number: z.string().min(1),
  recall_status: z.enum(['Open', 'Open, Classified', 'Completed', 'Terminated']),
  product_quantity: z.string().optional(),
});
const countSchema = z.strictObject({
  time: z.string().refine((text) => plainDay(text) !== null, 'not a day such as 20261130'),
  count: z.int().min(0),
});

interface Answer {
  readonly payload: Payload;
  readonly list: ReadingList;
  readonly entity: string;
  readonly kind: string;
  readonly results: readonly unknown[];
  /** Whether these are all that the agency has. */
  readonly isWhole: boolean;
  /** Day of the data, in epoch milliseconds. */
  readonly at: number;
}

function read(payload: Payload): Imported {
  const { note } = payload;
  const url = new URL(note.url);
  const asked = url.searchParams.get('search') ?? '';
  const code = /product_code(?:s\.code)?:"([A-Z]{3})"/.exec(asked)?.[1]?.toLowerCase() ?? '';
  const kind = KINDS[code];
  if (kind === undefined) throw fetchAgain(payload, 'its address asks for no product code of ours');
  const { meta, results } = jsonOf(payload, answerSchema, 'an answer of openFDA about devices');
  const list = new ReadingList();
  const at = dayTime(meta.last_updated) ?? Number.NaN;
  const isWhole = (meta.results?.total ?? results.length) === results.length;
  const answer = { payload, list, entity: `fda-${code}`, kind, results, isWhole, at };
  if (url.pathname.endsWith('/udi.json')) addDevices(answer);
  else if (url.pathname.endsWith('/recall.json')) addRecalls(answer);
  else addReports(answer);
  return list.someOf(payload);
}

/** Every device of a kind by its identifier, and what began and ended among them in a year. */
function addDevices({ payload, list, entity, kind, results, isWhole, at }: Answer): void {
  const of = memberText('brand_name');
  const { read: devices, unread } = readableEntries(results, deviceSchema, { list, of });
  const subjects = devices.flatMap((device) => {
    const id = device.identifiers.find(({ type }) => type === 'Primary')?.id;
    const isSold = device.commercial_distribution_status === 'In Commercial Distribution';
    const end = dayTime(device.commercial_distribution_end_date ?? '');
    const birth = dayTime(device.publish_date ?? '');
    const isOver = end !== null && end <= at;
    const isContrary = isSold ? isOver : end !== null && !isOver;
    if (id === undefined || !/^(?=.*\d)\w[\w.-]{5,59}$/.test(id) || isContrary) {
      list.skips.add(device.brand_name.slice(0, 60), 'no identifier, or a status against its end');
      return [];
    }
    const state = isSold ? 'operating' : 'ended';
    return [
      {
        entity: `udi-${id}`,
        entity_name: device.brand_name,
        state,
        birth,
        end: isSold ? null : end,
      },
    ];
  });
  const twice = firstTwice(subjects.map((one) => one.entity));
  if (twice !== undefined) throw fetchAgain(payload, `it lists ${twice} twice`);
  const about = `in the register of unique device identifiers (GUDID), product code of ${kind}`;
  const scope = `device ${about}; in commercial distribution is "operating"; its age counts from the publication of its record`;
  const statement = { origin: ORIGIN, payload, at, scope };
  for (const subject of subjects)
    list.add('med-device.lifecycle', stateReading(subject, statement));
  const isKnown = isWhole && unread === 0 && subjects.length === devices.length;
  const ended = subjects.filter(({ state }) => state === 'ended');
  const year = {
    entity,
    ends: isKnown ? ended.map(({ end }) => end) : [null],
    births: isKnown ? subjects.map(({ birth }) => birth) : [null],
  };
  const all = {
    ...statement,
    scope: `devices ${about}: ends of commercial distribution, and first publications`,
  };
  list.add('med-device.industry-timeline', yearReading(year, all));
}

/** Units as firms write them: "1,250 units". Anything else leaves the sum open. */
const QUANTITY =
  /^(\d{1,3}(?:,\d{3})+|\d{1,9})(?: (?:units?|devices?|pumps?|systems?|sensors?|monitors?|meters?|ventilators?|pieces?|pcs|each|ea))?\.?$/i;

function addRecalls({ payload, list, entity, kind, results, isWhole, at }: Answer): void {
  if (!isWhole) throw fetchAgain(payload, 'it does not hold all recalls');
  const of = memberText('product_res_number');
  const { read: recalls, unread } = readableEntries(results, recallSchema, { list, of });
  const open = recalls.filter(({ recall_status }) => recall_status.startsWith('Open'));
  const units = open.map(({ product_quantity }) =>
    Number(QUANTITY.exec(product_quantity?.trim() ?? '')?.[1]?.replaceAll(',', '') ?? Number.NaN),
  );
  const sum = units.reduce((total, one) => total + one, 0);
  const current = {
    units_recalled_count: unread > 0 || Number.isNaN(sum) ? null : sum,
    recalls_in_force_count: unread > 0 ? null : open.length,
  };
  const scope = `recalls of products of the code of ${kind} that are open; completed and terminated ones are not in force; units as firms state them, null where one states something else`;
  const reading = statedReading(ORIGIN, payload, { entity, at, current, scope });
  list.add('med-device.recall-cascade', reading);
}

/** Reports of the 30 days up to the newest day that has any: the list is late, and says nothing of later days. */
function addReports({ payload, list, entity, kind, results }: Answer): void {
  const of = memberText('time');
  const { read: days, unread } = readableEntries(results, countSchema, { list, of });
  const times = days.map(({ time, count }) => ({ at: plainDay(time) ?? 0, count }));
  const newest = Math.max(...times.map(({ at }) => at));
  if (times.length === 0) throw fetchAgain(payload, 'it counts no day');
  const sum = times
    .filter(({ at }) => at > newest - REPORT_DAYS * DAY_MS)
    .reduce((total, { count }) => total + count, 0);
  const stated = {
    entity,
    at: newest,
    current: { adverse_reports_30d_count: unread > 0 ? null : sum },
    scope: `adverse event reports that name the product code of ${kind}, by the day of receipt, in the ${REPORT_DAYS} days up to the newest one with any; a report is no finding of a cause`,
  };
  list.add('med-device.adverse-event', statedReading(ORIGIN, payload, stated));
}

export const openfdaDevice: Source = {
  ...registered('openfda-device'),
  version: 1,
  read,
  asks: (asked) =>
    Object.keys(KINDS)
      .filter((code) => isWanted(asked, `fda-${code}`))
      .flatMap((code) => {
        const values = { code: code.toUpperCase(), limit: String(ENTRIES_MAX) };
        const about = `fda-${code}`;
        return ['devices', 'recalls', 'reports'].map((to) => ({ to, with: values, about }));
      }),
};

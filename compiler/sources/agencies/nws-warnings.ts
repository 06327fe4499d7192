import { z } from 'zod';
import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import { firstTwice } from '../../format/lists.ts';
import type { Reading } from '../../readings/reading.ts';
import { ImportError, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import { mainValue, measuredBy, nameOf, ReadingList } from '../kit/readings.ts';
import { CONVECTION_AREAS, convectionScope, mayLieIn, regionsIn, widened } from '../kit/regions.ts';
import { registered, type Source } from '../kit/source.ts';
import { productIn, refuseProduct, type TextProduct } from '../kit/text-product.ts';
import { dayOfReports, MOVED_DEGREES_MAX, relayedReports, textReports } from './storm-reports.ts';

const AGENCY = 'NOAA National Weather Service';
const ALERT_HOST = 'api.weather.gov';
const REPORT_HOST = 'mesonet.agron.iastate.edu';
const WARNINGS = 'severe-convection.active-warning-state';
const REALIZED = 'severe-convection.realized-severe-reports';

/** What all readings of a region have; its scope and where it comes from are added. */
function regionReading(
  { entity, at, collectedAt }: { entity: string; at: string; collectedAt: string },
  current: Reading['current'],
) {
  return {
    entity,
    ...nameOf('severe-convection', entity),
    observed_at: at,
    collected_at: collectedAt,
    current,
    sources: measuredBy(AGENCY, mainValue(current), at),
    grade: 'preliminary',
    validation_status: 'as published by NWS',
    uncertainty: 'not stated in the payload',
  };
}

/** A region says nothing where a part of it was not asked for. */
function skipOthers(list: ReadingList, read: readonly string[]): void {
  for (const entity of CONVECTION_AREAS.keys()) {
    if (!read.includes(entity)) list.skips.add(entity, 'a part of it was not asked for');
  }
}

/** What a region is under, by the event code of the alert: phenomenon and significance. */
const KINDS = {
  'TO.W': { event: 'Tornado Warning', band: 'tornado-warning' },
  'SV.W': { event: 'Severe Thunderstorm Warning', band: 'svr-warning' },
  'TO.A': { event: 'Tornado Watch', band: 'watch' },
  'SV.A': { event: 'Severe Thunderstorm Watch', band: 'watch' },
} as const;
type Code = keyof typeof KINDS;
const CODES: readonly Code[] = ['TO.W', 'SV.W', 'TO.A', 'SV.A'];
const EVENTS: readonly string[] = CODES.map((code) => KINDS[code].event);

/** Parameters of an address that leave the four events of the asked states whole, with what they must name. */
const WHOLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['area', []],
  ['event', EVENTS],
  ['status', ['actual']],
  ['message_type', ['alert', 'update']],
]);
const PATH = /^\/alerts\/active(?:\/area\/([A-Z]{2}))?$/;

/** The states that an address asks for; null for all. Throws an ImportError where it leaves out some of them. */
function askedStates({ note, subject }: Payload): readonly string[] | null {
  const { pathname, searchParams } = new URL(note.url);
  const path = PATH.exec(pathname);
  const named = [...searchParams].map(([name, value]) => ({ name, values: value.split(',') }));
  const narrow = named.find(({ name, values }) => {
    const needed = WHOLE.get(name);
    return needed === undefined || !needed.every((word) => values.includes(word));
  });
  if (path === null || narrow !== undefined) {
    const what = path === null ? pathname : `"${narrow?.name}"`;
    const state = `its address does not ask for all alerts (${what}); fetch /alerts/active, with "area" at most`;
    throw new ImportError({ subject, state });
  }
  const areas = named.flatMap(({ name, values }) => (name === 'area' ? values : []));
  const states = [...areas, ...(path[1] === undefined ? [] : [path[1]])];
  return states.length === 0 ? null : states;
}

/** Actions after which an event no longer holds where the alert is for. */
const ENDED: readonly string[] = ['CAN', 'EXP', 'UPG'];
const GRAVE = /PARTICULARLY DANGEROUS SITUATION|TORNADO EMERGENCY/i;
const GRAVE_TAGS: readonly string[] = ['CONSIDERABLE', 'CATASTROPHIC'];
const VTEC =
  /^\/([OTEX])\.(NEW|CON|EXT|EXA|EXB|UPG|CAN|EXP|COR|ROU)\.([A-Z]{4})\.([A-Z]{2}\.[A-Z])\.(\d{4})\.\d{6}T\d{4}Z-\d{6}T\d{4}Z\/$/;

const time = z.iso.datetime({ offset: true });
const alertSchema = z.looseObject({
  type: z.literal('Feature'),
  properties: z.looseObject({
    id: z.string().min(1),
    event: z.string().min(1),
    geocode: z.looseObject({ UGC: z.array(z.string().regex(/^[A-Z]{2}[CZ]\d{3}$/)).min(1) }),
    parameters: z.looseObject({ VTEC: z.array(z.string().regex(VTEC)).min(1).optional() }),
  }),
});
const convectiveSchema = z.looseObject({
  geocode: z.looseObject({ SAME: z.array(z.string().regex(/^\d{6}$/)) }),
  references: z.array(z.looseObject({ identifier: z.string().min(1) })),
  sent: time,
  expires: time,
  ends: time.nullable(),
  status: z.enum(['Actual', 'Exercise', 'System', 'Test', 'Draft']),
  messageType: z.enum(['Alert', 'Update', 'Cancel']),
  description: z.string().min(1),
  parameters: z.looseObject({
    tornadoDamageThreat: z.array(z.string()).optional(),
    NWSheadline: z.array(z.string()).optional(),
  }),
});
const listSchema = z.looseObject({
  type: z.literal('FeatureCollection'),
  features: z.array(z.unknown()),
  pagination: z.undefined('only one page of the alerts').optional(),
});
type Alert = z.infer<typeof alertSchema>['properties'];

interface ActiveEvent {
  readonly code: Code;
  readonly band: string;
  /** The number of a watch counts for the country, that of a warning for its office. */
  readonly key: string;
  readonly zones: readonly string[];
  readonly isGrave: boolean;
}

/** An alert that cannot be read, with its zones and the alerts that it replaces; null for what cannot be read either. */
interface UnreadAlert extends z.infer<typeof zonedSchema> {
  readonly why: string;
}
const zonedSchema = z
  .looseObject({
    properties: z.looseObject({
      geocode: alertSchema.shape.properties.shape.geocode.nullable().catch(null),
      references: convectiveSchema.shape.references.nullable().catch(null),
    }),
  })
  .transform(({ properties: { geocode, references } }) => ({
    zones: geocode?.UGC ?? null,
    replaced: references?.map(({ identifier }) => identifier) ?? null,
  }))
  .catch({ zones: null, replaced: null });

/**
 * Watches and warnings in force for every region that lies in the asked states as a whole, and why nothing can be said of
 * one. Throws an ImportError for another payload, and for an address that leaves something out.
 */
function convectiveAlerts(payload: Payload) {
  const { subject } = payload;
  const { features } = jsonOf(payload, listSchema, 'a list of alerts');
  const states = askedStates(payload);
  const unread: UnreadAlert[] = [];
  const alerts = features.flatMap((given, at) => {
    const { data, error } = alertSchema.safeParse(given);
    if (data !== undefined) return [data.properties];
    unread.push({ ...zonedSchema.parse(given), why: `${at}.${error.issues[0]?.path.join('.')}` });
    return [];
  });
  checkSubjects(alerts, { states, subject });
  const active = activeEvents(alerts, payload, unread);
  return regionsIn(states).map(([entity, region]) => {
    const isIn = (zones: readonly string[]) => zones.some((zone) => region.zones.has(zone));
    const own = active.filter(({ zones }) => isIn(zones));
    // What it replaces may hold no longer, also where it does not hold itself.
    const doubt = unread.find(({ zones, replaced }) => {
      if (zones === null || replaced === null) return true;
      const before = alerts.filter(({ id }) => replaced.includes(id));
      return isIn([...zones, ...before.flatMap(({ geocode }) => geocode.UGC)]);
    });
    const why = doubt === undefined ? null : `an alert that cannot be read (${doubt.why})`;
    return { entity, region, why, events: [...new Map(own.map((one) => [one.key, one])).values()] };
  });
}

function checkSubjects(
  alerts: readonly Alert[],
  { states, subject }: { readonly states: readonly string[] | null; readonly subject: string },
): void {
  const twice = firstTwice(alerts.map(({ id }) => id));
  const foreign = alerts.find(
    ({ geocode }) =>
      states !== null && !geocode.UGC.some((zone) => states.includes(zone.slice(0, 2))),
  );
  if (twice === undefined && foreign === undefined) return;
  const state =
    twice === undefined
      ? `alert ${foreign?.id} is of another state than its address asks for; correct the fetch note`
      : `alert ${twice} is listed twice; fetch it again`;
  throw new ImportError({ subject, state });
}

function activeEvents(
  alerts: readonly Alert[],
  { note, subject }: Payload,
  unread: UnreadAlert[],
): ActiveEvent[] {
  const fetched = Date.parse(note.fetched_at);
  const read = alerts.flatMap((alert) => {
    const code = codeOf(alert);
    if (code === null) return [];
    const { data: own, error } = convectiveSchema.safeParse(alert);
    const fault =
      own === undefined
        ? String(error.issues[0]?.path.join('.'))
        : ((code === 'unread' ? 'event' : null) ?? countyFault(alert, own));
    if (own === undefined || fault !== null || code === 'unread') {
      const { zones, replaced } = zonedSchema.parse({ properties: alert });
      const counties = own === undefined || countyFault(alert, own) === null ? [] : countiesOf(own);
      unread.push({
        zones: [...(zones ?? []), ...counties],
        replaced,
        why: `${alert.id}: ${fault}`,
      });
      return [];
    }
    if (Date.parse(own.sent) > fetched) {
      const state = `alert ${alert.id} was sent after the fetch; correct the fetch note`;
      throw new ImportError({ subject, state });
    }
    return [{ alert, code, own }];
  });
  const replaced = new Set(read.flatMap(({ own }) => own.references.map((one) => one.identifier)));
  return read
    .filter(({ alert }) => !replaced.has(alert.id))
    .filter(({ own }) => isInForce(own, fetched))
    .flatMap(({ alert, code, own }) => {
      const texts = [own.description, ...(own.parameters.NWSheadline ?? [])];
      const tags = own.parameters.tornadoDamageThreat ?? [];
      const isGrave =
        texts.some((text) => GRAVE.test(text.replaceAll(/\s+/g, ' '))) ||
        tags.some((tag) => GRAVE_TAGS.includes(tag));
      return (alert.parameters.VTEC ?? []).flatMap((text) => {
        const [, mode, action = '', office = '', , number = ''] = VTEC.exec(text) ?? [];
        if (mode !== 'O' || ENDED.includes(action)) return [];
        const key = code.endsWith('.A') ? `${code}.${number}` : `${office}.${code}.${number}`;
        return [{ code, band: KINDS[code].band, key, zones: alert.geocode.UGC, isGrave }];
      });
    });
}

type OwnAlerts = z.infer<typeof convectiveSchema>;

/** The kind of an alert of the four events, whose name and code must say the same; null for another event. */
function codeOf({ event, parameters }: Alert): Code | 'unread' | null {
  const named = CODES.find((code) => KINDS[code].event === event) ?? null;
  const coded = (parameters.VTEC ?? []).map((text) => VTEC.exec(text)?.[4]);
  const isAgreed =
    named === null
      ? !coded.some((code) => CODES.some((known) => known === code))
      : coded.length > 0 && coded.every((code) => code === named);
  return isAgreed ? named : 'unread';
}

/** What is wrong with the counties of an alert, which it lists in two codes; null for nothing. */
function countyFault({ geocode }: Alert, own: OwnAlerts): string | null {
  const [zones, counties] = [geocode.UGC, own.geocode.SAME].map((codes) =>
    codes
      .map((code) => code.slice(-3))
      .sort()
      .join(' '),
  );
  return zones === counties ? null : 'geocode: other counties in UGC than in SAME';
}

/** Its counties by their numbers, in any state: its other code may be right. */
function countiesOf({ geocode }: OwnAlerts): string[] {
  const states = [...CONVECTION_AREAS.values()].flatMap((region) => region.states);
  return geocode.SAME.flatMap((code) => states.map((state) => `${state}C${code.slice(-3)}`));
}

function isInForce({ status, messageType, ends, expires }: OwnAlerts, fetched: number): boolean {
  const end = Date.parse(ends ?? expires);
  return status === 'Actual' && messageType !== 'Cancel' && end > fetched;
}

const ALERTS = `https://${ALERT_HOST}/alerts/active`;
const REPORTS = `https://${REPORT_HOST}/geojson/lsr.geojson`;

/** Alerts: https://www.weather.gov/documentation/services-web-api. Reports: https://mesonet.agron.iastate.edu/geojson/lsr.geojson?help */
export const nwsWarnings: Source = {
  ...registered('nws-warnings'),
  version: 3,
  read: (payload) => {
    const product = productIn(payload);
    if (product?.name.startsWith('LSR')) return readReportText(product, payload);
    if (product !== null) {
      refuseProduct(payload.subject, product, `${ALERTS}, which says what else is in force`);
    }
    const { host } = new URL(payload.note.url);
    if (host === ALERT_HOST) return readAlerts(payload);
    if (host === REPORT_HOST) {
      const { reports, unread, states, end } = relayedReports(payload);
      const list = new ReadingList();
      const regions = regionsIn(states);
      const read = regions.map(([entity]) => entity);
      skipOthers(list, read);
      for (const [entity, region] of regions) {
        const about = { entity, at: isoTime(end), collectedAt: payload.note.fetched_at };
        // It may be a correction, which may have moved what it corrects.
        const box = widened(region.box, MOVED_DEGREES_MAX);
        const own = unread.filter(({ places }) => places.some((one) => mayLieIn(box, one)));
        for (const { why } of own) list.skips.unread(entity, why);
        const isWhole = own.length === 0;
        const { count, facts } = dayOfReports(reports, region, { end, isWhole });
        const base = regionReading(about, { reports_24h_count: count, ...facts });
        list.add(REALIZED, {
          ...base,
          ...(isWhole ? {} : { qualifiers: [String(own[0]?.why).slice(0, 200)] }),
          sources: base.sources.map((source) => ({
            ...source,
            name: 'Iowa Environmental Mesonet',
            independent: false,
            relay_of: AGENCY,
          })),
          scope: `${SEVERE}; ${convectionScope(region)}`,
          source_ref: `https://${REPORT_HOST}/lsr/`,
          source_tier: 'T2',
        });
      }
      return list.someOf(payload);
    }
    const state = `the fetch note is of ${host}; give one of ${ALERTS} or ${REPORTS}`;
    throw new ImportError({ subject: payload.subject, state });
  },
  asks: ({ now }) => {
    const minute = (epochMs: number): string => `${isoTime(epochMs).slice(0, 16)}Z`;
    return [
      { to: 'alerts', with: { events: EVENTS.map(encodeURIComponent).join(',') } },
      { to: 'reports', with: { from: minute(now - DAY_MS - 60_000), to: minute(now) } },
    ];
  },
};

function readAlerts(payload: Payload): Imported {
  const { fetched_at } = payload.note;
  const list = new ReadingList();
  const all = convectiveAlerts(payload);
  const read = all.map(({ entity }) => entity);
  skipOthers(list, read);
  for (const alerts of all) {
    const scope = `tornado and severe thunderstorm watches and warnings for counties of the region, which has half of their area or more; ${convectionScope(alerts.region)}`;
    const about = { entity: alerts.entity, at: fetched_at, collectedAt: fetched_at };
    const of = (code: string): number =>
      alerts.events.filter((event) => event.code === code).length;
    const { why } = alerts;
    if (why !== null) list.skips.unread(alerts.entity, why);
    const known = <Value>(value: Value): Value | null => (why === null ? value : null);
    const bands = alerts.events.map(({ band, isGrave }) => (isGrave ? 'pds-emergency' : band));
    const order = ['none', 'watch', 'svr-warning', 'tornado-warning', 'pds-emergency'];
    list.add(WARNINGS, {
      ...regionReading(about, {
        active_alerts_count: known(alerts.events.length),
        band: known(order.findLast((band) => bands.includes(band)) ?? 'none'),
        tornado_warnings_count: known(of('TO.W')),
        severe_thunderstorm_warnings_count: known(of('SV.W')),
        watches_count: known(of('TO.A') + of('SV.A')),
      }),
      ...(why === null ? {} : { qualifiers: [why.slice(0, 200)] }),
      scope,
      source_ref: `https://${ALERT_HOST}/alerts/active`,
      source_tier: 'T1',
    });
  }
  return list.someOf(payload);
}

const SEVERE =
  'tornadoes, hail from 1.00 in, thunderstorm gusts from 58 mph and thunderstorm wind damage of 24 hours';

/** One office, one product: what it lists is known, what it does not list is not. */
function readReportText(product: TextProduct, payload: Payload): Imported {
  const list = new ReadingList();
  const { issue, reports } = textReports(product, payload, list.skips);
  for (const [entity, region] of regionsIn(null)) {
    const { count, facts } = dayOfReports(reports, region, { end: issue.at });
    if (count === null) list.skips.unread(entity, 'a size that is not told, or a correction of it');
    if (count === null || count === 0) continue;
    const about = { entity, at: isoTime(issue.at), collectedAt: payload.note.fetched_at };
    const current = { reports_24h_count: null, ...facts, listed_reports_count: count };
    list.add(REALIZED, {
      ...regionReading(about, current),
      scope: `${SEVERE} that product ${product.name} lists; others of the region are not in it, so its band is the least that holds; ${convectionScope(region)}`,
      source_ref: 'https://www.weather.gov/',
      source_tier: 'T1',
    });
  }
  const old = reports.filter(({ at }) => at <= issue.at - DAY_MS).length;
  if (old > 0) list.skips.add(product.name, 'older than a day at its issue', old);
  if (list.count === 0 && list.skips.list().length === 0 && reports.length > old) {
    list.skips.add(product.name, 'milder than severe, or in no region', reports.length - old);
  }
  return list.someOf(payload);
}

import { DAY_MS, isoTime } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { convectionScope, regionsIn } from '../../convection-regions.ts';
import { ImportError, type Imported, type Payload } from '../../payload.ts';
import { ReadingList } from '../../readings.ts';
import type { Source } from '../../source.ts';
import { productIn, refuseProduct, type TextProduct } from '../../text-product.ts';
import { convectiveAlerts, type RegionAlerts } from './convective-alerts.ts';
import {
  AGENCY,
  ALERT_HOST,
  EVENTS,
  REALIZED,
  REPORT_HOST,
  regionReading,
  skipOthers,
  WARNINGS,
} from './region-reading.ts';
import { relayedReports } from './relayed-reports.ts';
import { textReports } from './report-text.ts';
import { type DayOfReports, dayOfReports } from './storm-reports.ts';

const ALERTS = `https://${ALERT_HOST}/alerts/active`;
const REPORTS = `https://${REPORT_HOST}/geojson/lsr.geojson`;

/** What a payload is follows from what it is or where it was asked for: an empty list looks alike everywhere. */
function readWarnings(payload: Payload): Imported {
  const product = productIn(payload);
  if (product?.name.startsWith('LSR')) return readReportText(product, payload);
  if (product !== null) {
    refuseProduct(payload.subject, product, `${ALERTS}, which says what else is in force`);
  }
  const { host } = new URL(payload.note.url);
  if (host === ALERT_HOST) return readAlerts(payload);
  if (host === REPORT_HOST) return readRelayed(payload);
  const state = `the fetch note is of ${host}; give one of ${ALERTS} or ${REPORTS}`;
  throw new ImportError({ subject: payload.subject, state });
}

/** Alerts: https://www.weather.gov/documentation/services-web-api. Reports: https://mesonet.agron.iastate.edu/geojson/lsr.geojson?help */
export const nwsWarnings: Source = {
  id: 'nws-warnings',
  agency: AGENCY,
  version: 2,
  format: 'json',
  feeds: [WARNINGS, REALIZED],
  read: readWarnings,
  fetch: {
    hosts: [ALERT_HOST, REPORT_HOST],
    addresses: ({ now }) => {
      const minute = (epochMs: number): string => `${isoTime(epochMs).slice(0, 16)}Z`;
      return [
        `${ALERTS}?status=actual&event=${EVENTS.map(encodeURIComponent).join(',')}`,
        `${REPORTS}?sts=${minute(now - DAY_MS - 60_000)}&ets=${minute(now)}`,
      ];
    },
    accept: 'application/geo+json',
    everyMinutes: 15,
    perMinute: 6,
    needsContact: true,
  },
};

/** A reading of every region that was asked for as a whole. */
function readAlerts(payload: Payload): Imported {
  const { fetched_at } = payload.note;
  const list = new ReadingList();
  const all = convectiveAlerts(payload);
  skipOthers(
    list,
    all.map(({ entity }) => entity),
  );
  for (const alerts of all) {
    const scope = `tornado and severe thunderstorm watches and warnings for counties of the region, which has half of their area or more; ${convectionScope(alerts.region)}`;
    const about = { entity: alerts.entity, at: fetched_at, collectedAt: fetched_at };
    list.add(WARNINGS, {
      ...regionReading(about, alertCounts(alerts)),
      scope,
      source_ref: `https://${ALERT_HOST}/alerts/active`,
      source_tier: 'T1',
    });
  }
  return list.someOf(payload);
}

function alertCounts({ events }: RegionAlerts): Reading['current'] {
  const of = (code: string): number => events.filter((event) => event.code === code).length;
  const bands = events.map(({ band, isGrave }) => (isGrave ? 'pds-emergency' : band));
  const order = ['none', 'watch', 'svr-warning', 'tornado-warning', 'pds-emergency'];
  return {
    active_alerts_count: events.length,
    band: order.findLast((band) => bands.includes(band)) ?? 'none',
    tornado_warnings_count: of('TO.W'),
    severe_thunderstorm_warnings_count: of('SV.W'),
    watches_count: of('TO.A') + of('SV.A'),
  };
}

const SEVERE =
  'tornadoes, hail from 1.00 in, thunderstorm gusts from 58 mph and thunderstorm wind damage of 24 hours';

/** A reading of every region that was asked for as a whole. */
function readRelayed(payload: Payload): Imported {
  const { reports, states, end } = relayedReports(payload);
  const list = new ReadingList();
  const regions = regionsIn(states);
  skipOthers(
    list,
    regions.map(([entity]) => entity),
  );
  for (const [entity, region] of regions) {
    const about = { entity, at: isoTime(end), collectedAt: payload.note.fetched_at };
    const day = dayOfReports(reports, region, end);
    const base = regionReading(about, { reports_24h_count: day.count, ...factsOf(day) });
    list.add(REALIZED, {
      ...base,
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

/** One office, one product: what it lists is known, what it does not list is not. */
function readReportText(product: TextProduct, payload: Payload): Imported {
  const list = new ReadingList();
  const { issue, reports } = textReports(product, payload, list.skips);
  for (const [entity, region] of regionsIn(null)) {
    const day = dayOfReports(reports, region, issue.at);
    if (day.count === null || day.count === 0) continue;
    const about = { entity, at: isoTime(issue.at), collectedAt: payload.note.fetched_at };
    const current = { reports_24h_count: null, ...factsOf(day), listed_reports_count: day.count };
    list.add(REALIZED, {
      ...regionReading(about, current),
      scope: `${SEVERE} that product ${product.name} lists; others of the region are not in it, so its band is the least that holds; ${convectionScope(region)}`,
      source_ref: 'https://www.weather.gov/',
      source_tier: 'T1',
    });
  }
  const old = reports.filter(({ at }) => at <= issue.at - DAY_MS).length;
  if (old > 0) list.skips.add(product.name, 'older than a day at its issue', old);
  if (list.count === 0 && reports.length > old) {
    list.skips.add(product.name, 'milder than severe, or in no region', reports.length - old);
  }
  return list.someOf(payload);
}

function factsOf({ band, tornadoes, hailIn, gustMph }: DayOfReports): Reading['current'] {
  return {
    band,
    tornado_reports_count: tornadoes,
    max_hail_in: hailIn,
    max_gust_mph: gustMph,
  };
}

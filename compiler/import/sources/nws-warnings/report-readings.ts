import { DAY_MS, isoTime } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { convectionScope, regionsIn } from '../../convection-regions.ts';
import type { Imported, Payload } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import type { TextProduct } from '../../text-product.ts';
import { AGENCY, REALIZED, REPORT_HOST, regionReading, skipOthers } from './region-reading.ts';
import { relayedReports } from './relayed-reports.ts';
import { textReports } from './report-text.ts';
import { type DayOfReports, dayOfReports } from './storm-reports.ts';

const SEVERE =
  'tornadoes, hail from 1.00 in, thunderstorm gusts from 58 mph and thunderstorm wind damage of 24 hours';

/** A reading of every region that was asked for as a whole. */
export function readRelayed(payload: Payload): Imported {
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
export function readReportText(product: TextProduct, payload: Payload): Imported {
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

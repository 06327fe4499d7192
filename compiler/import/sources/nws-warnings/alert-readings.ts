import type { Reading } from '../../../stages/intake/reading.ts';
import { convectionScope } from '../../convection-regions.ts';
import type { Imported, Payload } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import { convectiveAlerts, type RegionAlerts } from './convective-alerts.ts';
import { ALERT_HOST, regionReading, skipOthers, WARNINGS } from './region-reading.ts';

/** A reading of every region that was asked for as a whole. */
export function readAlerts(payload: Payload): Imported {
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

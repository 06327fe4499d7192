import { DAY_MS, isoTime } from '../../../contract/iso-time.ts';
import { ImportError } from '../../import-error.ts';
import type { Imported, Payload } from '../../payload.ts';
import type { Source } from '../../source.ts';
import { productIn, refuseProduct } from '../../text-product.ts';
import { readAlerts } from './alert-readings.ts';
import { EVENTS } from './asked-states.ts';
import { AGENCY, ALERT_HOST, REALIZED, REPORT_HOST, WARNINGS } from './region-reading.ts';
import { readRelayed, readReportText } from './report-readings.ts';

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
  version: 1,
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

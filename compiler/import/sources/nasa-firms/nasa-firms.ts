import { isRealDay } from '../../../contract/cutoff.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { type CsvRow, csvRows } from '../../csv.ts';
import { ImportError } from '../../import-error.ts';
import { measuredBy, nameOf } from '../../measured.ts';
import { numberOf } from '../../number-text.ts';
import type { Imported, Payload } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import { boxText, inBox, type RegionBox } from '../../region-box.ts';
import type { Source } from '../../source.ts';
import { FIRE_BOXES } from './fire-regions.ts';

const HOST = 'firms.modaps.eosdis.nasa.gov';
const FILE = `https://${HOST}/data/active_fire/modis-c6.1/csv/MODIS_C6_1_Global_24h.csv`;
const COLUMNS = ['latitude', 'longitude', 'acq_date', 'acq_time', 'satellite', 'confidence'];
const MEASURER = 'NASA FIRMS, MODIS on Terra and Aqua';
const VERSION = /^\d+(\.\d+)?(NRT|RT|URT)?$/;
/** The file is made anew every hour and lags three hours; an older one does not say what burns now. */
const AGE_HOURS_MAX = 12;
/** Terra and Aqua see the whole world in a day: a file that holds less was cut. */
const SPAN_HOURS_MIN = 20;
/** From here on the publisher calls the confidence high. */
const HIGH_CONFIDENCE = 80;

/** One pixel in which a satellite saw heat; `power` in MW, null where the file gives none. */
interface Detection {
  readonly latitude: number;
  readonly longitude: number;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly confidence: number;
  readonly power: number | null;
}

/**
 * Detections of 24 hours in each region, counted back from the newest row. A region without any has 0, so the file must be
 * the global one, whole and fresh, with every row understood.
 */
function readDetections(payload: Payload): Imported {
  refuseOtherFile(payload);
  const rows = csvRows(payload, [...COLUMNS, 'brightness', 'version', 'frp']);
  const detections = rows.map((row, at) => detectionOf(row, at, payload));
  refuseTwice(rows, payload);
  const newest = refuseCut(detections, payload);
  const list = new ReadingList();
  for (const [entity, box] of Object.entries(FIRE_BOXES)) {
    const inside = detections.filter(({ longitude, latitude }) => inBox(box, longitude, latitude));
    const facts = { current: currentOf(inside, newest), observed_at: isoTime(newest) };
    list.add('wildfire.active-fire', readingOf(entity, { ...facts, box }, payload));
  }
  return list.imported();
}

/** Another region's file would make the fires of all others 0, and another instrument sees others. */
function refuseOtherFile(payload: Payload): void {
  const name = new URL(payload.note.url).pathname.split('/').at(-1) ?? '';
  if (/^MODIS_C\d+(_\d+)?_Global_(24h|48h|7d)\.csv$/.test(name)) return;
  const state = `its address names "${name}", not the global list of MODIS; give --note with the address ${FILE}`;
  throw new ImportError({ subject: payload.subject, state });
}

function detectionOf(row: CsvRow, at: number, payload: Payload): Detection {
  const { satellite = '', version = '', frp = '' } = row;
  const latitude = numberOf(row.latitude ?? '');
  const longitude = numberOf(row.longitude ?? '');
  const confidence = /^\d{1,3}$/.test(row.confidence ?? '') ? Number(row.confidence) : null;
  const time = timeOf(row);
  const power = frp === '' ? null : numberOf(frp);
  const isRead =
    isWithin(latitude, 90) && isWithin(longitude, 180) && time !== null && confidence !== null;
  const isKnown = /^[TA]$|^(Terra|Aqua)$/.test(satellite) && VERSION.test(version);
  const isPower = frp === '' || (power !== null && power >= 0);
  if (
    isRead &&
    isKnown &&
    isPower &&
    confidence <= 100 &&
    time <= Date.parse(payload.note.fetched_at)
  )
    return { latitude, longitude, time, confidence, power };
  const shown = Object.values(row).join(',').slice(0, 120);
  const state = `row ${at + 1} cannot be read, or is later than the fetch (${shown}), so nothing can be counted; fetch it again`;
  throw new ImportError({ subject: payload.subject, state });
}

function isWithin(degrees: number | null, most: number): degrees is number {
  return degrees !== null && Math.abs(degrees) <= most;
}

/** `acq_time` is UTC with four digits; fewer have lost a zero on either side. */
function timeOf({ acq_date = '', acq_time = '' }: CsvRow): number | null {
  const [, hour, minute] = /^([01]\d|2[0-3])([0-5]\d)$/.exec(acq_time) ?? [];
  return hour === undefined || !isRealDay(acq_date)
    ? null
    : Date.parse(`${acq_date}T${hour}:${minute}:00Z`);
}

function refuseTwice(rows: readonly CsvRow[], { subject }: Payload): void {
  const texts = rows.map((row) =>
    COLUMNS.slice(0, 5)
      .map((name) => row[name])
      .join(','),
  );
  const seen = new Set<string>();
  for (const text of texts) {
    if (seen.has(text)) {
      throw new ImportError({ subject, state: `it lists ${text} twice; fetch it again` });
    }
    seen.add(text);
  }
}

/** The time of the newest row of a file that is fresh and reaches back over a day. */
function refuseCut(detections: readonly Detection[], { note, subject }: Payload): number {
  const times = detections.map(({ time }) => time).sort((a, b) => a - b);
  const [oldest = 0, newest = 0] = [times[0], times.at(-1)];
  if (newest - oldest < SPAN_HOURS_MIN * HOUR_MS) {
    const state = `its rows cover less than ${SPAN_HOURS_MIN} hours; fetch it again`;
    throw new ImportError({ subject, state });
  }
  if (Date.parse(note.fetched_at) - newest <= AGE_HOURS_MAX * HOUR_MS) return newest;
  const state = `its newest row is of ${isoTime(newest)}, stale when it was fetched; fetch it again`;
  throw new ImportError({ subject, state });
}

function currentOf(inside: readonly Detection[], newest: number): Reading['current'] {
  const recent = inside.filter(({ time }) => time > newest - DAY_MS);
  const powers = powersOf(recent);
  return {
    detections_24h_count: recent.length,
    frp_sum_mw: sum(powers),
    frp_max_mw: powers === null || powers.length === 0 ? null : Math.max(...powers),
    high_confidence_count: recent.filter(({ confidence }) => confidence >= HIGH_CONFIDENCE).length,
    // The file begins with the UTC day before, so it holds more than 24 hours.
    file_detections_count: inside.length,
    file_frp_sum_mw: sum(powersOf(inside)),
  };
}

/** The power of each pixel; null where the file leaves one open. */
function powersOf(detections: readonly Detection[]): readonly number[] | null {
  const powers = detections.flatMap(({ power }) => (power === null ? [] : [power]));
  return powers.length === detections.length ? powers : null;
}

function sum(powers: readonly number[] | null): number | null {
  return powers && Math.round(powers.reduce((total, power) => total + power, 0) * 100) / 100;
}

interface Facts extends Pick<Reading, 'current' | 'observed_at'> {
  readonly box: RegionBox;
}

function readingOf(
  entity: string,
  { current, observed_at, box }: Facts,
  { note }: Payload,
): Reading {
  const value = current.detections_24h_count as number;
  return {
    entity,
    ...nameOf('wildfire', entity),
    observed_at,
    collected_at: note.fetched_at,
    current,
    sources: measuredBy(MEASURER, value, observed_at),
    source_ref: note.url,
    source_tier: 'T1',
    grade: 'near real time, replaced later by science quality',
    scope: `pixels with heat, not fires, of 24 hours before the newest row of the file, every confidence; ${boxText(box)}; the box is ours, not official`,
    validation_status: 'as published by NASA FIRMS',
    uncertainty: 'clouds hide fires; a pixel has a confidence of 0 to 100',
  };
}

/** Active fires of the last 24 hours: https://firms.modaps.eosdis.nasa.gov/active_fire/ */
export const nasaFirms: Source = {
  id: 'nasa-firms',
  agency: 'NASA Fire Information for Resource Management System',
  version: 1,
  format: 'csv',
  feeds: ['wildfire.active-fire'],
  read: readDetections,
  fetch: {
    hosts: [HOST],
    addresses: () => [FILE],
    accept: 'text/csv',
    everyMinutes: 60,
    perMinute: 6,
  },
};

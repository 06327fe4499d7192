import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { readPayload } from '../../../compiler/sources/import-command.ts';
import type { Imported } from '../../../compiler/sources/kit/payload.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import { makeFolder } from '../../snapshot-folder.ts';
import { PLAYED, playedPayloads } from './cases.ts';

/** Where payloads stand: our own small ones, and those recorded from agencies. */
export interface Payloads {
  readonly name: string;
  /** A payload by the folder of its agency and its name. */
  readonly recorded: (path: string) => Buffer;
  /** The place of a payload on the disk. */
  readonly recordedFile: (path: string) => string;
}

const WHOLE = new URL('../../../../shared/official-payloads/', import.meta.url).pathname;

/** An extract of what an agency answered; free text in it is our own. */
export interface Recorded {
  readonly file: string;
  readonly source: string;
  readonly url: string;
  readonly text: string;
}
export const RECORDED: readonly Recorded[] = PLAYED.flatMap((source) =>
  playedPayloads(source).flatMap(({ heads: { recorded: file, url = '' }, text }) =>
    file === undefined ? [] : [{ file, source, url, text }],
  ),
);

function recorded(path: string): Buffer {
  const found = RECORDED.find(({ file }) => file === path);
  if (found === undefined) throw new RangeError(`No payload "${path}" is recorded`);
  return Buffer.from(found.text);
}

export const OWN_PAYLOADS: Payloads = {
  name: 'own payloads',
  recorded,
  recordedFile: (path) => {
    const file = join(makeFolder(), basename(path));
    writeFileSync(file, recorded(path));
    return file;
  },
};

/** Our own payloads, and beside them the recorded ones on a machine that has them. */
export const PAYLOADS: readonly Payloads[] = [
  OWN_PAYLOADS,
  ...(existsSync(WHOLE)
    ? [
        {
          name: 'whole payloads',
          recorded: (path: string) => readFileSync(`${WHOLE}${path}`),
          recordedFile: (path: string) => `${WHOLE}${path}`,
        },
      ]
    : []),
];

/** What a source makes of an answer; the address decides what was asked. */
export function readAs(
  source: string,
  payload: unknown,
  { url, fetched_at = '2026-11-20T11:05:00Z' }: { url: string; fetched_at?: string },
): Imported {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(text);
  const note = { url, fetched_at, http_status: 200 };
  return readPayload(sourceOf(source), { bytes, note, subject: 'payload' });
}

/** Small feeds of our own in the shape of a USGS GeoJSON summary. */
export const GENERATED = Date.parse('2026-11-20T11:00:00Z');
export const HOUR = 3_600_000;

export function quake(id: string, over: Record<string, unknown> = {}) {
  const { at = [120.5, 23.5, 10], ...properties } = over;
  return {
    type: 'Feature',
    id,
    properties: {
      mag: 3,
      time: GENERATED - HOUR,
      updated: GENERATED - HOUR / 2,
      felt: null,
      cdi: null,
      mmi: null,
      alert: null,
      status: 'reviewed',
      type: 'earthquake',
      ids: `,${id},`,
      ...properties,
    },
    geometry: { type: 'Point', coordinates: at },
  };
}

export function feed(features: readonly unknown[], metadata: Record<string, unknown> = {}) {
  const url = 'https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/all_week.geojson';
  return {
    type: 'FeatureCollection',
    metadata: { generated: GENERATED, url, status: 200, count: features.length, ...metadata },
    features,
  };
}

export const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Small answers of our own in the shape of a registry of MCP servers. */
export const server = (
  name: string,
  official: Record<string, unknown> = {},
  over: Record<string, unknown> = {},
) => ({
  server: { name, description: 'x', version: '1.0.0', ...over },
  _meta: {
    'io.modelcontextprotocol.registry/official': {
      status: 'active',
      publishedAt: '2026-01-01T00:00:00Z',
      isLatest: true,
      ...official,
    },
  },
});

export const registryPage = (servers: readonly object[], nextCursor?: string) => ({
  servers,
  metadata: { count: servers.length, ...(nextCursor === undefined ? {} : { nextCursor }) },
});

/** Degrees of a place of ours in agriculture. */
const IOWA = { latitude: 42, longitude: -93.5 };
export const SOIL_URL = `https://api.open-meteo.com/v1/x?latitude=${IOWA.latitude}&longitude=${IOWA.longitude}&models=era5`;

/** A day of the upper metre of soil for each of many, all of a year alike: 2026 lies between 2020 and 2021. */
export function soilFrom(
  year: number,
  wetness = (of: number, _month: string) => (of === 2026 ? 0.255 : 0.2 + (of - 2015) / 100),
) {
  const first = Date.UTC(year, 0, 1);
  const time = Array.from({ length: (Date.UTC(2026, 10, 16) - first) / 86_400_000 }, (_, index) =>
    new Date(first + index * 86_400_000).toISOString().slice(0, 10),
  );
  const soil = time.map((text) => wetness(Number(text.slice(0, 4)), text.slice(5, 7)));
  return {
    latitude: IOWA.latitude + 0.02,
    longitude: IOWA.longitude - 0.02,
    generationtime_ms: 0.1,
    utc_offset_seconds: -7 * 3600,
    timezone: 'America/Phoenix',
    timezone_abbreviation: 'GMT-7',
    daily_units: { time: 'iso8601', soil_moisture_0_to_100cm_mean: 'm³/m³' },
    daily: { time, soil_moisture_0_to_100cm_mean: soil },
  };
}

/** A ZIP archive of one file, written as the standard says and not as the reader expects it. */
export function zipOf(name: string, text: string, { comment = '', files = 1 } = {}): Buffer {
  const data = Buffer.from(text);
  const packed = deflateRawSync(data);
  const file = Buffer.from(name);
  const shared = Buffer.alloc(26);
  shared.writeUInt16LE(20, 0);
  shared.writeUInt16LE(8, 4);
  shared.writeUInt32LE(crc32(data), 10);
  shared.writeUInt32LE(packed.length, 14);
  shared.writeUInt32LE(data.length, 18);
  shared.writeUInt16LE(file.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, file, packed]);
  const entry = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
    shared,
    Buffer.alloc(14),
    file,
  ]);
  const end = Buffer.alloc(22 + comment.length);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files, 8);
  end.writeUInt16LE(files, 10);
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(local.length, 16);
  end.writeUInt16LE(comment.length, 20);
  end.write(comment, 22, 'latin1');
  return Buffer.concat([local, entry, end]);
}

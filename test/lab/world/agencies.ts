import { hostsOf, rowOf } from '../../../compiler/catalog/register.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../../compiler/format/iso-time.ts';
import type { Mood } from '../../sources/fetch/agency.ts';
import { registryPage, server } from '../../sources/kit/recorded.ts';

/** What may go wrong at an agency, and how it is played. */
export interface Fault {
  readonly mood?: Mood;
  /** `Retry-After` of a busy agency, at an instant; none where it is absent. */
  readonly retryAfter?: (now: number) => string;
  /** Of the paths that it concerns. */
  readonly part?: string;
  /** The place at which the agency is looked for. */
  readonly at?: 'other-certificate' | 'no-such-name';
  /** It speaks as it will so much later. */
  readonly aheadMs?: number;
  readonly odd?: 'type' | 'word';
  /** So many requests of a step are answered. */
  readonly quota?: number;
  /** So many of its entities are dead. */
  readonly dead?: number;
  /** Nothing is wrong with what is read, or nobody can notice it. */
  readonly isHarmless?: true;
  /** The program itself is killed. */
  readonly isKill?: true;
  readonly fits?: (agency: WorldAgency, id: string) => boolean;
}

const WAIT_MS = 600_000;
const HOURS_AHEAD_MS = 3 * 3_600_000;
const isPaged = (_: WorldAgency, id: string): boolean => id === 'mcp-registry';
const hasTimes = (_: WorldAgency, id: string): boolean => id !== 'mcp-registry';
const hasMany = ({ entities, partOf }: WorldAgency): boolean =>
  partOf !== undefined && entities.length > 3;
const busy = (retryAfter?: Fault['retryAfter']): Fault => ({
  mood: 'busy',
  ...(retryAfter === undefined ? {} : { retryAfter }),
});
const seconds = (): string => String(WAIT_MS / 1000);

/** Every kind of fault by its name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'HTTP 500': { mood: 'down' },
  '500 at three entities': { mood: 'down', dead: 3, fits: hasMany },
  '429, no Retry-After': busy(),
  '429, seconds': busy(seconds),
  '429, a date': busy((now) => new Date(now + WAIT_MS).toUTCString()),
  '429 after two answers': { ...busy(seconds), quota: 2, fits: hasMany },
  'no first byte': { mood: 'silent' },
  'a byte at a time': { mood: 'trickle' },
  'a body cut short': { mood: 'cut' },
  'a cut chunk': { mood: 'cut-chunk' },
  'bad gzip': { mood: 'bad-gzip' },
  'HTML with 200': { mood: 'page' },
  'redirect elsewhere': { mood: 'redirect' },
  'redirect in a circle': { mood: 'loop' },
  'wrong certificate': { at: 'other-certificate' },
  'a clock ahead': { mood: 'skewed', aheadMs: HOURS_AHEAD_MS, fits: hasTimes },
  'a byte order mark': { mood: 'marked', isHarmless: true },
  'page 2 of 3 missing': { mood: 'gone', part: 'cursor=com.example%2Fbee', fits: isPaged },
  '304 unasked': { mood: 'unasked-304', fits: isPaged },
  '304 untrue': { mood: 'stale-304', isHarmless: true, fits: hasTimes },
  'an empty 200': { mood: 'empty' },
  'another type': { odd: 'type', fits: ({ odd }) => odd?.type !== undefined },
  'an unknown word': { odd: 'word', fits: ({ odd }) => odd?.word !== undefined },
  'connection reset': { mood: 'reset' },
  'no such name': { at: 'no-such-name' },
  'kill -9 of run': { isKill: true, isHarmless: true },
};

/** A certificate of our own for another name, signed by itself. It protects nothing. */
export const OTHER_CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgy640WgV2JyhX/jWS
qbs+Mqu1hTf/Qr6i9bcysoRsC3WhRANCAAQSl8cnU36vGekCYvzaQzzIC1D03VmB
BYBcoJ2y5LR/edR0IwwJuqFheIdHFIwkZObmDGOhljpybCRFY70Cq0vg
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBrDCCAVOgAwIBAgIUSEfoJKrZioYwJUBn2RkIU0UjkqUwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRb3RoZXIuZXhhbXBsZS5vcmcwIBcNMjYxMTI5MjIxOTU0WhgP
MjEyNjExMDUyMjE5NTRaMBwxGjAYBgNVBAMMEW90aGVyLmV4YW1wbGUub3JnMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEpfHJ1N+rxnpAmL82kM8yAtQ9N1ZgQWA
XKCdsuS0f3nUdCMMCbqhYXiHRxSMJGTm5gxjoZY6cmwkRWO9AqtL4KNxMG8wHQYD
VR0OBBYEFDINltkMtqsoJJHJx2Die8NGgCkuMB8GA1UdIwQYMBaAFDINltkMtqso
JJHJx2Die8NGgCkuMA8GA1UdEwEB/wQFMAMBAf8wHAYDVR0RBBUwE4IRb3RoZXIu
ZXhhbXBsZS5vcmcwCgYIKoZIzj0EAwIDRwAwRAIgONKxPvYIu6ylM9cFSzGBtBFF
VJ4K7WqIzFd3u88weSwCID21Mg1AyE666qkWKdF0o4ZGMmhzvp1LqPhiWBiD33mv
-----END CERTIFICATE-----`,
};

// Agencies of a made-up world. What each of them says at an instant follows from the instant alone, and so does what is true.

/** What is true of an entity: the values that a reading of it has, whatever else it says. */
export type Facts = Readonly<Record<string, string | number>>;

/** A fact by the signal that it feeds, or the roster. */
export interface Fact {
  readonly signal: string;
  readonly entity: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly current: Facts;
}

export interface WorldAgency {
  readonly host: string;
  readonly entities: readonly string[];
  /** Whether it answers each entity at an address of its own, which holds this text. */
  readonly partOf?: (entity: string) => string;
  readonly type: string;
  /** What it answers at an instant. */
  readonly body: (now: number, path: string) => string;
  /** What it offers at an instant, as it will be read. */
  readonly offers: (now: number) => readonly Fact[];
  /** Puts a value of another type, or a word that nobody knows, in the place of one that it has. */
  readonly odd?: Readonly<Partial<Record<'type' | 'word', readonly [RegExp, string]>>>;
}

const hourOf = (now: number): number => Math.floor(now / HOUR_MS);
const dayOf = (now: number): number => Math.floor(now / DAY_MS);
const day = (number: number): string => isoTime(number * DAY_MS).slice(0, 10);
const seedOf = (text: string): number => [...text].reduce((sum, one) => sum + one.charCodeAt(0), 0);
/** A value that goes up and down with its hour or day, other for each entity; tenths. */
const wave = (entity: string, at: number, most = 230): number =>
  (10 + ((at * 7 + seedOf(entity) * 13) % most)) / 10;
const last = (count: number, newest: number): number[] =>
  Array.from({ length: count }, (_, back) => newest - count + 1 + back);
const json = (value: unknown): string => JSON.stringify(value);
const JSON_TYPE = 'application/json';
/** Facts of some entities at the starts of some hours. */
function hourly(
  signal: string,
  entities: readonly string[],
  hours: readonly number[],
  current: (entity: string, hour: number) => Facts,
): Fact[] {
  return hours.flatMap((hour) =>
    entities.map((entity) => ({
      signal,
      entity,
      at: hour * HOUR_MS,
      current: current(entity, hour),
    })),
  );
}

const RIVERS = ['07010000', '07020500'];
const GAUGES = ['EADM7', 'MEMT1', 'NORL1', 'CIRI2', 'VCKM6', 'BTRL1'];
const stage = (entity: string, hour: number) => ({ stage_ft: wave(entity, hour) });
const rivers = (now: number) =>
  hourly('hydrology.river-level', RIVERS, last(4, hourOf(now)), stage);
const BUOYS: Readonly<Record<string, string>> = { gulfmexico: '42001', northpacific: '46072' };
/** Waves come at ten past the hour before. */
const WAVE_MS = 10 * 60_000;
const waveHours = (now: number) => last(5, hourOf(now) - 1);
const height = (route: string, hour: number) => wave(route, hour, 80);
const CITIES: Readonly<Record<string, readonly [latitude: number, longitude: number]>> = {
  'us-losangeles': [34.0522, -118.2437],
  'us-chicago': [41.8781, -87.6298],
  'us-houston': [29.7604, -95.3698],
};
const index = (city: string, hour: number) => Math.floor(wave(city, hour) * 4);
const STRAITS: Readonly<Record<string, readonly [id: string, name: string]>> = {
  'suez-redsea': ['chokepoint1', 'Suez Canal'],
  'panama-pacific': ['chokepoint2', 'Panama Canal'],
  malacca: ['chokepoint5', 'Malacca Strait'],
  hormuz: ['chokepoint6', 'Strait of Hormuz'],
  goodhope: ['chokepoint7', 'Cape of Good Hope'],
  channel: ['chokepoint9', 'Dover Strait'],
};
/** Its newest day is a week old. */
const SEEN_DAYS = 7;
const ships = (route: string, number: number) => Math.floor(wave(route, number) * 10);
const AIRPORTS: Readonly<Record<string, string>> = { atl: 'KATL', bos: 'KBOS', sea: 'KSEA' };
const knots = (airport: string, hour: number) => 3 + (Math.floor(wave(airport, hour)) % 20);
const SERVERS = ['ant', 'bee', 'cat', 'dog', 'elk', 'fox'].map((name) => `com.example/${name}`);
const PAGE = 2;
const stateOf = (name: string, now: number) =>
  (dayOf(now) + seedOf(name)) % 3 === 0 ? 'deprecated' : 'active';
const delay = (hour: number) => 20 + (hour % 40);
const fires = (hour: number) => 1 + (hour % 5);
const LEVELS = [
  ['MRGL', 3],
  ['SLGT', 4],
  ['ENH', 5],
] as const;
const level = (hour: number) => LEVELS[hour % 3] ?? LEVELS[0];
/** A month by its number since the year 0, and the last of its days. */
const monthOf = (now: number) => new Date(now).getUTCFullYear() * 12 + new Date(now).getUTCMonth();
const monthEnd = (month: number) => Date.UTC(Math.floor(month / 12), (month % 12) + 1, 0);
const months = (now: number) => last(14, monthOf(now) - 1);
const price = (month: number) => wave('gas', month, 90);
const GRIDS = ['us-caiso', 'us-ercot', 'us-miso', 'us-nyiso', 'us-pjm'];
const twoDigits = (value: number) => `${value}`.padStart(2, '0');
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The hour that an address of hourly files names. */
function namedHour(path: string): number {
  const [, year = '', month = '', dayText = '', hour = ''] =
    /_(\d{4})(\d\d)(\d\d)(\d\d)\.dat/.exec(path) ?? [];
  return hourOf(Date.parse(`${year}-${month}-${dayText}T${hour}:00:00Z`));
}

const ANSWERS: Readonly<Record<string, Omit<WorldAgency, 'host'>>> = {
  'usgs-nwis': {
    entities: RIVERS,
    type: 'application/geo+json',
    body: (now) =>
      json({
        type: 'FeatureCollection',
        features: rivers(now).map(({ entity, at, current }) => ({
          type: 'Feature',
          geometry: null,
          properties: {
            time_series_id: `series ${entity}`,
            monitoring_location_id: `USGS-${entity}`,
            parameter_code: '00065',
            statistic_id: '00011',
            time: isoTime(at).replace('Z', '+00:00'),
            value: String(current.stage_ft),
            unit_of_measure: 'ft',
            approval_status: 'Provisional',
            qualifier: null,
          },
        })),
        numberReturned: rivers(now).length,
      }),
    offers: rivers,
    odd: { type: [/"value":"[\d.]+"/, '"value":{"ft":12}'] },
  },
  nwps: {
    entities: GAUGES,
    partOf: (entity) => `/gauges/${entity}`,
    type: JSON_TYPE,
    body: (now, path) => {
      const lid = path.split('/').at(-1) ?? '';
      const primary = wave(lid, hourOf(now));
      const validTime = isoTime(hourOf(now) * HOUR_MS);
      const observed = { primary, primaryUnit: 'ft', floodCategory: 'no_flooding', validTime };
      return json({
        lid,
        name: `Gauge ${lid}`,
        pedts: { observed: 'HGIRG' },
        status: { observed },
      });
    },
    offers: (now) => hourly('hydrology.river-level', GAUGES, [hourOf(now)], stage),
    odd: { type: [/"primary":[\d.]+/, '"primary":"high"'] },
  },
  ndbc: {
    entities: Object.keys(BUOYS),
    partOf: (entity) => `/${BUOYS[entity]}.txt`,
    type: 'text/plain',
    body: (now, path) => {
      const route = Object.keys(BUOYS).find((one) => path.includes(BUOYS[one] ?? '')) ?? '';
      const rows = waveHours(now).map((hour) => {
        const [date = '', time = ''] = isoTime(hour * HOUR_MS + WAVE_MS).split('T');
        const when = `${date.replaceAll('-', ' ')} ${time.slice(0, 5).replace(':', ' ')}`;
        const wvht = height(route, hour).toFixed(1);
        return `${when} 100 9.0 11.0 ${wvht} 7 5.4 110 1015.0 24.1 26.0 20.1 MM -0.5 MM`;
      });
      const names =
        '#YY MM DD hh mm WDIR WSPD GST WVHT DPD APD MWD PRES ATMP WTMP DEWP VIS PTDY TIDE';
      const units = '#yr mo dy hr mn degT m/s m/s m sec sec degT hPa degC degC degC nmi hPa ft';
      return [names, units, ...rows.reverse(), ''].join('\n');
    },
    offers: (now) =>
      hourly('shipping.sea-state', Object.keys(BUOYS), waveHours(now), (route, hour) => ({
        wave_height_m: height(route, hour),
      })).map((one) => ({ ...one, at: one.at + WAVE_MS })),
    odd: { type: [/11\.0 [\d.]+ 7/, '11.0 two 7'] },
  },
  'airnow-files': {
    entities: [],
    type: 'text/plain',
    body: (_, path) => {
      const hour = namedHour(path);
      const [date = '', time = ''] = isoTime(hour * HOUR_MS).split('T');
      const [year, month, of] = date.split('-');
      const head =
        'AQSID,SiteName,Status,EPARegion,Latitude,Longitude,Elevation,GMTOffset,CountryCode,StateName,ValidDate,ValidTime,DataSource,ReportingArea_PipeDelimited,OZONE_AQI,PM10_AQI,PM25_AQI,NO2_AQI,OZONE_Measured,PM10_Measured,PM25_Measured,NO2_Measured,PM25,PM25_Unit,OZONE,OZONE_Unit,NO2,NO2_Unit,CO,CO_Unit,SO2,SO2_Unit,PM10,PM10_Unit';
      const aqi = index('us-denver', hour);
      const row = `530330030,Example Street,Active,R8,39.7512,-104.9876,41.8,-7,US,CO,${month}/${of}/${year},${time.slice(0, 5)},Example Agency,Denver-Boulder,,,${aqi},,0,0,1,1,${aqi / 10},UG/M3,,,,,,,,,,`;
      return `${[head, row]
        .map((line) =>
          line
            .split(',')
            .map((cell) => `"${cell}"`)
            .join(','),
        )
        .join('\n')}\n`;
    },
    offers: (now) => [
      ...hourly('airquality.aqi', ['us-denver'], [hourOf(now) - 2], (city, hour) => ({
        aqi_index: index(city, hour),
      })),
      ...hourly('airquality.pm25', ['us-denver'], [hourOf(now) - 2], (city, hour) => ({
        pm25_ugm3: index(city, hour) / 10,
      })),
    ],
    odd: { type: [/"39\.7512"/, '"north"'], word: [/"Active"/, '"Asleep"'] },
  },
  airnow: {
    entities: Object.keys(CITIES),
    partOf: (entity) => `latitude=${CITIES[entity]?.[0]}`,
    type: JSON_TYPE,
    body: (now, path) => {
      const city =
        Object.keys(CITIES).find((one) => path.includes(`latitude=${CITIES[one]?.[0]}`)) ?? '';
      const local = isoTime(hourOf(now) * HOUR_MS - 8 * HOUR_MS);
      const row = {
        dateObserved: local.slice(0, 10),
        hourObserved: `${Number(local.slice(11, 13))}:00`,
        localTimeZone: 'PST',
        reportingAreaName: 'An area',
        siteID: '060370000',
        siteName: 'A street',
        parameterName: 'PM2.5',
        nowcastAQI: index(city, hourOf(now) - 1),
        aqiCategoryName: 'Good',
        reportingAgency: 'An agency',
        lookupBehavior: 'Closest Reading By Pollutant',
        consideredMonitors: 'All',
        lookupBoundary: '50 Miles',
      };
      return json([row, { ...row, parameterName: 'OZONE', nowcastAQI: 1 }]);
    },
    offers: (now) =>
      hourly('airquality.aqi', Object.keys(CITIES), [hourOf(now) - 1], (city, hour) => ({
        aqi_index: index(city, hour),
      })),
    odd: { type: [/"nowcastAQI":1\b/, '"nowcastAQI":"low"'], word: [/"OZONE"/, '"DUST"'] },
  },
  fred: {
    entities: [],
    type: 'text/csv',
    body: (now) => {
      const rows = months(now).map((month) => {
        const first = isoTime(monthEnd(month)).slice(0, 8);
        return `${first}01,${price(month)}`;
      });
      return ['observation_date,APU000072620', ...rows, ''].join('\n');
    },
    offers: (now) =>
      months(now).flatMap((month) =>
        GRIDS.map((entity) => {
          const current = { gas_usd_therm: price(month) };
          return { signal: 'energy.gas-price', entity, at: monthEnd(month), current };
        }),
      ),
    odd: { type: [/-01,[\d.]+\n/, '-01,dear\n'] },
  },
  'faa-nas': {
    entities: [],
    type: 'application/xml',
    body: (now) => {
      const at = new Date(hourOf(now) * HOUR_MS);
      const [date = '', time = ''] = at.toISOString().split('T');
      const when = `${WEEKDAYS[at.getUTCDay()]} ${MONTHS[at.getUTCMonth()]} ${Number(date.slice(8))} ${time.slice(0, 8)} ${date.slice(0, 4)} GMT`;
      const one = `<Ground_Delay><ARPT>BOS</ARPT><Reason>snow</Reason><Avg>${delay(hourOf(now))} minutes</Avg><Max>2 hours</Max></Ground_Delay>`;
      return `<AIRPORT_STATUS_INFORMATION><Update_Time>${when}</Update_Time><Delay_type><Name>Ground Delay Programs</Name><Ground_Delay_List>${one}</Ground_Delay_List></Delay_type></AIRPORT_STATUS_INFORMATION>`;
    },
    offers: (now) => [
      ...hourly('nas.ground_ops', ['bos'], [hourOf(now)], (_, hour) => ({
        avg_delay_min: delay(hour),
        band: 'gdp',
      })),
      ...hourly('nas.ground_ops', ['ord'], [hourOf(now)], () => ({ band: 'normal' })),
    ],
    odd: {
      type: [/<Avg>\d+ minutes/, '<Avg>soon'],
      word: [/Ground_Delay_List/g, 'Space_Delay_List'],
    },
  },
  portwatch: {
    entities: Object.keys(STRAITS),
    partOf: (entity) => `%27${STRAITS[entity]?.[0]}%27`,
    type: JSON_TYPE,
    body: (now, path) => {
      const route =
        Object.keys(STRAITS).find((one) => path.includes(`%27${STRAITS[one]?.[0]}%27`)) ?? '';
      const [portid, portname] = STRAITS[route] ?? [];
      const features = last(10, dayOf(now) - SEEN_DAYS).map((number) => ({
        attributes: { date: day(number), portid, portname, n_total: ships(route, number) },
      }));
      return json({ features: features.reverse() });
    },
    offers: (now) =>
      Object.keys(STRAITS).map((entity) => {
        const newest = dayOf(now) - SEEN_DAYS;
        const count = last(7, newest).reduce((sum, number) => sum + ships(entity, number), 0);
        const current = { vessels_7d_count: count };
        return { signal: 'shipping.throughput', entity, at: newest * DAY_MS, current };
      }),
    odd: { type: [/"n_total":\d+/, '"n_total":"many"'] },
  },
  aviationweather: {
    entities: Object.keys(AIRPORTS),
    type: JSON_TYPE,
    body: (now) =>
      json(
        Object.entries(AIRPORTS).map(([airport, icaoId]) => {
          const at = hourOf(now) * HOUR_MS;
          const wspd = knots(airport, hourOf(now));
          const stamp = `${isoTime(at).slice(8, 10)}${isoTime(at).slice(11, 13)}00Z`;
          const rawOb = `METAR ${icaoId} ${stamp} 210${twoDigits(wspd)}KT 10SM FEW026 07/03 A3019`;
          const clouds = [{ cover: 'FEW', base: 2600 }];
          return { icaoId, obsTime: at / 1000, wspd, visib: '10+', rawOb, clouds, fltCat: 'VFR' };
        }),
      ),
    offers: (now) =>
      hourly('nas.aviation_wx', Object.keys(AIRPORTS), [hourOf(now)], (airport, hour) => ({
        wind_kt: knots(airport, hour),
        band: 'vfr_clear',
      })),
    odd: { type: [/"wspd":\d+/, '"wspd":"calm"'], word: [/"VFR"/, '"BLUE"'] },
  },
  'mcp-registry': {
    entities: [],
    type: JSON_TYPE,
    body: (now, path) => {
      const cursor = decodeURIComponent(/cursor=([^&]*)/.exec(path)?.[1] ?? '');
      const from = SERVERS.indexOf(cursor) + 1;
      const named = SERVERS.slice(from, from + PAGE);
      const more = from + PAGE < SERVERS.length ? named.at(-1) : undefined;
      return json(
        registryPage(
          named.map((name) => server(name, { status: stateOf(name, now) })),
          more,
        ),
      );
    },
    offers: (now) =>
      SERVERS.map((entity) => {
        const current = { status: stateOf(entity, now), capture_date: day(dayOf(now)) };
        return { signal: 'mcp.server', entity, at: dayOf(now) * DAY_MS, current };
      }),
  },
  'nasa-firms': {
    entities: [],
    type: 'text/csv',
    body: (now) => {
      const hour = hourOf(now);
      const row = (of: number, latitude: number, longitude: number) => {
        const [date = '', time = ''] = isoTime(of * HOUR_MS).split('T');
        return `${latitude},${longitude},300,0.4,0.4,${date},${time.slice(0, 2)}00,N20,n,2.0NRT,290.1,12.5,D`;
      };
      const own = Array.from({ length: fires(hour) }, (_, at) => row(hour, 38 + at / 10, -121.25));
      const head =
        'latitude,longitude,bright_ti4,scan,track,acq_date,acq_time,satellite,confidence,version,bright_ti5,frp,daynight';
      return [head, row(hour - 23, 20, 10), ...own, ''].join('\n');
    },
    offers: (now) => [
      ...hourly('wildfire.active-fire', ['us-california'], [hourOf(now)], (_, hour) => ({
        detections_24h_count: fires(hour),
      })),
      ...hourly('wildfire.active-fire', ['iberia'], [hourOf(now)], () => ({
        detections_24h_count: 0,
      })),
    ],
    odd: { type: [/,12\.5,D\n$/, ',warm,D\n'], word: [/,n,2\.0NRT(?=[^\n]*\n$)/, ',sure,2.0NRT'] },
  },
  spc: {
    entities: [],
    type: 'application/geo+json',
    body: (now) => {
      const [LABEL, DN] = level(hourOf(now));
      const digits = (at: number) => isoTime(at).replaceAll(/\D/g, '').slice(0, 12);
      const [begin, end] = [hourOf(now) * HOUR_MS, (hourOf(now) + 20) * HOUR_MS];
      const times = { ISSUE: digits(begin), EXPIRE: digits(end), VALID: digits(begin) };
      const iso = { ISSUE_ISO: isoTime(begin), EXPIRE_ISO: isoTime(end) };
      const area = (west: number, properties: object) => {
        const ring = [
          [west, 37],
          [west + 5, 37],
          [west + 5, 40],
          [west, 40],
          [west, 37],
        ];
        const geometry = { type: 'Polygon', coordinates: [ring] };
        return { type: 'Feature', geometry, properties: { ...properties, ...times, ...iso } };
      };
      const features = [area(-101, { DN, LABEL }), area(-120, { DN: 2, LABEL: 'TSTM' })];
      return json({ type: 'FeatureCollection', features });
    },
    offers: (now) =>
      hourly(
        'severe-convection.forecast-risk-env',
        ['central-kansas'],
        [hourOf(now)],
        (_, hour) => ({
          category: level(hour)[0],
        }),
      ),
    odd: {
      type: [/"DN":\d/, '"DN":"three"'],
      word: [/"LABEL":"\w+"/, '"LABEL":"PURPLE"'],
    },
  },
};

/** Each answers at the host of its first address. */
export const AGENCIES: Readonly<Record<string, WorldAgency>> = Object.fromEntries(
  Object.entries(ANSWERS).map(([id, answers]) => {
    const host = defined(hostsOf(rowOf(id))[0], `the host of ${id}`);
    return [id, { host, ...answers }];
  }),
);

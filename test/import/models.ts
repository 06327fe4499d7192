/** Answers of our own in the shape of Open-Meteo, for places of ours. */
export const SEATTLE = { latitude: 47.6062, longitude: -122.3321 };
export const IOWA = { latitude: 42, longitude: -93.5 };
export const ERCOT = { latitude: 31, longitude: -97.5 };
export const CALIFORNIA = { latitude: 38.5, longitude: -121 };
export const HORMUZ = { latitude: 26.5, longitude: 56.5 };

interface Position {
  readonly latitude: number;
  readonly longitude: number;
}

export const addressOf = ({ latitude, longitude }: Position) =>
  `https://api.open-meteo.com/v1/x?latitude=${latitude}&longitude=${longitude}`;

/** An answer of the grid cell beside a place; times are seven hours behind UTC. */
export function answerFor(place: Position, sections: Readonly<Record<string, unknown>>) {
  return {
    latitude: place.latitude + 0.02,
    longitude: place.longitude - 0.02,
    generationtime_ms: 0.1,
    utc_offset_seconds: -7 * 3600,
    timezone: 'America/Phoenix',
    timezone_abbreviation: 'GMT-7',
    ...sections,
  };
}

export const AIR = answerFor(SEATTLE, {
  current_units: { time: 'iso8601', interval: 'seconds', us_aqi: 'USAQI', pm2_5: 'μg/m³' },
  current: { time: '2026-11-20T04:00', interval: 3600, us_aqi: 65, pm2_5: 22.1 },
  hourly_units: { time: 'iso8601', us_aqi: 'USAQI', us_aqi_pm2_5: 'USAQI', pm2_5: 'μg/m³' },
  hourly: {
    time: ['2026-11-20T02:00', '2026-11-20T03:00', '2026-11-20T04:00', '2026-11-20T05:00'],
    us_aqi: [60, 61, 65, 70],
    us_aqi_pm2_5: [60, 59, 65, 70],
    pm2_5: [20.5, null, 22.1, 23.5],
  },
});

export const WAVES = answerFor(HORMUZ, {
  current_units: { time: 'iso8601', wave_height: 'm', tertiary_swell_wave_height: 'undefined' },
  current: { time: '2026-11-20T03:45', wave_height: 2.5, tertiary_swell_wave_height: null },
  hourly_units: { time: 'iso8601', wave_height: 'm', sea_level_height_msl: 'm' },
  hourly: {
    time: ['2026-11-20T02:00', '2026-11-20T03:00', '2026-11-20T04:00', '2026-11-20T05:00'],
    wave_height: [0, 6, 0.76, 3],
    sea_level_height_msl: [-0.05, -0.08, -0.12, -0.2],
  },
});

/** Days from 1 October 2026 on. */
const day = (index: number) => new Date(Date.UTC(2026, 9, 1 + index)).toISOString().slice(0, 10);

/** A day of the upper metre of soil for each of many, all of a year alike: 2026 lies between 2020 and 2021. */
export function soilFrom(
  year: number,
  wetness = (of: number) => (of === 2026 ? 0.255 : 0.2 + (of - 2015) / 100),
) {
  const first = Date.UTC(year, 0, 1);
  const days = Array.from({ length: (Date.UTC(2026, 10, 16) - first) / 86_400_000 }, (_, index) =>
    new Date(first + index * 86_400_000).toISOString().slice(0, 10),
  );
  return answerFor(IOWA, {
    daily_units: { time: 'iso8601', soil_moisture_0_to_100cm_mean: 'm³/m³' },
    daily: {
      time: days,
      soil_moisture_0_to_100cm_mean: days.map((text) => wetness(Number(text.slice(0, 4)))),
    },
  });
}
export const SOIL_URL = `${addressOf(IOWA)}&models=era5`;

/** An answer of the archive with daily columns. */
export function daysOf(
  place: Position,
  units: Readonly<Record<string, string>>,
  columns: Readonly<Record<string, readonly (number | null)[]>>,
) {
  const [first = []] = Object.values(columns);
  return answerFor(place, {
    daily_units: { time: 'iso8601', ...units },
    daily: { time: first.map((_, index) => day(index)), ...columns },
  });
}

export const RAIN = daysOf(
  SEATTLE,
  { precipitation_sum: 'mm' },
  { precipitation_sum: Array.from({ length: 32 }, (_, index) => index / 10) },
);
export const TEMPERATURES = {
  temperature_2m_max: [24.4, 18.3, null, 12],
  temperature_2m_min: [16.2, 18.3, 3, 6.6],
};
export const DEGREES = daysOf(
  ERCOT,
  { temperature_2m_max: '°C', temperature_2m_min: '°C' },
  TEMPERATURES,
);
export const HEAT = daysOf(
  IOWA,
  { temperature_2m_max: '°C' },
  { temperature_2m_max: TEMPERATURES.temperature_2m_max },
);

const HOURS = Array.from({ length: 26 }, (_, index) => index);
/** One whole local day and two hours of the next, warmest at 15:00. */
export const FIRE = answerFor(CALIFORNIA, {
  hourly_units: {
    time: 'iso8601',
    temperature_2m: '°C',
    relative_humidity_2m: '%',
    wind_speed_10m: 'kn',
  },
  hourly: {
    time: HOURS.map(
      (index) => `${day(Math.floor(index / 24))}T${String(index % 24).padStart(2, '0')}:00`,
    ),
    temperature_2m: HOURS.map((index) => 30 - Math.abs(15 - index)),
    relative_humidity_2m: HOURS.map((index) => 20 + Math.abs(15 - index)),
    wind_speed_10m: HOURS.map((index) => index),
  },
});

import { wantedPlaces } from '../../asked-place.ts';
import type { Imported, Payload } from '../../payload.ts';
import { ReadingList } from '../../readings.ts';
import {
  type ModelAnswer,
  modelOrigin,
  modelReading,
  modelSource,
  pastHours,
  readAnswer,
} from './open-meteo-answer.ts';

const LINES = ['environment'];
const ORIGIN = modelOrigin('Copernicus CAMS', 'air-quality-api');
const OURS = 'the cell stands for the city (ours)';

/** Sub-indices of the US AQI by pollutant; the index is the highest of them. */
const POLLUTANTS = [
  'pm2_5',
  'pm10',
  'nitrogen_dioxide',
  'ozone',
  'sulphur_dioxide',
  'carbon_monoxide',
];

/** The index is taken as the model gives it: it rests on means of up to 24 hours, never on the hour alone. */
function readAirQuality(payload: Payload): Imported {
  const answer = readAnswer(payload, LINES);
  const [place] = answer.places;
  const list = new ReadingList();
  const add = (signal: string, at: number, current: Record<string, number | string>) =>
    list.add(signal, modelReading(answer, place, { origin: ORIGIN, at, current, ours: OURS }));
  const dominant = dominantPollutant(answer);
  for (const [at, value] of pastHours(answer, 'us_aqi', ['USAQI'])) {
    if (value === null) list.skips.add(place.entity, 'an hour without us_aqi');
    else add('airquality.aqi', at, { aqi_index: value, ...dominant(at, value) });
  }
  for (const [at, value] of pastHours(answer, 'pm2_5', ['μg/m³', 'µg/m³'])) {
    if (value === null) list.skips.add(place.entity, 'an hour without pm2_5');
    else add('airquality.pm25', at, { pm25_ugm3: value });
  }
  return list.someOf(payload);
}

/** Names the pollutant whose sub-index is the index; nothing where the payload holds no such sub-index. */
function dominantPollutant(answer: ModelAnswer) {
  const series = POLLUTANTS.map(
    (name) => [name, pastHours(answer, `us_aqi_${name}`, ['USAQI'])] as const,
  );
  return (at: number, index: number): { dominant?: string } => {
    const [found] = series.find(([, values]) => values.get(at) === index) ?? [];
    return found === undefined ? {} : { dominant: found };
  };
}

/** Air quality of a model: https://open-meteo.com/en/docs/air-quality-api */
export const openMeteoAirQuality = modelSource({
  id: 'open-meteo-air-quality',
  agency: 'Open-Meteo, for the Copernicus Atmosphere Monitoring Service',
  feeds: ['airquality.aqi', 'airquality.pm25'],
  read: readAirQuality,
  service: 'https://customer-air-quality-api.open-meteo.com/v1/air-quality',
  // The index of all cities comes from AirNow: only who names cities here is asked to have it from the model.
  asks: ({ entities }) => {
    const variables = entities.length === 0 ? 'pm2_5' : 'pm2_5,us_aqi';
    return wantedPlaces(LINES, entities).map((place) => [place, `current=${variables}`]);
  },
  everyMinutes: 60,
});

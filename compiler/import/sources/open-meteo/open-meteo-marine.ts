import { wantedPlaces } from '../../asked-place.ts';
import { fetchAgain, type Imported, type Payload } from '../../payload.ts';
import { ReadingList } from '../../readings.ts';
import {
  modelOrigin,
  modelReading,
  modelSource,
  pastHours,
  readAnswer,
} from './open-meteo-answer.ts';

const LINES = ['shipping'];
const ORIGIN = modelOrigin('national wave models', 'marine-weather-api');
const POINT = 'one point stands for the route (ours); values between the hours are interpolated';

/** Bands of a route by significant wave height in m, mildest first (ours: no agency publishes any). */
const DISRUPTION_STEPS = [
  ['operable', 0],
  ['marginal', 2.5],
  ['disrupted', 4],
  ['severe', 6],
] as const;
const BANDS = `${POINT}; bands from 2.5, 4 and 6 m are ours, not official`;

/** The band that a wave height in m begins or lies in. */
export function disruptionBand(height: number): string {
  return DISRUPTION_STEPS.findLast(([, from]) => height >= from)?.[0] ?? DISRUPTION_STEPS[0][0];
}

function readMarine(payload: Payload): Imported {
  const answer = readAnswer(payload, LINES);
  const [place] = answer.places;
  const list = new ReadingList();
  for (const [at, height] of pastHours(answer, 'wave_height', ['m'])) {
    if (height === null) {
      list.skips.add(place.entity, 'a time without wave_height');
      continue;
    }
    if (height < 0) {
      throw fetchAgain(payload, `wave_height ${height} is below 0`);
    }
    const stated = { origin: ORIGIN, at };
    const sea = { ...stated, current: { wave_height_m: height }, ours: POINT };
    const band = disruptionBand(height);
    const route = { ...stated, current: { wave_height_m: height, band }, ours: BANDS };
    list.add('shipping.sea-state', modelReading(answer, place, sea));
    list.add('shipping.route-disruption', modelReading(answer, place, route));
  }
  return list.someOf(payload);
}

/** Waves of a model: https://open-meteo.com/en/docs/marine-weather-api */
export const openMeteoMarine = modelSource({
  id: 'open-meteo-marine',
  agency: 'Open-Meteo, for national wave models',
  feeds: ['shipping.sea-state', 'shipping.route-disruption'],
  read: readMarine,
  service: 'https://customer-marine-api.open-meteo.com/v1/marine',
  asks: ({ entities }) =>
    wantedPlaces(LINES, entities).map((place) => [place, 'current=wave_height']),
  everyMinutes: 60,
});

import { readingsBodySchema } from '../contract/record.ts';
import { cityLoc, paid } from './product.ts';

/** Signals of the two city add-ons, in the order of their readings. */
export const CITY_ADD_ONS = {
  air: ['airquality.aqi', 'airquality.pm25'],
  precip: ['precipitation.daily', 'precipitation.wetness30d'],
} as const;

export const CITIES = [
  paid('/gauge/air', {
    params: { loc: cityLoc },
    file: 'air/{loc}.json',
    summary: 'air quality readings of a city',
    guide:
      'Answers how the air of a city is now: index and fine particles with class. Not rain or rivers, and only for the listed cities.',
    body: readingsBodySchema,
  }),
  paid('/gauge/precip', {
    params: { loc: cityLoc },
    file: 'precip/{loc}.json',
    summary: 'daily rainfall and 30-day wet-dry context of a city',
    guide:
      'Answers how much it rained in a city on the last complete day and over 30 days. No forecast, and only for the listed cities.',
    body: readingsBodySchema,
  }),
] as const;

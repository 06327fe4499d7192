import { roundDecimal } from '../../../contract/decimal.ts';
import { DAY_MS } from '../../../contract/iso-time.ts';
import { fetchAgain } from '../../fetch-again.ts';
import { type Answer, isOver, pastHours } from './open-meteo-answer.ts';

const HOURS_A_DAY = 24;

/** What the two metrics are, for `scope`. */
export const FIRE_WEATHER_SCOPE =
  'highest vapour pressure deficit and highest wind of the 24 hours of a day, the deficit from temperature and relative humidity by the Tetens equation (ours)';

/** Vapour pressure deficit in kPa of air in °C and percent; Tetens equation as in FAO Irrigation and Drainage Paper 56. */
export function vapourPressureDeficit(celsius: number, humidityPct: number): number {
  const saturated = 0.6108 * Math.exp((17.27 * celsius) / (celsius + 237.3));
  return roundDecimal(saturated * (1 - humidityPct / 100), 3);
}

interface FireDay {
  /** Date at 00:00Z, in epoch milliseconds. */
  readonly day: number;
  readonly current: Readonly<Record<string, number | null>>;
}

/** Days of which all hours are known; a day without wind in knots has none. */
export function fireWeather(answer: Answer): FireDay[] {
  const humidity = pastHours(answer, 'relative_humidity_2m', ['%']);
  const wind = pastHours(answer, 'wind_speed_10m', ['kn']);
  const deficits = new Map<number, number[]>();
  const winds = new Map<number, number[]>();
  for (const [at, celsius] of pastHours(answer, 'temperature_2m', ['°C'])) {
    const day = Math.floor((at + answer.offsetMs) / DAY_MS) * DAY_MS;
    const percent = humidity.get(at) ?? null;
    if (percent !== null && (percent < 0 || percent > 100)) {
      throw fetchAgain(answer.payload, `relative_humidity_2m ${percent} is not a percentage`);
    }
    if (celsius !== null && percent !== null) {
      put(deficits, day, vapourPressureDeficit(celsius, percent));
    }
    const knots = wind.get(at) ?? null;
    if (knots !== null) put(winds, day, knots);
  }
  return [...deficits].flatMap(([day, values]) => {
    if (values.length < HOURS_A_DAY || !isOver(answer, day)) return [];
    const known = winds.get(day) ?? [];
    const strongest = known.length < HOURS_A_DAY ? null : Math.max(...known);
    return [{ day, current: { vpd_kpa: Math.max(...values), wind_kt: strongest } }];
  });
}

function put(lists: Map<number, number[]>, day: number, value: number): void {
  const list = lists.get(day);
  if (list === undefined) lists.set(day, [value]);
  else list.push(value);
}

import { shownText } from '../../format/html.ts';
import { HOUR_MS } from '../../format/iso-time.ts';
import { type Cadence, type FreshnessClass, freshness } from './freshness.ts';
import type { Words } from './line.ts';
import { CLASS, classify, positionOn, type Ruler } from './rulers.ts';

// A reading in words: for the page, the feed, a 402, the tools, the command and llms.txt. Everything that is said follows from
// the reading and from the catalogue that its release signs; the words are rows of the catalogue.

/** A metric as people are told of it. */
export interface SpokenMetric {
  readonly name: string;
  /** What it is called, with its window. */
  readonly label: string;
  /** What stands after a number, '' for nothing; `one` where a single one is called otherwise. */
  readonly unit: string;
  readonly one?: string;
}

/** What a signal says of its readings, from its row of the catalogue (`catalog/spoken.ts`). */
export interface Spoken extends Classed {
  readonly title: string;
  readonly cadence: Cadence;
  /** The main one first. */
  readonly metrics: readonly SpokenMetric[];
  readonly says: readonly string[];
  readonly none: string;
  readonly classes: NonNullable<Words['classes']>;
  readonly all?: string;
}

/** The classes of a signal, and its scales. */
export interface Classed {
  /** Oldest first; empty where there is none for every entity. */
  readonly scales: readonly Ruler[];
  /** Every class that a reading can have, mildest first; empty where nobody classes it. */
  readonly bands: readonly string[];
  /** Each entity has thresholds of its own. */
  readonly isOwn?: true;
}

type Current = Readonly<Record<string, unknown>>;

/** A reading, or what a list says of one: then without its values. */
export interface Sayable {
  readonly entity: string;
  readonly entity_name?: string | null | undefined;
  readonly observed_at?: string;
  readonly current?: Current;
  /** IANA time zone of its place. */
  readonly zone?: string | undefined;
}

/** A reading in words. Each part is text from outside in part, and no markup. */
export interface Said {
  /** Whom it is about and what it is. */
  readonly topic: string;
  /** The value in a sentence or a few; that there is none, where there is none. */
  readonly value: string;
  /** The class and whose it is; '' without one. */
  readonly standing: string;
  /** When it was observed; '' where that is not said. */
  readonly when: string;
  /** All of it. */
  readonly whole: string;
}

/** Says a reading. */
export function say(spoken: Spoken, reading: Sayable): Said {
  const { observed_at, current, zone } = reading;
  const name = spoken.all ?? shown(reading.entity_name ?? reading.entity);
  const topic = `${name}: ${spoken.title}`;
  const when = observed_at === undefined ? '' : sayTime(observed_at, spoken.cadence, zone);
  if (current === undefined || observed_at === undefined) {
    return {
      topic,
      value: '',
      standing: '',
      when,
      whole: when === '' ? topic : `${topic}, ${when}`,
    };
  }
  const sentences = spoken.says.flatMap((row) => filled(row, { name, current, spoken }) ?? []);
  const none = spoken.none.replaceAll('{name}', () => name);
  const value = [...(hasValue(spoken, current) ? [] : [none]), ...sentences].join(' ');
  const standing = standingOf(spoken, { observed_at, current });
  const whole = [value, standing, `Observed ${when}.`].filter((text) => text !== '').join(' ');
  return { topic, value, standing, when, whole };
}

/** Whether the main metric has a value. */
export function hasValue({ metrics: [main] }: Pick<Spoken, 'metrics'>, current: Current): boolean {
  const value = main === undefined ? null : current[main.name];
  return value !== null && value !== undefined;
}

/** What stands in braces: a metric, how it has to be and is written, and the words for one and for many. */
const BRACES = /\{([a-z][a-z0-9_]*)([#+=-]*)(?::([^{}|]*)\|([^{}|]*))?\}/g;

/** The metrics that a sentence needs; null where its braces cannot be read. */
export function metricsIn(sentence: string): string[] | null {
  const names = [...sentence.matchAll(BRACES)].map(([, name = '']) => name);
  return /[{}]/.test(sentence.replaceAll(BRACES, '')) ? null : names;
}

interface Filling {
  readonly name: string;
  readonly current: Current;
  readonly spoken: Spoken;
}

/** A sentence with its numbers; null where one is missing, or is not as the sentence has it. */
function filled(sentence: string, { name, current, spoken }: Filling): string | null {
  let isTrue = true;
  const text = sentence.replaceAll(
    BRACES,
    (...[, metric, signs, one, many]: [string, string, string, string?, string?]) => {
      if (metric === 'name') return name;
      const value = current[metric];
      if (typeof value === 'string') return className(spoken, value);
      if (typeof value !== 'number' || !fits(value, signs)) {
        isTrue = false;
        return '';
      }
      const size = signs.includes('-') ? -value : value;
      if (one !== undefined && many !== undefined) return size === 1 ? one : many;
      return written(spoken, metric, size, signs);
    },
  );
  return isTrue ? withNone(text) : null;
}

/** A number as the signs in its braces have it. */
function written(spoken: Spoken, metric: string, size: number, signs: string): string {
  if (signs.includes('=')) return '';
  if (size === 0 && metric.endsWith('_count')) return NONE;
  return signs.includes('#') ? figure(size) : quantity(spoken, metric, size);
}

/** Stands for a count of 0 until it is known what comes after it; no text that is shown holds it. */
const NONE = '\ufffe';

/** "No quakes" and "none of them" for a count of 0; a 0 where it counts no noun. */
function withNone(text: string): string {
  const said = text.replaceAll(/\ufffe(?: (?!(?:is|are|was|were|and|or)\b)[a-z]+)?/g, (found) => {
    if (found === NONE) return '0';
    return (found === `${NONE} of` ? 'none' : 'no') + found.slice(1);
  });
  return text.startsWith(NONE) ? said.slice(0, 1).toUpperCase() + said.slice(1) : said;
}

function fits(value: number, signs: string): boolean {
  if (signs.includes('+')) return value > 0;
  if (signs.includes('-')) return value < 0;
  return !signs.includes('=') || value === 0;
}

function metricOf({ metrics }: Pick<Spoken, 'metrics'>, name: string): SpokenMetric | undefined {
  return metrics.find((metric) => metric.name === name);
}

/** A number as people write it: `13.6 ft`, `35%`, `1 day`. */
function quantity(spoken: Pick<Spoken, 'metrics'>, name: string, value: number): string {
  const { unit = '', one = unit } = metricOf(spoken, name) ?? {};
  const said = value === 1 ? one : unit;
  return `${figure(value)}${said === '' || said === '%' ? '' : ' '}${said}`;
}

/** A value of a table, whose row or column says what it is. */
export function valueIn(spoken: Spoken, current: Current, name = spoken.metrics[0]?.name): string {
  const value = name === undefined ? null : current[name];
  if (name === undefined || value === null || value === undefined) return 'no value';
  if (typeof value === 'number') return quantity(spoken, name, value);
  const text = String(value);
  return /^\d{4}-\d\d-\d\dT/.test(text) ? sayTime(text) : className(spoken, text);
}

/** What else a reading holds, each with what it is called. */
export function furtherValues(spoken: Spoken, current: Current): (readonly [string, string])[] {
  return Object.keys(current)
    .filter((name) => name !== spoken.metrics[0]?.name && name !== CLASS)
    .filter((name) => typeof current[name] !== 'object' || current[name] === null)
    .map((name) => {
      const label = metricOf(spoken, name)?.label ?? plainWords(name);
      return [label, valueIn(spoken, current, name)];
    });
}

/** Characters of one text that a page shows. */
const TEXT_MAX = 400;

/** Text of a source as it may stand on a page: nothing in it steers the page, and it is no wall of text. */
export function shown(text: string): string {
  const cut = text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} …` : text;
  return shownText(cut);
}

/** A number; digits are never rounded away. */
export function figure(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 20 });
}

/** A number of things, in words: `1 entity`, `12 entities`. */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** The words of an id: `unhealthy-sensitive` is "unhealthy sensitive". */
export function plainWords(id: string): string {
  return shown(id.replaceAll(/[-_]+/g, ' '));
}

/** What people call a class or a state. */
export function className(
  { classes, scales }: Pick<Spoken, 'classes' | 'scales'>,
  band: string,
): string {
  if (Object.hasOwn(classes, band)) return classes[band] ?? band;
  return stepOf(scales, band)?.name ?? plainWords(band);
}

/** The agency's own colour of a class; null where it has none. */
export function classColour({ scales }: Pick<Classed, 'scales'>, band: string): string | null {
  return stepOf(scales, band)?.colour ?? null;
}

function stepOf(scales: readonly Ruler[], band: string): Ruler['steps'][number] | undefined {
  return scales.at(-1)?.steps.find((step) => step.band === band);
}

/** Colours that the page has for classes, from the mildest to the worst. */
const SHADES = 6;

/** The colour of a class, 0 for the mildest; null for one that stands in no list. */
export function shadeOf({ bands }: Pick<Classed, 'bands'>, band: string | null): number | null {
  const at = placeIn(bands, band);
  if (at === null) return null;
  return bands.length === 1 ? 0 : Math.round((at / (bands.length - 1)) * (SHADES - 1));
}

/** Whether a leg of a chain is lit, as `products/shapes/bundle.ts` has it: its class is not the mildest. Null without a class. */
export function isLitBand({ bands }: Pick<Classed, 'bands'>, band: string | null): boolean | null {
  const at = placeIn(bands, band);
  return at === null ? null : at > 0;
}

/** Which thresholds there are differs by gauge: whatever is below the lowest one is the mildest class. */
function placeIn(bands: readonly string[], band: string | null): number | null {
  if (band === null) return null;
  if (BELOW.test(band) && BELOW.test(bands[0] ?? '')) return 0;
  const at = bands.indexOf(band);
  return at === -1 ? null : at;
}

const BELOW = /^below-/;

/** Only a scale that names its agency and the document is called official. */
export function isOfficial({ agency, document }: Ruler): boolean {
  return agency !== undefined && document !== undefined;
}

/** Whose scale it is. */
export function scaleText(scale: Ruler): string {
  const { agency, document, provenance } = scale;
  if (isOfficial(scale)) return `${scale.scale}: ${agency}, ${document}`;
  return `${scale.scale}, no official scale: ${provenance}`;
}

function standingOf(spoken: Spoken, reading: Classable): string {
  const band = bandFor(spoken, reading);
  if (band === null) return '';
  const name = className(spoken, band);
  const scale = scaleFor(spoken, reading);
  if (scale !== null && isOfficial(scale)) {
    return `Official class: ${name}, on the ${scale.scale} (${scale.agency}).`;
  }
  if (scale !== null) return `Class: ${name}, on a scale that is not official.`;
  return spoken.isOwn === true
    ? `Class: ${name}, by the thresholds of this place.`
    : `Class: ${name}, on no official scale.`;
}

/** What a class follows from: the values of a reading, and its time. */
export interface Classable {
  readonly observed_at: string;
  readonly current: Current;
}

/** The scale of the day of a reading, where its publisher gives it no class of its own. */
export function scaleFor(
  { scales }: Pick<Classed, 'scales'>,
  { observed_at, current: { band } }: Classable,
): Ruler | null {
  const day = observed_at.slice(0, 10);
  const scale = scales.findLast(({ since = '' }) => since <= day);
  if (scale === undefined) return null;
  return typeof band === 'string' && !scale.steps.some((step) => step.band === band) ? null : scale;
}

/** Class of a reading: on the scale of its day, else the one that its publisher gave; null for neither. */
export function bandFor(signal: Classed, reading: Classable): string | null {
  const { band } = reading.current;
  const given = typeof band === 'string' ? band : null;
  const scale = scaleFor(signal, reading);
  if (scale === null) return given;
  const own = classOn(scale, reading);
  // A second metric may set the class; of the two scales the worse one holds.
  if (scale.beside === undefined) return own ?? given;
  const other = classOn(scale.beside, reading);
  if (own === null || other === null) return given;
  const place = (name: string): number => scale.steps.findIndex((step) => step.band === name);
  return place(other) > place(own) ? other : own;
}

function classOn(scale: Ruler, reading: Classable): string | null {
  const value = positionOn(scale, reading);
  return value === null ? null : classify(scale, value).band;
}

/** How the newest of some readings, oldest first, differs from the last one before it that has a value. */
export function sayChange(spoken: Spoken, rows: readonly Classable[]): string {
  const [main] = spoken.metrics;
  const now = rows.at(-1);
  if (main === undefined || now === undefined || rows.length < 2) {
    return 'There is no earlier reading to compare with.';
  }
  const before = rows.slice(0, -1).findLast(({ current }) => hasValue(spoken, current));
  if (before === undefined) return 'No earlier reading here has a value.';
  const [value, old] = [now.current[main.name], before.current[main.name]];
  const text = valueIn(spoken, before.current);
  const hours = (Date.parse(now.observed_at) - Date.parse(before.observed_at)) / HOUR_MS;
  const ago = `${ageText(hours)} before`;
  if (!hasValue(spoken, now.current)) return `The last value was ${text}, ${ago}.`;
  if (value === old) return `The same as ${ago}.`;
  if (typeof value !== 'number' || typeof old !== 'number') return `It was ${text} ${ago}.`;
  return `${value > old ? 'Up' : 'Down'} from ${text} ${ago}.`;
}

export const MONTHS: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/**
 * When something was observed. A whole month, quarter or year is written as its first or last midnight; it is said as such,
 * and a day as a day. The text itself where it is no time.
 */
export function sayTime(iso: string, cadence: Cadence | null = null, zone?: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return shown(iso);
  const isMidnight = iso.slice(10, 19) === 'T00:00:00';
  if (isMidnight) {
    const period = cadence === null ? null : periodText(at, cadence);
    if (period !== null) return period;
    if (cadence !== null && cadence !== 'hourly') return dayText(at);
  }
  const utc = `${dayText(at)}, ${clockText(at)} UTC`;
  const local = zone === undefined ? at : localTime(at, zone);
  if (local.getTime() === at.getTime()) return utc;
  const day = dayText(local) === dayText(at) ? '' : `${dayText(local)}, `;
  return `${utc} (${day}${clockText(local)} local time)`;
}

function periodText(at: Date, cadence: Cadence): string | null {
  const months = { monthly: 1, quarterly: 3, yearly: 12 }[cadence as string];
  const next = new Date(at.getTime() + 24 * HOUR_MS);
  const [isFirst, isLast] = [at.getUTCDate() === 1, next.getUTCDate() === 1];
  if (months === undefined || !(isFirst || isLast)) return null;
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  if ((isFirst ? month : month + 1) % months !== 0) return null;
  if (months === 12) return `${year}`;
  return months === 1
    ? `${MONTHS[month]} ${year}`
    : `quarter ${Math.floor(month / 3) + 1} of ${year}`;
}

/** One for each zone: to make one takes longer than all else that a page says. */
const forms = new Map<string, Intl.DateTimeFormat>();

/** The clock of a place, as if it were UTC. */
function localTime(at: Date, timeZone: string): Date {
  let form = forms.get(timeZone);
  form ??= new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  forms.set(timeZone, form);
  const offset = form.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(offset) ?? [];
  const shift = Number(hours ?? 0) + Number(minutes ?? 0) / 60;
  return new Date(at.getTime() + (sign === '-' ? -shift : shift) * HOUR_MS);
}

function dayText(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]?.slice(0, 3)} ${at.getUTCFullYear()}`;
}

function clockText(at: Date): string {
  return at.toISOString().slice(11, 16);
}

/** How old a reading is; nothing is fresh that has no value. */
export function sayAge(
  { cadence }: Pick<Spoken, 'cadence'>,
  observedAt: string,
  { now, hasValue }: { readonly now: number; readonly hasValue: boolean },
): { readonly style: FreshnessClass; readonly text: string } {
  const { freshness: word, age_hours_now: age } = freshness(cadence, observedAt, now);
  const old = `${ageText(age)} old`;
  return hasValue
    ? { style: word, text: `${word}, ${old}` }
    : { style: 'stale', text: `no value, ${old}` };
}

/** Hours as people say them: "42 minutes", "5 hours", "3 days", "2 years". */
export function ageText(hours: number): string {
  const [count, unit] = AGE_STEPS.find(([limit]) => hours < limit)?.slice(1) ?? [8766, 'year'];
  const many = Math.max(count === 1 / 60 ? 0 : 1, Math.round(hours / Number(count)));
  return `${many.toLocaleString('en')} ${unit}${many === 1 ? '' : 's'}`;
}

/** Up to how many hours, how many hours one of it has, and its name. */
const AGE_STEPS: readonly (readonly [limit: number, hours: number, unit: string])[] = [
  [1.5, 1 / 60, 'minute'],
  [48, 1, 'hour'],
  [24 * 90, 24, 'day'],
  [24 * 730, 730.5, 'month'],
];

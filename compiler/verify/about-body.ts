import type { Catalog } from '../contract/catalog/catalog.ts';
import { type Citation, citationSchema } from '../contract/citation.ts';
import { HOUR_MS } from '../contract/iso-time.ts';
import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';
import { answeredTarget } from './answer-fault.ts';
import { settlementAnswer } from './resolve-checks.ts';
import { isSeries } from './series-checks.ts';

/** Which time of a body is that of its observation. */
export type ObservedKind = 'reading' | 'oldest' | 'newest_row' | 'coverage';

/** The time of each kind, for people. */
export const TIME_OF: Readonly<Record<ObservedKind, string>> = {
  reading: 'its reading',
  oldest: 'the oldest of what it joins',
  newest_row: 'its newest row',
  coverage: 'the last look at the list of filings',
};

/** What a verified body is about, in the words that its issuer signed. */
export interface BodyAbout {
  /** What is stated; null where the issuer states no claim. */
  readonly subject: string | null;
  /** The value with its unit, or how many readings of which times. */
  readonly fact: string;
  /** The canonical request that it answers, without what nobody signed; null where it answers none. */
  readonly answers: string | null;
  /** What it gives back of the request, which nobody signed and nothing in it depends on; null where there is none. */
  readonly unsigned: { readonly market_or_event: string } | null;
  /** RFC 3339 time of what was observed; null where none is stated. */
  readonly observed_at: string | null;
  /** Which time that is: that of one reading, of the oldest of several, of the newest row of a series, of the filings' list. */
  readonly time_of: ObservedKind;
  /** When it was collected. */
  readonly retrieved_at: string;
  /** Hours from the observation to the reader's clock, one decimal, below 0 for a time to come; null without a clock. */
  readonly age_hours: number | null;
}

interface AboutBy {
  readonly now?: number | undefined;
  readonly catalog: Catalog;
}

/** What a body is about; only for one that was verified. Null for a body without a citation of its own. */
export function aboutBody(body: JsonValue, { now, catalog }: AboutBy): BodyAbout | null {
  const holder = isObject(body) && isObject(body.sample) && !body._citation ? body.sample : body;
  if (!isObject(holder)) return null;
  const parsed = citationSchema.safeParse(holder._citation);
  if (!parsed.success) return null;
  const settlement = settlementWords(holder);
  const words = settlement ?? citedWords(holder, parsed.data);
  const age = now === undefined ? Number.NaN : now - Date.parse(words.observed_at ?? '');
  const unsigned = settlement === null ? null : unsignedWords(holder);
  const signed = unsigned === null ? holder : { ...holder, market_or_event: null };
  return {
    ...words,
    answers: holder === body ? answeredTarget(signed, catalog) : null,
    unsigned,
    age_hours: Number.isNaN(age) ? null : Math.round((age / HOUR_MS) * 10) / 10,
  };
}

type Words = Omit<BodyAbout, 'answers' | 'unsigned' | 'age_hours'>;

/** The citation of a body states what the whole body is about. */
function citedWords(body: JsonObject, { claim, fact, source, retrieved_at }: Citation): Words {
  const time_of = observedKind(body);
  return { subject: claim ?? null, fact, observed_at: source.published_at, time_of, retrieved_at };
}

function observedKind(body: JsonObject): ObservedKind {
  if (isSeries(body)) return 'newest_row';
  return typeof body.record_hash === 'string' ? 'reading' : 'oldest';
}

/** Of a settlement answer the words of the request: whoever serves it may put any text there. */
function unsignedWords({ market_or_event }: JsonObject): BodyAbout['unsigned'] {
  return typeof market_or_event === 'string' ? { market_or_event } : null;
}

/** A settlement answer repeats the citation of one of its parts; what it states follows from all of them. */
function settlementWords(body: JsonObject): Words | null {
  if (settlementAnswer(body) === null || !isObject(body.coverage)) return null;
  const { form, event_class, entity_name, cik, cutoff, note, coverage } = body;
  const cited = citationSchema.safeParse(coverage._citation);
  const item = typeof event_class === 'string' ? `, item ${event_class}` : '';
  return {
    subject: `${String(form)}${item} of ${String(entity_name)} (CIK ${String(cik)}), cutoff ${String(cutoff)}`,
    fact: String(note),
    observed_at: typeof coverage.observed_at === 'string' ? coverage.observed_at : null,
    time_of: 'coverage',
    retrieved_at: cited.success ? cited.data.retrieved_at : String(coverage.observed_at),
  };
}

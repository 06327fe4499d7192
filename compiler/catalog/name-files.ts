import airport from './names/airport.json' with { type: 'json' };
import asking from './names/asking.json' with { type: 'json' };
import coin from './names/coin.json' with { type: 'json' };
import company from './names/company.json' with { type: 'json' };
import drug from './names/drug.json' with { type: 'json' };
import filler from './names/filler.json' with { type: 'json' };
import measure from './names/measure.json' with { type: 'json' };
import ordinary from './names/ordinary.json' with { type: 'json' };
import place from './names/place.json' with { type: 'json' };
import span from './names/span.json' with { type: 'json' };
import subject from './names/subject.json' with { type: 'json' };
import translated from './names/translated.json' with { type: 'json' };

/** Names that things in the world have, sold here or not; `scripts/names/make-names.ts` makes most of them of open tables. */
export const NAME_FILES: readonly unknown[] = [
  company,
  coin,
  drug,
  place,
  airport,
  translated,
  measure,
];

/** What topics are called in other languages, one row each: the English word, then all others, parted by `|`. */
export const SUBJECT_FILES: readonly unknown[] = [subject];

/** Words that say nothing, as the search compares them, and verbs and adjectives of everyday English. */
export const FILLER_FILES: readonly unknown[] = [filler, ordinary];

/** Words that say nothing, whatever a topic is called. */
export const ASKING_FILES: readonly unknown[] = [asking];

/** Words that say how far back or how often, one row for what means the same. */
export const SPAN_FILES: readonly unknown[] = [span];

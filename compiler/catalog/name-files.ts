import airport from './names/airport.json' with { type: 'json' };
import coin from './names/coin.json' with { type: 'json' };
import company from './names/company.json' with { type: 'json' };
import drug from './names/drug.json' with { type: 'json' };
import place from './names/place.json' with { type: 'json' };

/** Names that things in the world have, sold here or not; `scripts/names/make-names.ts` makes them of open tables. */
export const NAME_FILES: readonly unknown[] = [company, coin, drug, place, airport];

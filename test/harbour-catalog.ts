import { HARBOUR_RULER, LEVEL_SIGNAL, WAVES_SIGNAL } from './tide-shop.ts';

// A catalogue of two files, with something of everything that a catalogue can say.

const STEPS = [
  { band: 'normal', at: 0 },
  { band: 'high', at: 2.5 },
  { band: 'flood', at: 3.2 },
];
const RULER = { ...HARBOUR_RULER, steps: STEPS };
const LEG = { measures: 'days', metrics: ['late_days'], bands: ['none', 'some'] };

/** Two files of one catalogue: rulers, and a line with stations that reads the sea at buoys of its own. */
export const HARBOUR_FILES = {
  'harbour.json': {
    format: 'signalpress-catalog/1',
    extends: null,
    rulers: {
      harbour: { ...RULER, beside: 'surge' },
      surge: { ...RULER, metric: 'surge_cm', actionBand: null },
    },
    prices: {
      '/gauge': '0.02',
      '/gauge/census': '0.3',
      '/gauge/tide-region': '0.5',
      bundle: '0.25',
    },
  },
  'tides.json': {
    format: 'signalpress-catalog/1',
    extends: null,
    lines: [
      {
        id: 'tides',
        industry: 'ports',
        title: 'tide gauges',
        signals: [
          {
            ...LEVEL_SIGNAL,
            metrics: ['level_m', 'surge_cm'],
            range: { from: -5, to: 20 },
            rulers: ['harbour'],
          },
          {
            ...WAVES_SIGNAL,
            bands: ['calm', 'rough'],
            entities: 'open',
          },
          {
            id: 'tides.gate',
            measures: 'height of a flood gate',
            cadence: 'daily',
            metrics: ['gate_m'],
            ownThresholds: ['minor', 'major'],
          },
        ],
        bundle: {
          path: '/gauge/tide-region',
          param: 'entity',
          legs: [
            { name: 'sea', signals: ['tides.waves'] },
            { name: 'harbour', signals: ['tides.level'] },
          ],
        },
        entities: [
          'pier-one',
          {
            id: 'quay-two',
            name: 'Quay Two',
            latitude: 54.1,
            longitude: 7.9,
            zone: 'Europe/Berlin',
          },
          { id: 'lock-three', name: 'Lock Three' },
          'spare-dock',
        ],
        places: [{ id: 'buoy-9', name: 'Buoy 9', latitude: 54.3, longitude: 7.1 }],
        entityOf: [{ signals: ['tides.waves'], entities: { 'pier-one': 'buoy-9' } }],
      },
      {
        id: 'berth',
        industry: 'ports',
        title: 'berths',
        entityAliases: ['berth', 'dock'],
        entities: ['berth-one'],
        lifecycle: {
          path: '/gauge/berth-region',
          terms: ['withdrawn'],
          legs: [
            { name: 'delay', ...LEG },
            { name: 'spread', ...LEG },
          ],
        },
      },
    ],
  },
} as const;

/** A member of a file by its JSON pointer, and what it becomes; `undefined` removes it, and '' is the whole file. */
export type Edit = readonly [file: string, pointer: string, value: unknown];

/** The files after some edits, as texts by name. A text in place of a whole file is written as it is. */
export function editedFiles(edits: readonly Edit[]): Record<string, string> {
  const files: Record<string, unknown> = JSON.parse(JSON.stringify(HARBOUR_FILES));
  for (const [file, pointer, value] of edits) {
    const parts = pointer.split('/').slice(1).map(unescaped);
    setAt(files, [file, ...parts], value);
  }
  return Object.fromEntries(
    Object.entries(files).map(([name, value]) => {
      return [name, typeof value === 'string' ? value : JSON.stringify(value)];
    }),
  );
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function setAt(root: object, path: readonly string[], value: unknown): void {
  const [last = '', ...parents] = [...path].reverse();
  const holder = parents
    .reverse()
    .reduce<unknown>((at, name) => Reflect.get(Object(at), name), root);
  if (Array.isArray(holder) && value === undefined) holder.splice(Number(last), 1);
  else if (value === undefined) Reflect.deleteProperty(Object(holder), last);
  else Reflect.set(Object(holder), last, value);
}

import {
  CATALOG_FORMAT,
  type CatalogFile,
  type RulerRow,
} from '../contract/catalog/catalog-file.ts';

/** The entity whose record the commands of a new shop buy. */
export const FIRST_ENTITY = 'station-one';

/** The catalogue that a new shop begins with: one line of three stations, a scale, a bundle of two legs, and prices. */
export function shopCatalog(line: string, extended: 'builtin' | null): CatalogFile {
  const path = `/gauge/${line}-region`;
  return {
    $schema: '../catalog.schema.json',
    format: CATALOG_FORMAT,
    extends: extended,
    note: 'An example, invented. Put what you measure in its place; the schema says what each member means.',
    lines: [lineRow(line, path)],
    rulers: { [`${line}-stages`]: RULER },
    prices: extended === 'builtin' ? { [path]: '0.25' } : { ...PRICES, [path]: '0.25' },
  };
}

/** USD a call; what has no price is not offered. */
const PRICES = {
  '/gauge': '0.01',
  '/gauge/ruler': '0.005',
  '/gauge/history': '0.005',
  '/gauge/census': '0.05',
} as const;

const RULER: RulerRow = {
  scale: 'Example stages',
  metric: 'level_m',
  unit: 'm',
  direction: 'up',
  edge: 'worse',
  actionBand: 'flood',
  provenance: 'Invented; name the agency and the document of your thresholds here',
  steps: [
    { band: 'normal', at: 0 },
    { band: 'high', at: 2.5 },
    { band: 'flood', at: 3.2 },
  ],
};

function lineRow(line: string, path: string): NonNullable<CatalogFile['lines']>[number] {
  const [waves, level] = [`${line}.waves`, `${line}.level`];
  return {
    id: line,
    industry: line,
    title: `${line} stations`,
    signals: [
      {
        id: waves,
        measures: 'wave height',
        cadence: 'hourly',
        metrics: ['height_m'],
        range: { from: 0, to: 30 },
        bands: ['calm', 'rough'],
      },
      {
        id: level,
        measures: 'water level above the local datum',
        cadence: 'hourly',
        metrics: ['level_m'],
        rulers: [`${line}-stages`],
      },
    ],
    bundle: {
      path,
      param: 'loc',
      legs: [
        { name: 'waves', signals: [waves] },
        { name: 'level', signals: [level] },
      ],
    },
    entities: [
      { id: FIRST_ENTITY, name: 'Station One', latitude: 51.9, longitude: 4.1 },
      { id: 'station-two', name: 'Station Two', latitude: 53.2, longitude: 5.4 },
      { id: 'station-three', name: 'Station Three' },
    ],
  };
}

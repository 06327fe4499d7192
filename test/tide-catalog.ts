import { catalogOf } from '../compiler/catalog/catalog.ts';
import type { CatalogFile } from '../compiler/catalog/catalog-file.ts';

// What the shops of tides in tests are made of; it shares nothing with the built-in catalogue.

type LineRow = NonNullable<CatalogFile['lines']>[number];
export type SignalRow = NonNullable<LineRow['signals']>[number];
export type RulerRow = NonNullable<CatalogFile['rulers']>[string];

export const LEVEL_SIGNAL: SignalRow = {
  id: 'tides.level',
  measures: 'water level',
  cadence: 'hourly',
  metrics: ['level_m'],
};
export const WAVES_SIGNAL: SignalRow = {
  id: 'tides.waves',
  measures: 'wave height',
  cadence: 'hourly',
  metrics: ['height_m'],
};

/** A scale of the water level, in metres. */
export const HARBOUR_RULER: RulerRow = {
  scale: 'Harbour stages',
  metric: 'level_m',
  unit: 'm',
  direction: 'up',
  edge: 'worse',
  actionBand: 'flood',
  provenance: 'Harbour Authority, Notice 4',
  steps: [
    { band: 'normal', at: 0 },
    { band: 'flood', at: 3.2 },
  ],
};

/** A catalogue of one line. */
export const TIDE_FILE: CatalogFile = {
  format: 'signalpress-catalog/1',
  extends: null,
  lines: [
    {
      id: 'tides',
      industry: 'ports',
      title: 'tide gauges',
      upperCase: true,
      signals: [LEVEL_SIGNAL, WAVES_SIGNAL],
      bundle: { path: '/gauge/tide-region', param: 'entity' },
      entities: ['PIER-ONE', 'QUAY-TWO'],
    },
  ],
  prices: { '/gauge': '0.02', bundle: '0.4' },
};

export const TIDES = catalogOf([TIDE_FILE]);

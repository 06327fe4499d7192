import { catalogOf } from '../compiler/contract/catalog/catalog.ts';
import type { CatalogFile } from '../compiler/contract/catalog/catalog-file.ts';

/** A catalogue of one line that shares nothing with the built-in one. */
export const TIDE_FILE: CatalogFile = {
  format: 'signalpress-catalog/1',
  extends: null,
  lines: [
    {
      id: 'tides',
      industry: 'ports',
      title: 'tide gauges',
      upperCase: true,
      signals: [
        { id: 'tides.level', measures: 'water level', cadence: 'hourly', metrics: ['level_m'] },
        { id: 'tides.waves', measures: 'wave height', cadence: 'hourly', metrics: ['height_m'] },
      ],
      bundle: { path: '/gauge/tide-region', param: 'entity' },
      entities: ['PIER-ONE', 'QUAY-TWO'],
    },
  ],
  prices: { '/gauge': '0.02', bundle: '0.4' },
};

export const TIDES = catalogOf([TIDE_FILE]);

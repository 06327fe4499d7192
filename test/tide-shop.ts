import { expect } from 'vitest';
import { catalogOf } from '../compiler/catalog/catalog.ts';
import type { CatalogFile } from '../compiler/catalog/catalog-file.ts';
import { NETWORKS } from '../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../gatekeeper/settle/payment.ts';
import { payer } from './gatekeeper/payer.ts';
import { BUYER_ADDRESS } from './gatekeeper/tiny-gate.ts';
import { ndjson, reading, type SnapshotFiles } from './snapshot-folder.ts';

// A small shop of two signals with a catalogue of its own, for tests of what a publisher can say in it.

/** What a test says of the two signals and of the whole catalogue beside what every tide shop has. */
export interface TideTerms {
  readonly level?: Partial<SignalRow>;
  readonly waves?: Partial<SignalRow>;
  readonly catalog?: Partial<CatalogFile>;
}

export const TIDE_PRICES = {
  '/gauge': '0.02',
  '/gauge/ruler': '0.01',
  '/gauge/calibrated': '0.01',
  '/gauge/history-series': '0.08',
  '/gauge/census': '0.3',
  bundle: '0.4',
};
const BATCH = '2026-11-20';

export function tideCatalog({ level, waves, catalog }: TideTerms = {}): CatalogFile {
  return {
    format: 'signalpress-catalog/1',
    extends: null,
    rulers: { harbour: HARBOUR_RULER },
    lines: [
      {
        id: 'tides',
        industry: 'ports',
        title: 'tide gauges',
        signals: [
          { ...LEVEL_SIGNAL, rulers: ['harbour'], ...level },
          { ...WAVES_SIGNAL, ...waves },
        ],
        bundle: { path: '/gauge/tide-region', param: 'loc' },
        entities: ['pier-one', 'quay-two'],
      },
    ],
    prices: TIDE_PRICES,
    ...catalog,
  };
}

/** Snapshots of that shop: readings of both signals, and the catalogue. */
export function tideFiles(terms: TideTerms = {}): SnapshotFiles {
  return {
    'catalog/tides.json': JSON.stringify(tideCatalog(terms)),
    [`${BATCH}/tides.level.ndjson`]: ndjson([
      reading('pier-one', { level_m: 3.4 }),
      reading('quay-two', { level_m: 0.4 }),
    ]),
    [`${BATCH}/tides.waves.ndjson`]: ndjson([reading('pier-one', { height_m: 2 })]),
  };
}

export const LEVEL = '/gauge?entity=pier-one&signal_id=tides.level';
export const WAVES = '/gauge?entity=pier-one&signal_id=tides.waves';

/** The terms of the 402 of a URL. */
export async function askPrice(url: string): Promise<RequirementsV1> {
  const asked = await fetch(url);
  expect([url, asked.status]).toEqual([url, 402]);
  const { accepts } = (await asked.json()) as { accepts: [RequirementsV1] };
  return accepts[0];
}

/** Sends a payment of these terms; the price may be another one than is asked for. */
export async function pay(url: string, terms: RequirementsV1, priceAtomic?: string) {
  const signed = priceAtomic === undefined ? terms : { ...terms, maxAmountRequired: priceAtomic };
  const header = await payer(NETWORKS['base-sepolia']).header(signed);
  const sold = await fetch(url, { headers: { ...BUYER_ADDRESS, 'x-payment': header } });
  return { status: sold.status, text: await sold.text(), header };
}

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

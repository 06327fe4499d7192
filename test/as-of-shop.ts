import { canonicalTarget } from '../compiler/contract/canonical-request.ts';
import type { CatalogFile } from '../compiler/contract/catalog/catalog-file.ts';
import {
  compileFolder,
  ndjson,
  reading,
  type SnapshotFiles,
  writeSnapshots,
} from './snapshot-folder.ts';
import { TIDE_PRICES, tideCatalog } from './tide-shop.ts';

// A tide shop that sells records of earlier times, with a release every hour of a morning.

const SIGNAL = 'tides.level';
/** The hour of the first release. */
const FIRST_HOUR = 6;
/** The release, counted from 0, that `quay-two` is first read in. */
export const SECOND_STATION_FROM = 2;

const at = (hour: number, minutes: string): string =>
  `2026-11-20T${String(hour).padStart(2, '0')}:${minutes}:00Z`;

/** The time of a release, counted from 0. */
export const asOfTime = (release: number): string => at(FIRST_HOUR + release, '30');

/** The readings of a release: the water rises by a decimetre each hour. */
function hourOf(release: number): SnapshotFiles {
  const hour = FIRST_HOUR + release;
  const times = { observed_at: at(hour, '00'), collected_at: at(hour, '15') };
  const stations = ['pier-one', ...(release < SECOND_STATION_FROM ? [] : ['quay-two'])];
  const rows = stations.map((one) => reading(one, { level_m: 1 + release / 10 }, times));
  return { [`${at(hour, '00').slice(0, 13)}Z/${SIGNAL}.ndjson`]: ndjson(rows) };
}

export const AS_OF_CATALOG = tideCatalog({
  catalog: { prices: { ...TIDE_PRICES, '/gauge/as-of': TIDE_PRICES['/gauge'] } },
});

interface AsOfShop {
  readonly snapshots: string;
  readonly data: string;
  /** The did:key that signs it. */
  readonly issuer: string;
  /** Publishes the release of the next hour, by another catalogue if one is given. */
  readonly publish: (catalog?: CatalogFile) => Promise<void>;
}

/** A shop with so many releases; `made` is called after each of them. */
export async function asOfShop(
  releases: number,
  made: (data: string) => Promise<void> = async () => undefined,
): Promise<AsOfShop> {
  const snapshots = writeSnapshots({});
  let [data, issuer, next] = ['', '', 0];
  const publish = async (catalog = AS_OF_CATALOG): Promise<void> => {
    const files = { 'catalog/tides.json': JSON.stringify(catalog), ...hourOf(next) };
    writeSnapshots(files, snapshots);
    const into = data === '' ? {} : { data };
    const done = await compileFolder(snapshots, {
      ...into,
      asOf: asOfTime(next),
      acceptCatalogChanges: true,
    });
    [data, issuer] = [done.data, done.release.issuer_did];
    next += 1;
    await made(data);
  };
  for (let count = 0; count < releases; count += 1) await publish();
  return { snapshots, data, issuer, publish };
}

/** The request for the record of a station, as of a time. */
export const asOfTarget = (as_of: string, entity = 'pier-one'): string =>
  canonicalTarget('/gauge/as-of', { as_of, entity, signal_id: SIGNAL });
/** The request for its newest record. */
export const recordTarget = (entity = 'pier-one'): string =>
  canonicalTarget('/gauge', { entity, signal_id: SIGNAL });

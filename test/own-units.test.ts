import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CatalogFile } from '../compiler/catalog/catalog-file.ts';
import { ownDigest, parseCatalog, WHOLE_CATALOG_PATH } from '../compiler/catalog/whole-catalog.ts';
import { formatFiles, parseFiles } from '../compiler/format/release.ts';
import { parseJson } from '../compiler/format/strict-json.ts';
import { storedPath } from '../compiler/products/shapes/path.ts';
import { canonicalDigest, jcs } from '../compiler/system/jcs.ts';
import { verifyBody } from '../compiler/verify/verify-body.ts';
import { verifyRelease } from '../compiler/verify/verify-release.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { servedShop } from './gate.ts';
import {
  checkFaults,
  compileFaults,
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from './snapshot-folder.ts';
import { askPrice, pay } from './tide-shop.ts';
import { resign } from './verify/resign.ts';

// A shop once stood still until its metric had another name, because its unit was none of a list in code. Now units are
// rows of the catalogue, and a publisher adds those that are missing.

const FNU = { name: 'formazin nephelometric unit', quantity: 'turbidity', label: 'FNU' };
const UNITS = { fnu: { ...FNU, range: { from: 0, to: 4000 } } };

/** A metric, a value of it, and how people read it. */
const MEASURED = [
  ['wind_speed_ms', 7.2, '7.2 m/s'],
  ['co2_ppm', 423.5, '423.5 ppm'],
  ['price_eur', -1.5, '-1.5 EUR'],
  ['dose_usvh', 0.09, '0.09 µSv/h'],
  ['turbidity_fnu', 12.5, '12.5 FNU'],
] as const;
const BATCH = '2026-11-20';

const signalOf = (metric: string): string => `station.${metric.replaceAll('_', '-')}`;

function catalogFile(units: CatalogFile['units'] = UNITS): CatalogFile {
  return {
    format: 'signalpress-catalog/1',
    extends: null,
    units,
    lines: [
      {
        id: 'station',
        industry: 'weather',
        title: 'stations',
        signals: MEASURED.map(([metric]) => {
          const measures = metric.replaceAll('_', ' ');
          return { id: signalOf(metric), measures, cadence: 'hourly', metrics: [metric] };
        }),
        entities: ['roof'],
      },
    ],
    prices: { '/gauge': '0.02' },
  };
}

function shopFiles(catalog: CatalogFile = catalogFile(), current: object = {}): SnapshotFiles {
  const files = MEASURED.map(([metric, value]) => {
    const own = metric === 'turbidity_fnu' ? current : {};
    const row = reading('roof', { [metric]: value, ...own });
    return [`${BATCH}/${signalOf(metric)}.ndjson`, ndjson([row])];
  });
  return { 'catalog/station.json': JSON.stringify(catalog), ...Object.fromEntries(files) };
}

let data: string;
let issuer: string;
let gate: Gatekeeper;
beforeAll(async () => {
  ({ data, issuer, gate } = await servedShop(shopFiles()));
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

const catalogEntry = (folder: string) => {
  const entries = parseFiles(readFileSync(join(folder, 'current/files.txt'), 'utf8'));
  const at = entries.findIndex(({ path }) => path === WHOLE_CATALOG_PATH);
  const sha256 = entries[at]?.sha256 ?? '';
  return { entries, at, file: join(folder, storedPath(WHOLE_CATALOG_PATH, sha256)) };
};

describe('a shop whose metrics are in units of all kinds', () => {
  it.each(MEASURED)('sells %s as %d, which is read as %s', async (metric, value, text) => {
    const url = `${gate.url}/gauge?entity=roof&signal_id=${signalOf(metric)}`;
    const sold = await pay(url, await askPrice(url));
    expect(sold.status).toBe(200);
    const body = JSON.parse(sold.text);
    expect([body.current[metric], body._citation.fact]).toEqual([
      value,
      `${signalOf(metric)} of roof read ${text} at 2026-11-20T10:00:00Z`,
    ]);
    const judge = (words: string) => verifyBody(parseJson(words), { trust: [issuer] }).verdict;
    expect(judge(sold.text)).toBe('verified');
    expect(judge(sold.text.replace(`read ${text}`, `read ${value} kg`))).toBe('failed');
  });

  it('carries its own units in its catalogue, and no built-in ones', () => {
    const bytes = readFileSync(catalogEntry(data).file);
    expect(JSON.parse(bytes.toString('utf8')).units).toEqual(UNITS);
    const { units, entryById } = parseCatalog(bytes);
    expect(units.get('fnu')).toEqual({ symbol: 'fnu', ...UNITS.fnu });
    expect(units.get('ppm')?.label).toBe('ppm');
    const { unitOf } = entryById.get(signalOf('turbidity_fnu'))?.signal ?? {};
    expect(unitOf).toEqual({ turbidity_fnu: units.get('fnu') });
  });

  it('is verified as a release without a network, and not where its unit reads otherwise', async () => {
    const report = await verifyRelease(data, { trust: [issuer] });
    expect([report.faults, report.verdict, report.ownTables]).toEqual([[], 'verified', true]);
    const other = (await compileFolder(writeSnapshots(shopFiles()))).data;
    const { entries, at, file } = catalogEntry(other);
    const catalog = JSON.parse(readFileSync(file, 'utf8'));
    const bytes = jcs({ ...catalog, units: { fnu: { ...UNITS.fnu, label: 'NTU' } } });
    const sha256 = hash('sha256', bytes, 'hex');
    const stored = join(other, storedPath(WHOLE_CATALOG_PATH, sha256));
    mkdirSync(dirname(stored), { recursive: true });
    writeFileSync(stored, bytes);
    const entry = { path: WHOLE_CATALOG_PATH, size: Buffer.byteLength(bytes), sha256 };
    const root = join(other, 'current');
    writeFileSync(join(root, 'files.txt'), formatFiles(entries.with(at, entry)));
    const tableDigest = ownDigest(sha256, canonicalDigest);
    resign(root, { catalog_sha256: `sha256:${sha256}`, table_digest: tableDigest });
    const judged = await verifyRelease(other, { trust: [issuer] });
    expect([judged.verdict, judged.ownTables]).toEqual(['failed', true]);
    const record = `record/${signalOf('turbidity_fnu')}/roof.json`;
    const [where, detail] = ['_citation.fact', 'differs from what it repeats'];
    expect(judged.faults).toEqual(
      [record, `thin/${record}`].map((path) => ({ file: path, where, detail })),
    );
  });

  it('cannot be made without the row of its unit, and is told where units stand', async () => {
    const [fault, ...others] = await checkFaults(shopFiles(catalogFile({})));
    expect(others).toEqual([]);
    expect(fault).toMatchObject({
      code: 'bad_catalog',
      file: 'catalog/station.json',
      field: '/lines/0/signals/4/metrics/0',
      message: expect.stringContaining('compiler/catalog/builtin/units.json'),
    });
  });

  it.each([
    ['text in its unit', { turbidity_fnu: '12' }, 'bad_field'],
    ['more than its unit has', { turbidity_fnu: 4000.1 }, 'bad_field'],
    ['less than its unit has', { turbidity_fnu: -0.1 }, 'bad_field'],
    ['another unit beside its own', { turbidity_ntu: 12 }, 'foreign_unit'],
    ['text beside it under a name in its unit', { clear_fnu: 'yes' }, 'bad_field'],
  ])('refuses a reading with %s', async (_, current, code) => {
    const faults = await checkFaults(shopFiles(catalogFile(), current));
    const field = `current.${Object.keys(current).join()}`;
    expect(faults).toMatchObject([{ code, field, line: 1 }]);
  });

  it('takes a reading at the ends of its unit, and further figures in it', async () => {
    for (const current of [{ turbidity_fnu: 4000 }, { turbidity_fnu: 0, clear_fnu: 1 }]) {
      expect(await checkFaults(shopFiles(catalogFile(), current))).toEqual([]);
    }
  });

  it('keeps the unit of what it sold, and may call and limit it anew', async () => {
    const { data: sold } = await compileFolder(writeSnapshots(shopFiles()));
    const said = async (change: object): Promise<readonly (string | undefined)[]> => {
      const files = shopFiles(catalogFile({ fnu: { ...UNITS.fnu, ...change } }));
      return (await compileFaults(files, { data: sold })).map(({ message }) => message);
    };
    expect(await said({ label: 'NTU' })).toEqual([
      '"units/turbidity_fnu" was "FNU", and is now "NTU"; ' +
        'put the old row back, or compile with --accept-catalog-changes',
    ]);
    expect(await said({ name: 'formazin unit', range: { from: 0, to: 5000 } })).toEqual([]);
  });
});

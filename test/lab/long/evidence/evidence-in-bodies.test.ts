import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../compiler/format/strict-json.ts';
import { type Evidence, recordSchema } from '../../../../compiler/products/shapes/record.ts';
import { deliveredText } from '../../../../compiler/products/shapes/request-time.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import {
  compileFolder,
  filesBelow,
  ndjson,
  reading,
  readJson,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { hasPython, pythonVerdicts } from '../../../verify/python-judge.ts';

const DENVER = 'us-denver';
const AQI = 'airquality.aqi';
const RECORD = `record/${AQI}/${DENVER}.json`;
const evidence = (digit: string, fetched_at = '2026-11-20T10:55:00Z'): Evidence => {
  const importer = { importer: 'airnow', importer_version: 1 };
  return { sha256: digit.repeat(64), url: 'https://example.org/data', fetched_at, ...importer };
};
const FIRST = evidence('1');
const SECOND = evidence('2');

/** Air of Denver with evidence, of which one leg has none, and a coin and a server beside it. */
function snapshots(more: object): SnapshotFiles {
  const named = (row: object) => ({ ...row, ...more });
  const server = {
    ...reading('x', {}),
    server_id: 'weather-mcp',
    status: 'active',
    capture_date: '2026-11-20',
  };
  const { entity, current, ...row } = server;
  const files: Readonly<Record<string, readonly object[]>> = {
    [AQI]: [named(reading(DENVER, { aqi_index: 120 }))],
    'airquality.pm25': [reading(DENVER, { pm25_ugm3: 40.2 })],
    'crypto.spot': [named(reading('btc', { price_usd: 1 }))],
    'mcp.server': [named(row)],
  };
  return Object.fromEntries(
    Object.entries(files).map(([id, rows]) => [`2026-11-20T11Z/${id}.ndjson`, ndjson(rows)]),
  );
}

interface Links {
  readonly provenance: {
    readonly data_lineage: readonly { readonly signal: string; readonly evidence?: Evidence }[];
  };
}
const reported = ({ provenance }: Links): [string, Evidence | undefined][] =>
  provenance.data_lineage.map(({ signal, evidence: one }) => [signal, one]);

let folder = '';
let did = '';
let plain = '';
beforeAll(async () => {
  const compiled = await compileFolder(writeSnapshots(snapshots({ evidence: FIRST })));
  [folder, did] = [compiled.folder, compiled.release.issuer_did];
  ({ folder: plain } = await compileFolder(writeSnapshots(snapshots({}))));
});
afterAll(removeFolders);

describe('evidence in compiled bodies', () => {
  it.each([
    RECORD,
    `ruler/${AQI}/${DENVER}.json`,
    `calibrated/${AQI}/${DENVER}.json`,
    `series/${AQI}/${DENVER}.json`,
    `census/${AQI}.json`,
  ])('stands in the lineage of %s', (path) => {
    expect(reported(readJson(folder, path))).toEqual([[AQI, FIRST]]);
  });

  it('stands with each leg that has some, and with no other', () => {
    for (const path of [`bundle/environment/${DENVER}.json`, `air/${DENVER}.json`]) {
      const links = new Map(reported(readJson(folder, path)));
      expect(links.get(AQI)).toEqual(FIRST);
      expect(links.has('airquality.pm25')).toBe(true);
      expect(links.get('airquality.pm25')).toBeUndefined();
    }
  });

  it('stands in the lineage of a roster and of its subject', () => {
    for (const path of ['subject/mcp/weather-mcp.json', 'roster/mcp/census.json']) {
      expect(reported(readJson(folder, path))).toEqual([['mcp.server', FIRST]]);
    }
  });

  it('is in no hash of a record, and nothing else differs', () => {
    const [named, unnamed] = [readJson(folder, RECORD), readJson(plain, RECORD)];
    expect(named.record_hash).toBe(unnamed.record_hash);
    const [link] = named.provenance.data_lineage;
    delete link.evidence;
    delete named._citation;
    delete unnamed._citation;
    expect(named).toEqual(unnamed);
    expect(recordSchema.safeParse(readJson(folder, RECORD)).success).toBe(true);
  });

  it('is described as an optional member, and no other member is', () => {
    const record = readJson(folder, RECORD);
    const [link] = record.provenance.data_lineage;
    link.evidence = { ...FIRST, path: 'payload.json' };
    expect(recordSchema.safeParse(record).success).toBe(false);
  });

  it('keeps the release verified as a whole', async () => {
    const report = await verifyRelease(folder, { trust: [did], workers: 0 });
    expect(report.verdict).toBe('verified');
  });
});

describe('evidence that is altered', () => {
  const altered = (path: string, change: (one: Evidence) => object | undefined) => {
    const body = readJson(folder, path);
    const link = body.provenance.data_lineage.find((each: { evidence?: object }) => each.evidence);
    const changed = change(link.evidence);
    if (changed === undefined) delete link.evidence;
    else link.evidence = changed;
    return body;
  };
  const CHANGES = [
    ['payload', (one: Evidence) => ({ ...one, sha256: '3'.repeat(64) })],
    ['address', (one: Evidence) => ({ ...one, url: 'https://example.org/other' })],
    ['time', (one: Evidence) => ({ ...one, fetched_at: '2026-11-20T10:56:00Z' })],
    ['version', (one: Evidence) => ({ ...one, importer_version: 2 })],
    ['presence', () => undefined],
  ] as const;
  const PATHS = [RECORD, `bundle/environment/${DENVER}.json`, `census/${AQI}.json`];
  const verdicts = (bodies: readonly JsonValue[]) =>
    bodies.map((body) => verifyBody(body, { trust: [did], isStored: true }).verdict);

  it.each(CHANGES)('in its %s fails', (_name, change) => {
    expect(verdicts(PATHS.map((path) => readJson(folder, path)))).not.toContain('failed');
    const forged = PATHS.map((path) => altered(path, change));
    expect(verdicts(forged)).toEqual(['failed', 'failed', 'failed']);
  });

  it.skipIf(!hasPython)('fails with the second verifier too (skipped without python3)', () => {
    const at = Date.parse('2026-11-21T12:00:00Z');
    const delivered = (body: JsonValue): string => deliveredText(JSON.stringify(body), at);
    const sound = PATHS.map((path) => delivered(readJson(folder, path)));
    const forged = CHANGES.map(([, change]) => delivered(altered(RECORD, change)));
    const found = pythonVerdicts([...sound, ...forged], [did], at).map(({ verdict }) => verdict);
    expect(found.slice(0, sound.length)).toEqual(sound.map(() => 'verified'));
    expect(found.slice(sound.length)).toEqual(forged.map(() => 'failed'));
  });
});

describe('evidence of a reading that is told again', () => {
  const quiet = (collected_at: string) => ({ observed_at: '2026-11-20T03:00:00Z', collected_at });
  const hour = (name: string, more: object): SnapshotFiles => ({
    [`2026-11-20T${name}Z/${AQI}.ndjson`]: ndjson([
      reading(DENVER, { aqi_index: 120 }, { collected_at: `2026-11-20T${name}:00:00Z`, ...more }),
      reading('us-houston', { aqi_index: 50 }, quiet(`2026-11-20T${name}:00:00Z`)),
    ]),
  });
  const bodiesOf = (release: string) => {
    const paths = [`ruler/${AQI}/${DENVER}.json`, `bundle/environment/${DENVER}.json`];
    const files = filesBelow(release);
    return paths.map((path) => files.get(path));
  };

  it('stays that of the first telling, and the body keeps its bytes', async () => {
    const root = writeSnapshots(hour('10', { evidence: FIRST }));
    const first = await compileFolder(root);
    writeSnapshots(hour('11', { evidence: SECOND }), root);
    const { data } = first;
    const before = bodiesOf(first.folder);
    const second = await compileFolder(root, { data, asOf: '2026-11-20T13:00:00Z' });
    expect(bodiesOf(second.folder)).toEqual(before);
    expect(reported(readJson(second.folder, RECORD))).toEqual([[AQI, FIRST]]);
    expect(readJson(second.folder, RECORD).last_looked_at).toBe('2026-11-20T11:00:00Z');
  });

  it('is that of the revision where the value changed', async () => {
    const root = writeSnapshots(hour('10', { evidence: FIRST }));
    writeSnapshots(hour('11', { evidence: SECOND, current: { aqi_index: 121 } }), root);
    const { folder: revised } = await compileFolder(root);
    expect(reported(readJson(revised, RECORD))).toEqual([[AQI, SECOND]]);
  });

  it('is the same whether compiled at once or hour by hour', async () => {
    const hours = ['07', '08', '09', '10', '11', '12'].map((name, at) => {
      const observed_at = `2026-11-20T0${Math.floor(at / 2) + 4}:00:00Z`;
      return hour(name, { observed_at, evidence: evidence(String(at)) });
    });
    const root = writeSnapshots(hours[0] ?? {});
    let { data } = await compileFolder(root);
    for (const [at, files] of hours.entries()) {
      writeSnapshots(files, root);
      ({ data } = await compileFolder(root, { data, asOf: `2026-11-20T${13 + at}:00:00Z` }));
    }
    const { folder: whole } = await compileFolder(root, { asOf: '2026-11-20T18:00:00Z' });
    const [grown, atOnce] = [`${data}/current`, whole].map((each) => readJson(each, RECORD));
    expect(reported(grown)).toEqual([[AQI, evidence('4')]]);
    expect(grown).toEqual(atOnce);
  });
});

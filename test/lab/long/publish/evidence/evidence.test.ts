import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../../compiler/format/strict-json.ts';
import { type Evidence, recordSchema } from '../../../../../compiler/products/shapes/record.ts';
import { deliveredText } from '../../../../../compiler/products/shapes/request-time.ts';
import { replay } from '../../../../../compiler/publish/evidence/replay.ts';
import {
  evidenceChecks,
  runVerifyEvidence,
} from '../../../../../compiler/publish/evidence/verify-evidence.ts';
import {
  Archive,
  type Archived,
  keepPayload,
} from '../../../../../compiler/sources/fetch/archive.ts';
import { ArchiveImport } from '../../../../../compiler/sources/fetch/archive-import.ts';
import { importDisk } from '../../../../../compiler/sources/import-command.ts';
import { ImportError, type Imported } from '../../../../../compiler/sources/kit/payload.ts';
import type { Source } from '../../../../../compiler/sources/kit/source.ts';
import { SOURCES, sourceOf } from '../../../../../compiler/sources/sources.ts';
import { verifyBody } from '../../../../../compiler/verify/verify-body.ts';
import { verifyRelease } from '../../../../../compiler/verify/verify-release.ts';
import {
  type ArchivedShop,
  alterPayload,
  archivedShop,
  RIVER,
} from '../../../../evidence/archived-shop.ts';
import {
  AS_OF,
  compileFolder,
  fileOf,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';
import { RECORDED } from '../../../../sources/kit/recorded.ts';
import { hasPython, pythonVerdicts } from '../../../../verify/python-judge.ts';

afterAll(removeFolders);

describe('verify --archive', () => {
  const RECORD = `record/hydrology.river-level/${RIVER}.json`;
  const BUNDLE = 'bundle/environment/us-stlouis.json';

  let shop: ArchivedShop;
  let fetched: Archived;
  let folder = '';
  let did = '';
  beforeEach(async () => {
    shop = archivedShop();
    fetched = await shop.take('11:05:00', { [RIVER]: { '10:30': 13.1, '10:45': 13.6 } });
    const air = ndjson([reading('us-stlouis', { aqi_index: 40 })]);
    writeSnapshots({ '2026-11-20T11Z/airquality.aqi.ndjson': air }, shop.snapshots);
    const compiled = await compileFolder(shop.snapshots);
    [folder, did] = [compiled.folder, compiled.release.issuer_did];
  });
  /** Saves a body as a buyer does and verifies it; the last lines are about its evidence. */
  async function verified(
    body: object,
    more: { json?: boolean; known?: (id: string) => Source } = {},
  ) {
    const target = join(makeFolder(), 'body.json');
    writeFileSync(target, JSON.stringify(body));
    const { known, ...flags } = more;
    const options = { issuer: [did], archive: shop.archive.folder, ...bare(body), ...flags };
    const witnesses = known === undefined ? {} : { witnesses: { archive: shop.archive, known } };
    const { exitCode, text } = await runVerifyEvidence(target, { ...options, ...witnesses });
    return { exitCode, text, evidence: text.slice(text.indexOf('evidence ')) };
  }
  /** Its own request, which left the proof out. */
  function bare(body: object) {
    const { source } = (body as { _citation: { source: { url: string } } })._citation;
    return { expect: `${source.url}&proof=0` };
  }
  /** A body as it is delivered. */
  const delivered = (path: string) =>
    JSON.parse(deliveredText(JSON.stringify(readJson(folder, path)), Date.parse(AS_OF)));
  const record = () => delivered(RECORD);

  /** The importer with other rules. */
  function changed(version: number, rule: (imported: Imported) => Imported) {
    return (id: string): Source => {
      const source = sourceOf(id);
      return { ...source, version, read: (payload) => rule(source.read(payload)) };
    };
  }
  const plusOne = (imported: Imported): Imported => ({
    ...imported,
    readings: new Map(
      [...imported.readings].map(([signal, list]) => [
        signal,
        list.map((one) => ({ ...one, current: { stage_ft: Number(one.current.stage_ft) + 1 } })),
      ]),
    ),
  });
  const same = (imported: Imported): Imported => imported;

  it('I68: leads a record back to its payload and makes its reading again', async () => {
    const { exitCode, text, evidence } = await verified(record());
    expect(exitCode).toBe(0);
    expect(text.startsWith('verified')).toBe(true);
    expect(evidence.startsWith('evidence shown')).toBe(true);
    expect(evidence).toContain(
      `hydrology.river-level of ${RIVER} at 2026-11-20T10:45:00Z  ` +
        'payload sha256 matches; reading re-derived by usgs-nwis v2',
    );
  });

  it('tells machines the same', async () => {
    const { exitCode, text } = await verified(record(), { json: true });
    const report = JSON.parse(text);
    expect([exitCode, report.verdict, report.evidence_verdict]).toEqual([0, 'verified', 'shown']);
    expect(report.evidence).toMatchObject([
      { where: 'provenance.data_lineage.0', entity: RIVER, verdict: 'shown' },
    ]);
  });

  it('reads a list of --keys from its own file', async () => {
    const keys = fileOf(folder, 'well-known/keys.json');
    const target = join(makeFolder(), 'body.json');
    writeFileSync(target, JSON.stringify(record()));
    const options = { issuer: [did], archive: shop.archive.folder, ...bare(record()) };
    expect((await runVerifyEvidence(target, { ...options, keys })).exitCode).toBe(0);
    expect(await runVerifyEvidence(target, { ...options, keys: target })).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining('keys'),
    });
  });

  it('reads a body from standard input', async () => {
    const bytes = Buffer.from(JSON.stringify(record()));
    const options = { issuer: [did], archive: shop.archive.folder, readStdin: () => bytes };
    expect((await runVerifyEvidence('-', { ...options, ...bare(record()) })).exitCode).toBe(0);
    expect((await runVerifyEvidence('-', options)).exitCode).toBe(2);
  });

  it('I68: fails when one byte of the payload is another', async () => {
    alterPayload(shop.payload(fetched), '13.6', '13.7');
    const { exitCode, evidence } = await verified(record());
    expect(exitCode).toBe(1);
    expect(evidence).toContain('evidence FAILED');
    expect(evidence).toContain('its bytes are not those of its name');
  });

  it('fails when the importer gives another reading, and says which', async () => {
    const { exitCode, evidence } = await verified(record(), { known: changed(2, plusOne) });
    expect(exitCode).toBe(1);
    expect(evidence).toContain('payload sha256 matches, but it gives {"stage_ft":14.6}');
    expect((await verified(record(), { known: changed(2, same) })).exitCode).toBe(0);
  });

  it('fails when the importer gives no such reading, or refuses the payload', async () => {
    const none = changed(2, (imported) => ({ ...imported, readings: new Map() }));
    expect((await verified(record(), { known: none })).evidence).toContain(
      'nothing in it is about',
    );
    const refusing = (id: string): Source => ({
      ...sourceOf(id),
      read: (payload) => sourceOf(id).read({ ...payload, bytes: Buffer.from('{}') }),
    });
    const { exitCode, evidence } = await verified(record(), { known: refusing });
    expect(exitCode).toBe(1);
    expect(evidence).toContain('payload sha256 matches, but Cannot import');
  });

  it.each([
    ['the same', same, 'which gives the same reading'],
    ['another', plusOne, 'by which it gives {"stage_ft":14.6}'],
  ])('leaves open what another version of the importer reads: %s', async (_name, rule, says) => {
    const { exitCode, evidence } = await verified(record(), { known: changed(3, rule) });
    expect(exitCode).toBe(2);
    expect(evidence).toContain('evidence cannot be judged');
    expect(evidence).toContain(`made by usgs-nwis v2; this program has v3, ${says}`);
  });

  it('leaves open a payload that is not there', async () => {
    rmSync(shop.payload(fetched));
    const gone = await verified(record());
    expect([gone.exitCode, gone.evidence.includes('ENOENT')]).toEqual([2, true]);
    rmSync(shop.archive.folder, { recursive: true });
    const { exitCode, evidence } = await verified(record());
    expect(exitCode).toBe(2);
    expect(evidence).toContain(`the archive has no payload ${fetched.sha256}`);
  });

  it('fails for evidence that was altered, by its content hash', async () => {
    const body = record();
    body.provenance.data_lineage[0].evidence.importer_version = 3;
    const { exitCode, text } = await verified(body);
    expect(exitCode).toBe(1);
    expect(text).toContain('failed: it was altered after it was signed');
  });

  it('fails for a fetch that the archive does not know, and for what is no evidence', async () => {
    const body = record();
    const [link] = body.provenance.data_lineage;
    link.evidence.fetched_at = '2026-11-20T11:06:00Z';
    expect((await verified(body)).evidence).toContain('not fetched at 2026-11-20T11:06:00Z');
    link.evidence = { sha256: '../../etc' };
    expect((await verified(body)).evidence).toContain('not evidence: ');
    link.evidence = null;
    expect((await verified(body)).evidence).toContain('not evidence: ');
  });

  it('leaves open an importer that this program does not have', async () => {
    const known = (): Source => {
      throw new RangeError('no such source');
    };
    const { exitCode, evidence } = await verified(record(), { known });
    expect(exitCode).toBe(2);
    expect(evidence).toContain('this program has no importer "usgs-nwis"');
  });

  it('says of a record that names no evidence that none is named', async () => {
    const { exitCode, text, evidence } = await verified(
      delivered('record/airquality.aqi/us-stlouis.json'),
    );
    expect(exitCode).toBe(2);
    expect(text.startsWith('verified')).toBe(true);
    expect(evidence).toContain('evidence cannot be judged: no evidence named');
  });

  it('tells each leg of a bundle, and leaves it open where one names none', async () => {
    const { exitCode, evidence } = await verified(delivered(BUNDLE));
    expect(exitCode).toBe(2);
    expect(evidence).toContain('reading re-derived by usgs-nwis v2');
    expect(evidence).toMatch(/airquality\.aqi of us-stlouis at .* {2}no evidence named/);
  });

  it('leads the rows that a census names back too', async () => {
    const { exitCode, evidence } = await verified(delivered('census/hydrology.river-level.json'));
    expect(exitCode).toBe(0);
    expect(evidence).toContain(`of ${RIVER} at 2026-11-20T10:45:00Z  payload sha256 matches`);
  });

  it('is about one body, not about a release or about what is not there', async () => {
    const options = { issuer: [did], archive: shop.archive.folder };
    await expect(runVerifyEvidence(folder, options)).rejects.toThrow('it is about one body');
    const gone = await runVerifyEvidence('nowhere.json', options);
    expect([gone.exitCode, gone.text.includes('no such file')]).toEqual([2, true]);
    const target = join(makeFolder(), 'page.html');
    writeFileSync(target, '<html>');
    expect((await runVerifyEvidence(target, options)).exitCode).toBe(2);
  });
});

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

/** Archives every recorded answer for each source that reads it, fetched at the end of the day in its name. */
async function archiveAll(archive: Archive): Promise<void> {
  for (const { file, url: asked, text } of RECORDED) {
    const bytes = Buffer.from(text);
    const day = /20\d\d-\d\d-\d\d/.exec(file)?.[0] ?? '2026-11-20';
    const url = URL.canParse(asked) ? asked : 'https://example.org/';
    const note = { url, fetched_at: `${day}T23:59:00Z`, http_status: 200 };
    for (const source of SOURCES) {
      try {
        source.read({ bytes, note, subject: file });
      } catch {
        continue;
      }
      await keepPayload(archive, source.id, { bytes, note });
    }
  }
}

/** Imports what is there; a payload that a compile would refuse is left out, as by `run`. */
function importAll(archive: Archive, snapshots: string): Archived[] {
  const importing = new ArchiveImport({ archive, disk: importDisk.snapshots(snapshots) });
  const imported = archive.fetches().filter((archived) => {
    try {
      return importing.take(archived).rows > 0;
    } catch (error) {
      if (error instanceof ImportError) return false;
      throw error;
    }
  });
  importing.settle(Number.POSITIVE_INFINITY);
  return imported;
}

describe('recorded answers', () => {
  it('I68: come out of the archive as they went in, and every record leads back to one', async () => {
    const folder = makeFolder();
    const archive = new Archive(join(folder, 'archive'));
    const snapshots = join(folder, 'snapshots');
    await archiveAll(archive);
    const imported = importAll(archive, snapshots);
    const report = replay({ snapshots, archive });
    expect(report).toMatchObject({ differs: [], unshown: [], damaged: [] });
    const compiled = await compileFolder(snapshots, { asOf: '2026-12-31T12:00:00Z' });
    const records = [...filesBelow(compiled.folder)].filter(([path]) => path.startsWith('record/'));
    const found = records.flatMap(([path, text]) => {
      const body = JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
      return evidenceChecks(body, { archive }).map((check) => ({ path, ...check }));
    });
    expect(found.filter(({ verdict }) => verdict !== 'shown')).toEqual([]);
    expect(imported.length).toBeGreaterThan(50);
    expect(records.length).toBeGreaterThan(100);
    expect(new Set(found.map(({ detail }) => detail)).size).toBeGreaterThan(10);
  });
});

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { deliveredText } from '../../../../../compiler/products/shapes/request-time.ts';
import { runVerifyEvidence } from '../../../../../compiler/publish/evidence/verify-evidence.ts';
import type { Archived } from '../../../../../compiler/sources/fetch/archive.ts';
import type { Imported } from '../../../../../compiler/sources/kit/payload.ts';
import type { Source } from '../../../../../compiler/sources/kit/source.ts';
import { sourceOf } from '../../../../../compiler/sources/sources.ts';
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
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';

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
afterAll(removeFolders);

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

describe('verify --archive', () => {
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

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedPath } from '../../compiler/contract/path.ts';
import { formatFiles, parseFiles } from '../../compiler/contract/release.ts';
import { type ReleaseReport, verifyRelease } from '../../compiler/verify/verify-release.ts';
import { reseal } from './reseal.ts';
import { resign } from './resign.ts';
import { type Body, type SmallRelease, smallRelease } from './small-release.ts';

const RIVER = 'hydrology.river-level/07010000.json';
const DENVER = 'environment/us-denver.json';
const BUILT = join(import.meta.dirname, '../../build/compiler/verify/verify-release.js');

let release: SmallRelease;
beforeAll(async () => {
  release = await smallRelease();
});
afterAll(() => release.dispose());

const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Publishes the release with one body changed as only its issuer can, judges it, and takes that back. */
async function judged(path: string, change: (body: Body) => Body | null): Promise<ReleaseReport> {
  const files = ['files.txt', 'release.json'].map((name) => join(release.root, name));
  const before = files.map((file) => readFileSync(file));
  const body = change(release.body(path));
  const text = JSON.stringify(body?._citation === undefined ? body : reseal(body));
  const entries = parseFiles(String(before[0])).flatMap((entry) => {
    if (entry.path !== path) return [entry];
    return body === null ? [] : [{ path, size: Buffer.byteLength(text), sha256: digest(text) }];
  });
  const place = join(release.data, storedPath(path, digest(text)));
  const isNew = body !== null && !existsSync(place);
  if (isNew) writeFileSync(place, text);
  writeFileSync(files[0] ?? '', formatFiles(entries));
  resign(release.root, { files_count: entries.length });
  try {
    return await verifyRelease(release.root, { trust: [release.did] });
  } finally {
    if (isNew) rmSync(place);
    for (const [at, file] of files.entries()) writeFileSync(file, before[at] ?? '');
  }
}

/** A body with the first number or text at a place changed. */
function edit(where: string): (body: Body) => Body {
  return (body) => {
    const copy = structuredClone(body);
    const keys = where.split('.');
    const last = keys.pop() ?? '';
    let at = copy as Record<string, unknown>;
    for (const key of keys) at = at[key] as Record<string, unknown>;
    const value = at[last];
    at[last] = typeof value === 'number' ? value + 1 : `${String(value)}x`;
    return copy;
  };
}

const without =
  (name: string, key: string) =>
  (body: Body): Body => {
    const { [key]: _, ...rest } = body[name] as Body;
    return { ...body, [name]: rest };
  };

describe('verifyRelease() names what one body says against another', () => {
  it.each<[string, (body: Body) => Body | null, string]>([
    [`bundle/${DENVER}`, edit('legs.aqi.current.aqi_index'), 'legs.aqi.current.aqi_index'],
    [`bundle/${DENVER}`, edit('legs.aqi.band'), 'legs.aqi.band'],
    [`bundle/${DENVER}`, edit('legs.aqi.data_age_hours'), 'legs.aqi.data_age_hours'],
    [`bundle/${DENVER}`, without('legs', 'pm25'), 'legs.pm25'],
    [`bundle/${DENVER}`, edit('cross_line_narrative'), 'cross_line_narrative'],
    [`bundle/${DENVER}`, edit('decision_points.points.0.how'), 'decision_points.points.0.how'],
    [`bundle/${DENVER}`, edit('data_timespans.0.hours_since'), 'data_timespans.0.hours_since'],
    [`thin/bundle/${DENVER}`, edit('name'), 'name'],
    [`thin/bundle/${DENVER}`, edit('_citation.fact'), '_citation.fact'],
    ['air/us-denver.json', edit('readings.0.summary_zh'), 'readings.0.summary_zh'],
    ['census/airquality.aqi.json', edit('rows.0.entity_name'), 'rows.0.entity_name'],
    ['census/airquality.aqi.json', edit('measures'), 'measures'],
    ['air/us-denver.json', edit('note'), 'note'],
    ['census/airquality.aqi.json', (body) => ({ ...body, rows: [] }), 'rows'],
    ['lifecycle/kyoto-protocol.json', edit('lifecycle.state'), 'lifecycle.state'],
    [`ruler/${RIVER}`, edit('ruler.band'), 'ruler.band'],
    [`ruler/${RIVER}`, edit('_citation.claim'), '_citation.claim'],
    [`history/${RIVER}`, edit('history.frequency'), 'history.frequency'],
    [`calibrated/${RIVER}`, edit('calibrated.comparable'), 'calibrated.comparable'],
    [`calibrated/${RIVER}`, edit('calibrated.normalized_index'), 'calibrated.normalized_index'],
    [`thin/calibrated/${RIVER}`, edit('band'), 'band'],
    [`strata/${RIVER}`, edit('entity_name'), 'entity_name'],
    [`series/${RIVER}`, edit('rows.3.current.stage_ft'), 'rows'],
    [`free/raw/${RIVER}`, edit('grade'), 'grade'],
    [`free/history-preview/${RIVER}`, edit('rows.2.current.stage_ft'), 'rows.2.current.stage_ft'],
    [`free/history-preview/${RIVER}`, edit('rows.2.record_hash'), 'rows.2.record_hash'],
    ['free/sample/filing.insider.json', edit('sample.summary_zh'), 'sample.summary_zh'],
    [`record/${RIVER}`, edit('_citation.fact'), '_citation.fact'],
    [`record/${RIVER}`, () => null, ''],
    ['well-known/manifest.json', edit('entries.0.price_usd'), 'entries.0.price_usd'],
    ['well-known/agent-card.json', edit('description'), 'signatures.0'],
    ['well-known/did.json', edit('verificationMethod.0.publicKeyMultibase'), 'verificationMethod'],
    ['well-known/did.json', (body) => ({ ...body, assertionMethod: [] }), 'assertionMethod'],
    ['a2a/well-known/manifest.json', edit('name'), ''],
    ['tokenless/well-known/manifest.json', edit('entries.0.price_usd'), 'entries.0.price_usd'],
    ['tokenless/well-known/agent-card.json', edit('description'), 'signatures.0'],
    ['tokenless/a2a/well-known/manifest.json', edit('name'), ''],
  ])('I24: %s', async (...[path, change, where]) => {
    const { faults } = await judged(path, change);
    const file = where === '' && path.startsWith('record/') ? `ruler/${RIVER}` : path;
    expect(faults).toContainEqual(expect.objectContaining({ file, where }));
  });

  it('accepts the same bodies signed anew without a change', async () => {
    for (const path of [`bundle/${DENVER}`, 'census/airquality.aqi.json', `ruler/${RIVER}`]) {
      const { faults } = await judged(path, (body) => body);
      expect(faults).toEqual([]);
    }
  });

  it('says how much it looked at', async () => {
    const { checked } = await verifyRelease(release.data, { trust: [release.did] });
    expect(checked).toMatchObject({
      catalog_lines: 6,
      views: expect.any(Number),
      legs: expect.any(Number),
      forms: expect.any(Number),
      descriptions: 15,
      releases: 1,
      log_entries: expect.any(Number),
      // One for each record; the others in the log were superseded.
      logged_hashes: 6,
    });
    expect(checked.log_entries).toBeGreaterThan(6);
  });
});

describe.skipIf(!existsSync(BUILT))('verifyRelease() in workers (skipped before a build)', () => {
  it('I18: reports the same with two workers, with none and with independent signatures', async () => {
    const built = (await import(pathToFileURL(BUILT).href)) as {
      verifyRelease: typeof verifyRelease;
    };
    const judge = (more: object) =>
      built.verifyRelease(release.data, { trust: [release.did], ...more });
    const alone = await judge({ workers: 0 });
    expect(alone.verdict).toBe('verified');
    expect(await judge({ workers: 2 })).toEqual(alone);
    expect(await judge({ independent: true })).toEqual(alone);
  });
});

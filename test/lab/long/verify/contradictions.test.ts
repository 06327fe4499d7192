import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatFiles, parseFiles } from '../../../../compiler/format/release.ts';
import { storedPath } from '../../../../compiler/products/shapes/path.ts';
import { type ReleaseReport, verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import { built } from '../../../command-runs.ts';
import { type Body, type Shop, smallShop } from '../../../shop.ts';
import { reseal, resign } from '../../../verify/resign.ts';

const RIVER = 'hydrology.river-level/07010000.json';
const DENVER = 'environment/us-denver.json';

let release: Shop;
beforeAll(async () => {
  release = await smallShop();
});
afterAll(() => release.dispose());

const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A body as its issuer would publish it with a change; null for one that is left out. */
type Change = (body: Body) => Body | null;

/** Publishes the release with bodies changed as only its issuer can, judges it, and takes that back. */
async function judged(changes: ReadonlyMap<string, Change>): Promise<ReleaseReport> {
  const files = ['files.txt', 'release.json'].map((name) => join(release.folder, name));
  const before = files.map((file) => readFileSync(file));
  const places: string[] = [];
  const entries = parseFiles(String(before[0])).flatMap((entry) => {
    const { path } = entry;
    const change = changes.get(path);
    if (change === undefined) return [entry];
    const body = change(release.body(path));
    if (body === null) return [];
    const text = JSON.stringify(body._citation === undefined ? body : reseal(body));
    const place = join(release.data, storedPath(path, digest(text)));
    if (!existsSync(place)) places.push(place);
    writeFileSync(place, text);
    return [{ path, size: Buffer.byteLength(text), sha256: digest(text) }];
  });
  writeFileSync(files[0] ?? '', formatFiles(entries));
  resign(release.folder, { files_count: entries.length });
  try {
    return await verifyRelease(release.folder, { trust: [release.did] });
  } finally {
    for (const place of places) rmSync(place);
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
  type Case = readonly [path: string, change: Change, where: string];
  const CASES: readonly Case[] = [
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
    ['well-known/manifest.json', edit('entries.0.price_usd'), 'entries.0.price_usd'],
    ['well-known/agent-card.json', edit('description'), 'signatures.0'],
    ['well-known/did.json', edit('verificationMethod.0.publicKeyMultibase'), 'verificationMethod'],
    ['well-known/did.json', (body) => ({ ...body, assertionMethod: [] }), 'assertionMethod'],
    ['a2a/well-known/manifest.json', edit('name'), ''],
  ];

  /** The changes of a round are judged together: of each body one. */
  const roundOf = (at: number): number =>
    CASES.slice(0, at).filter(([path]) => path === CASES[at]?.[0]).length;
  const reports: ReleaseReport[] = [];
  beforeAll(async () => {
    const rounds = new Set(CASES.map((_, at) => roundOf(at)));
    for (const round of rounds) {
      const changes = CASES.filter((_, at) => roundOf(at) === round);
      reports[round] = await judged(new Map(changes.map(([path, change]) => [path, change])));
    }
  });

  it.each(CASES.map(([file, , where], at) => ({ file, where, round: roundOf(at) })))(
    'I24: $file $where',
    ({ file, where, round }) => {
      expect(reports[round]?.faults).toContainEqual(expect.objectContaining({ file, where }));
    },
  );

  it('I24: names what repeats a record that is gone', async () => {
    const { faults } = await judged(new Map([[`record/${RIVER}`, () => null]]));
    expect(faults).toContainEqual(expect.objectContaining({ file: `ruler/${RIVER}`, where: '' }));
  });

  it('accepts the same bodies signed again without a change', async () => {
    const paths = [`bundle/${DENVER}`, 'census/airquality.aqi.json', `ruler/${RIVER}`];
    const { faults } = await judged(new Map(paths.map((path) => [path, (body) => body])));
    expect(faults).toEqual([]);
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
      log_entries: 1,
      statements: expect.any(Number),
      // One for each record; the others in the log were superseded.
      logged_hashes: 6,
    });
    expect(checked.statements).toBeGreaterThan(6);
  });
});

describe('verifyRelease() in workers', () => {
  it('I18: reports the same with two workers, with none and with independent signatures', async () => {
    const path = pathToFileURL(built('compiler/verify/verify-release.js')).href;
    const program = (await import(path)) as { verifyRelease: typeof verifyRelease };
    const judge = (more: object) =>
      program.verifyRelease(release.data, { trust: [release.did], ...more });
    const alone = await judge({ workers: 0 });
    expect(alone.verdict).toBe('verified');
    expect(await judge({ workers: 2 })).toEqual(alone);
    expect(await judge({ independent: true })).toEqual(alone);
  });
});

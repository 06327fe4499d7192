import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { tables } from '../../../../compiler/catalog/whole-catalog.ts';
import {
  filesDiffText,
  listText,
  prune,
  readingsDiffText,
  rollBack,
} from '../../../../compiler/cli/releases-command.ts';
import { CONTRACT_VERSION } from '../../../../compiler/format/release.ts';
import { rotateKey } from '../../../../compiler/publish/keys/key-command.ts';
import { openLog } from '../../../../compiler/release/log-folder.ts';
import { RETENTION } from '../../../../compiler/release/release-folders.ts';
import { canonicalDigest } from '../../../../compiler/system/jcs.ts';
import { runVerify } from '../../../../compiler/verify/verify-command.ts';
import { verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import { BASE_URL, smallShop } from '../../../shop.ts';
import {
  compileFolder,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { resign } from '../../../verify/resign.ts';

describe('releases', () => {
  afterAll(removeFolders);

  const LATER = '2026-11-20T13:00:00Z';

  const snapshotsOf = (...coins: string[]) =>
    writeSnapshots({
      '2026-11-20/crypto.spot.ndjson': ndjson(coins.map((coin) => reading(coin, { price_usd: 1 }))),
    });

  /** Two releases: of one coin, and of that and another. */
  async function twoReleases() {
    const { data } = await compileFolder(snapshotsOf('btc'));
    const { release } = await compileFolder(snapshotsOf('btc', 'eth'), { data });
    const [one = '', two = ''] = readdirSync(`${data}/releases`).sort();
    return { data, did: release.issuer_did, one, two };
  }

  it('lists them', async () => {
    const { data } = await twoReleases();
    expect(
      listText(data)
        .split('\n')
        .map((line) => line.slice(0, 8)),
    ).toEqual(['  000001', '* 000002']);
    expect(prune(data, RETENTION)).toEqual([]);
    expect(listText(makeFolder())).toMatch(/^no releases/);
    expect(() => prune(join(makeFolder(), 'typo'), RETENTION)).toThrow(
      'no such folder; correct --data',
    );
  });

  it('lists the others beside one that is damaged, and names that', async () => {
    const { data, one, two } = await twoReleases();
    const path = join(data, 'releases', one, 'release.json');
    writeFileSync(path, '{}');
    const [first, second] = listText(data).split('\n');
    expect(first).toContain(`  ${one}  Cannot read "${path}"`);
    expect(second).toContain(`* ${two}  as of`);
  });

  it('I26: rolls back by a newer release with the older files and the newer log', async () => {
    const { data, did, one } = await twoReleases();
    const { release } = await rollBack({ data, name: one, asOf: LATER, seed: SEED });
    expect(release.sequence).toBe(3);
    const report = await verifyRelease(data, { trust: [did] });
    expect([report.faults, report.records]).toEqual([[], 1]);
    const next = await compileFolder(snapshotsOf('btc', 'eth'), { data, asOf: LATER });
    expect(next.release.counts.records).toBe(2);
    expect((await verifyRelease(data, { trust: [did] })).faults).toEqual([]);
  });

  it('I65: a rollback across a rotation signs every kind of body anew, and the key before is not needed', async () => {
    const { data, did } = await smallShop();
    const next = new Uint8Array(32).fill(3);
    const from = '2026-11-21T12:00:00Z';
    rotateKey({ data, old: SEED, next, from, now: from, overlapDays: 0 });
    const [name = ''] = readdirSync(join(data, 'releases'));
    const back = { data, name, asOf: '2026-11-22T12:00:00Z' };
    await expect(rollBack({ ...back, seed: SEED })).rejects.toThrow('it is no longer valid');
    await expect(rollBack({ ...back, seed: next })).rejects.toThrow('compile first');
    const address = { baseUrl: BASE_URL, issuerName: 'Example readings' };
    const later = { ...address, data, asOf: from, seed: next, allowShrink: true };
    await compileFolder(snapshotsOf('btc'), later);
    const { release } = await rollBack({ ...back, seed: next });
    const { text, exitCode } = await runVerify(data, { issuer: [did] });
    expect([exitCode, text]).toEqual([0, expect.stringMatching(/^verified/)]);
    expect(release.issuer_did).not.toBe(did);
    // What it states is what it stated.
    const [one, other] = [1, 3].map((sequence) => openLog(data)?.entryOf(sequence)?.all);
    expect(other).toEqual(one);
  });

  it('I26: removes no release by a rollback, whatever the compiles before kept', async () => {
    const { data, one } = await twoReleases();
    const all = { data, retention: { last: 9, days: 0 } };
    for (const coin of ['ada', 'sol', 'xrp']) {
      await compileFolder(snapshotsOf('btc', 'eth', coin), { ...all, allowShrink: true });
    }
    const names = readdirSync(`${data}/releases`);
    const old = new Date(Date.now() - 3_600_000);
    for (const name of names) utimesSync(join(data, 'releases', name), old, old);
    await rollBack({ data, name: one, asOf: LATER, seed: SEED });
    expect(readdirSync(`${data}/releases`)).toEqual(expect.arrayContaining(names));
    await compileFolder(snapshotsOf('btc'), { ...all, asOf: LATER });
    expect(readdirSync(`${data}/releases`)).toHaveLength(7);
    await compileFolder(snapshotsOf('btc'), { data, asOf: LATER, retention: { last: 3, days: 0 } });
    expect(readdirSync(`${data}/releases`).sort()[0]).toMatch(/^000005/);
  });

  it('I26: refuses to roll back with another key, to nothing, or into the past', async () => {
    const { data, one } = await twoReleases();
    const before = filesBelow(data);
    const roll = { data, name: one, asOf: LATER, seed: SEED };
    const other = new Uint8Array(32).fill(3);
    await expect(rollBack({ ...roll, seed: other })).rejects.toThrow('not a key of this issuer');
    const nowhere = rollBack({ ...roll, name: '../etc' });
    await expect(nowhere).rejects.toThrow('Cannot find release "../etc"');
    const early = rollBack({ ...roll, asOf: '2026-11-20T11:00:00Z' });
    await expect(early).rejects.toThrow('before the current');
    expect(filesBelow(data)).toEqual(before);
  });

  it('I26: takes no time until which the older release was valid, but one of its own', async () => {
    const snapshots = snapshotsOf('btc');
    const first = await compileFolder(snapshots, { validUntil: '2026-11-20T12:30:00Z' });
    const { data } = await compileFolder(snapshots, { data: first.data });
    const [name = ''] = readdirSync(`${data}/releases`);
    const roll = { data, name, asOf: LATER, seed: SEED };
    expect((await rollBack(roll)).release.valid_until).toBeUndefined();
    const until = '2026-11-20T14:00:00Z';
    expect((await rollBack({ ...roll, validUntil: until })).release.valid_until).toBe(until);
    const past = rollBack({ ...roll, validUntil: '2026-11-20T12:30:00Z' });
    await expect(past).rejects.toThrow('pass a later --valid-until');
    expect(listText(data)).toContain('* 000004');
  });

  it('I26: refuses to roll back to another address, to other tables, and to a head that nobody signed', async () => {
    const first = await compileFolder(snapshotsOf('btc'), { baseUrl: 'https://old.example.org' });
    const { data } = await compileFolder(snapshotsOf('btc'), { data: first.data });
    const [name = ''] = readdirSync(`${data}/releases`);
    const roll = { data, name, asOf: LATER, seed: SEED };
    await expect(rollBack(roll)).rejects.toThrow('was published at https://old.example.org');
    const root = join(data, 'releases', name);
    const other = `sha256:${'0'.repeat(64)}`;
    resign(root, { base_url: 'https://example.org', table_digest: other });
    await expect(rollBack(roll)).rejects.toThrow('was compiled with other tables');
    const table_digest = canonicalDigest(tables(BUILTIN));
    resign(root, { table_digest, contract_version: CONTRACT_VERSION - 1 });
    await expect(rollBack(roll)).rejects.toThrow('was compiled with other tables');
    const head = readFileSync(join(root, 'release.json'), 'utf8');
    writeFileSync(join(root, 'release.json'), head.replace('"readings": 1', '"readings": 2'));
    await expect(rollBack(roll)).rejects.toThrow('is damaged: signature');
    expect(listText(data)).toContain('* 000002');
  });

  it('I22: refuses to roll back to a file that was damaged meanwhile, and leaves what it can', async () => {
    const { data } = await compileFolder(snapshotsOf('btc', 'eth'));
    const [one = ''] = readdirSync(`${data}/releases`);
    await compileFolder(snapshotsOf('btc'), { data, allowShrink: true });
    const [stored = ''] = readdirSync(`${data}/files/record/crypto.spot`).filter((name) =>
      name.startsWith('eth.'),
    );
    const path = join(data, 'files/record/crypto.spot', stored);
    const bytes = readFileSync(path);
    writeFileSync(
      path,
      bytes.map((byte, at) => (at === 100 ? byte ^ 1 : byte)),
    );
    const before = filesBelow(data);
    const roll = { data, name: one, asOf: LATER, seed: SEED };
    await expect(rollBack(roll)).rejects.toThrow('"record/crypto.spot/eth.json" of release');
    expect(filesBelow(data)).toEqual(before);
    writeFileSync(path, bytes);
    expect((await rollBack(roll)).release.sequence).toBe(3);
  });
});

describe('releases diff', () => {
  afterAll(removeFolders);

  /** A reading of one hour, collected in that hour or another. */
  const river = (entity: string, stage_ft: number | null, hours: number | [number, number]) => {
    const [hour, seen] = typeof hours === 'number' ? [hours, hours] : hours;
    return reading(
      entity,
      { stage_ft, flow_cfs: 7 },
      { observed_at: `2026-11-20T0${hour}:00:00Z`, collected_at: `2026-11-20T0${seen}:30:00Z` },
    );
  };
  const BATCH = (hour: number) => `2026-11-20T0${hour}Z/hydrology.river-level.ndjson`;

  /** Two releases of these batches, the second with `allowShrink`. */
  async function releasesOf(first: readonly object[], second: readonly object[]) {
    const { data } = await compileFolder(writeSnapshots({ [BATCH(1)]: ndjson(first) }));
    const files = { [BATCH(1)]: ndjson(first), [BATCH(2)]: ndjson(second) };
    await compileFolder(writeSnapshots(files), { data });
    const [one = '', two = ''] = readdirSync(`${data}/releases`).sort();
    return { data, one, two };
  }

  /** The stored files of a record. */
  function recordsOf(data: string, entity: string): string[] {
    const folder = join(data, 'files/record/hydrology.river-level');
    const names = readdirSync(folder).filter((name) => name.startsWith(`${entity}.`));
    return names.map((name) => join(folder, name));
  }

  describe('readingsDiffText()', () => {
    const first = [river('a', 1, 1), river('b', 13.6, 1), river('c', 3, 1)];
    const second = [river('a', 1.5, [1, 2]), river('b', 13.9, 2), river('d', null, 2)];

    it('says by entity what was read, and marks what is new, gone, revised or an earlier reading', async () => {
      const { data, one, two } = await releasesOf(first, second);
      expect(readingsDiffText(data, [one, two]).split('\n')).toEqual([
        `${one} -> ${two}: 1 record new, 1 with a new reading, 1 revised`,
        '+ d hydrology.river-level stage_ft null',
        '  a hydrology.river-level stage_ft 1 -> 1.5 (revised)',
        '  b hydrology.river-level stage_ft 13.6 -> 13.9',
      ]);
      expect(readingsDiffText(data, [two, one]).split('\n')).toEqual([
        `${two} -> ${one}: 1 record revised, 1 back at an earlier reading, 1 gone`,
        '- d hydrology.river-level stage_ft null',
        '  a hydrology.river-level stage_ft 1.5 -> 1 (revised)',
        '  b hydrology.river-level stage_ft 13.9 -> 13.6 (an earlier reading)',
      ]);
      expect(readingsDiffText(data, [one, one])).toBe(`${one} -> ${one}: no record changed`);
      expect(() => readingsDiffText(data, [one, 'none'])).toThrow('Cannot find release "none"');
    });

    it('shows so many lines and counts the rest, the rarest kind first', async () => {
      const many = Array.from({ length: 25 }, (_, at) => `e${at + 10}`);
      const { data, one, two } = await releasesOf(
        many.map((entity) => river(entity, 1, 1)),
        [...many.map((entity) => river(entity, 2, 2)), river('z', 1, 2)],
      );
      const lines = readingsDiffText(data, [one, two]).split('\n');
      expect(lines).toHaveLength(22);
      expect(lines[1]).toBe('+ z hydrology.river-level stage_ft 1');
      expect(lines.at(-1)).toBe('  … and 6 more');
    });

    it('shows no value of a record that is damaged, and refuses a damaged catalog', async () => {
      const { data, one, two } = await releasesOf(first, second);
      for (const path of recordsOf(data, 'b')) writeFileSync(path, '{"current":{"stage_ft":99}}');
      const text = readingsDiffText(data, [one, two]);
      expect(text).toContain('  b hydrology.river-level unreadable -> unreadable');
      expect(text).not.toContain('99');
      const folder = join(data, 'files/index');
      const catalogs = readdirSync(folder).filter((name) => name.startsWith('catalog.'));
      for (const name of catalogs) writeFileSync(join(folder, name), '');
      const damaged = () => readingsDiffText(data, [one, two]);
      expect(damaged).toThrow(`Cannot compare release "${one}": its catalog is damaged or gone`);
      expect(damaged).toThrow('compare the files with --files');
    });
  });

  describe('filesDiffText()', () => {
    it('names the paths that two releases list differently', async () => {
      const { data, one, two } = await releasesOf([river('a', 1, 1)], [river('b', 2, 2)]);
      const text = filesDiffText(data, [one, two]);
      expect(text).toContain('+ record/hydrology.river-level/b.json');
      expect(text).toContain('~ index/catalog.txt');
      expect(filesDiffText(data, [two, one])).toContain('- record/hydrology.river-level/b.json');
      expect(filesDiffText(data, [one, one])).toContain('0 added, 0 changed, 0 gone');
      expect(() => filesDiffText(data, [one, 'none'])).toThrow('Cannot find release "none"');
    });
  });
});

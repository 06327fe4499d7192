import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../compiler/format/iso-time.ts';
import type { Release } from '../../compiler/format/release.ts';
import { storedPath } from '../../compiler/products/shapes/path.ts';
import { fileEntry } from '../../compiler/release/file-writer.ts';
import { currentName, pruneReleases, RETENTION } from '../../compiler/release/release-folders.ts';
import {
  currentRelease,
  type LogSwitch,
  openStaging,
} from '../../compiler/release/release-store.ts';
import { SpareFiles } from '../../compiler/release/spare-files.ts';
import { CompileError } from '../../compiler/system/compile-error.ts';
import { lockData } from '../../compiler/system/data-lock.ts';
import {
  compileFolder,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  sha256Text,
  writeSnapshots,
} from '../snapshot-folder.ts';

afterAll(removeFolders);

describe('release store', () => {
  /** No log: what is published of one is for the tests of stages/anchor. */
  const next = { origin: 'example.org/log', size: 1, root: new Uint8Array(32) };
  const NO_LOG: LogSwitch = { next, stage: () => {}, publish: () => {}, tidy: () => {} };
  const HASH = `sha256:${'0'.repeat(64)}`;
  const head = (sequence: number): Release => ({
    format: 'signalpress-release/1',
    contract_version: 1,
    sequence,
    as_of: '2026-11-20T12:00:00Z',
    base_url: 'https://example.org',
    issuer_name: 'x',
    issuer_did: 'did:key:z6Mkx',
    key_id: 'x',
    table_digest: HASH,
    files_sha256: HASH,
    files_count: 0,
    previous: null,
    counts: { readings: 0, entities: 0, records: 0, bundles: 0, revisions: 0, repeats: 0 },
    signature: 'x',
  });

  /** A release of files with these texts, each at the path `<text>.json`. */
  async function publishOne(
    data: string,
    sequence: number,
    texts: readonly string[] = [],
  ): Promise<string> {
    const staging = openStaging(data);
    const list = texts
      .map((text) => staging.writer.write(`${text}.json`, text))
      .map(({ sha256, size, path }) => `${sha256} ${size} ${path}\n`)
      .sort((a, b) => (a.slice(65) < b.slice(65) ? -1 : 1))
      .join('');
    const signed = {
      ...head(sequence),
      files_sha256: `sha256:${sha256Text(list)}`,
      files_count: texts.length,
    };
    writeFileSync(join(staging.root, 'files.txt'), list);
    writeFileSync(join(staging.root, 'release.json'), JSON.stringify(signed));
    const settled = await staging.settle();
    return (await settled.publish(`${String(sequence).padStart(6, '0')}-x`, NO_LOG)).folder;
  }
  const stored = (data: string) => readdirSync(join(data, 'files')).sort();
  const names = (...texts: string[]) =>
    texts.map((text) => storedPath(`${text}.json`, sha256Text(text)).slice('files/'.length)).sort();
  /** Makes the releases so far look as if they had come hour by hour, the newest an hour ago. */
  function age(data: string): void {
    for (const [at, name] of releasesOf(data).reverse().entries()) {
      const old = new Date(Date.now() - (1 + at) * HOUR_MS);
      utimesSync(join(data, 'releases', name), old, old);
    }
  }
  const releasesOf = (data: string) => readdirSync(join(data, 'releases')).sort();

  describe('openStaging()', () => {
    it('shows nothing before the switch, and everything after it', async () => {
      const data = join(makeFolder(), 'data');
      const staging = openStaging(data);
      writeFileSync(join(staging.root, 'release.json'), JSON.stringify(head(1)));
      expect([currentName(data), staging.previous, releasesOf(data)]).toEqual([null, null, []]);
      const settled = await staging.settle();
      expect(currentName(data)).toBeNull();
      const { folder, cleanupFailures } = await settled.publish('000001-x', NO_LOG);
      expect(cleanupFailures).toEqual([]);
      expect(readlinkSync(join(data, 'current'))).toBe('releases/000001-x');
      expect(readdirSync(folder)).toEqual(['release.json']);
      expect(readdirSync(data).sort()).toEqual(['current', 'releases']);
    });

    it('knows the release that it goes on from', async () => {
      const data = makeFolder();
      await publishOne(data, 4);
      const staging = openStaging(data);
      expect(staging.previous?.head.sequence).toBe(4);
      staging.discard();
    });

    it('leaves everything as it was when it is discarded', async () => {
      const data = makeFolder();
      await publishOne(data, 1);
      const before = filesBelow(data);
      const staging = openStaging(data);
      writeFileSync(join(staging.root, 'x'), 'half');
      mkdirSync(staging.scratch);
      staging.discard();
      expect(filesBelow(data)).toEqual(before);
      expect(currentName(data)).toBe('000001-x');
      expect(readdirSync(data).sort()).toEqual(['current', 'releases']);
    });

    it('removes what a compile that was killed left behind', () => {
      const data = makeFolder();
      mkdirSync(join(data, '.staging/release'), { recursive: true });
      writeFileSync(join(data, '.staging/release/half.json'), '{');
      const staging = openStaging(data);
      expect(readdirSync(staging.root)).toEqual([]);
      staging.discard();
    });

    it('publishes again after a compile that was killed before its switch', async () => {
      const data = makeFolder();
      await publishOne(data, 1);
      mkdirSync(join(data, 'releases/000002-x'));
      writeFileSync(join(data, 'releases/000002-x/left.json'), '{}');
      await publishOne(data, 2);
      expect(currentName(data)).toBe('000002-x');
      expect(readdirSync(join(data, 'releases/000002-x'))).toEqual(['files.txt', 'release.json']);
    });

    it('refuses while another command holds the lock, and touches nothing', () => {
      const data = makeFolder();
      const unlock = lockData(data);
      mkdirSync(join(data, '.staging'));
      writeFileSync(join(data, '.staging/other'), 'of the other compile');
      expect(() => openStaging(data)).toThrow(`another command (process ${process.pid} on`);
      expect(readFileSync(join(data, '.staging/other'), 'utf8')).toBe('of the other compile');
      expect(existsSync(join(data, '.lock'))).toBe(true);
      unlock();
    });

    it('refuses a second compile of the same process', () => {
      const data = makeFolder();
      const first = openStaging(data);
      expect(() => openStaging(data)).toThrow('another command');
      first.discard();
      openStaging(data).discard();
    });

    it('I19: keeps young releases, and prunes old ones down to the newest', async () => {
      const data = makeFolder();
      for (let sequence = 1; sequence <= 7; sequence++) await publishOne(data, sequence);
      expect(releasesOf(data)).toHaveLength(7);
      age(data);
      await publishOne(data, 8);
      expect(releasesOf(data)).toHaveLength(RETENTION.last);
      expect(releasesOf(data)[0]).toBe('000005-x');
    });

    it('I19: counts the age of a release from when it was superseded, not from when it was written', async () => {
      const data = makeFolder();
      await publishOne(data, 1, ['bought']);
      age(data);
      for (let sequence = 2; sequence <= 6; sequence++) await publishOne(data, sequence);
      expect([releasesOf(data)[0], ...stored(data)]).toEqual(['000001-x', ...names('bought')]);
    });

    it('I19: removes the files that only a pruned release lists', async () => {
      const data = makeFolder();
      await publishOne(data, 1, ['a', 'b', 'c', 'gone']);
      await publishOne(data, 2, ['a', 'c']);
      await publishOne(data, 3, ['a']);
      age(data);
      await publishOne(data, 4, ['a', 'b']);
      await publishOne(data, 5, ['a']);
      age(data);
      expect(stored(data)).toEqual(names('a', 'b', 'c', 'gone'));
      await publishOne(data, 6, ['a', 'd']);
      expect(releasesOf(data)[0]).toBe('000002-x');
      expect(stored(data)).toEqual(names('a', 'b', 'c', 'd'));
      age(data);
      await publishOne(data, 7, ['a']);
      expect(releasesOf(data)[0]).toBe('000003-x');
      expect(stored(data)).toEqual(names('a', 'b', 'd'));
    });

    it.each([
      [{ last: 3, days: 0 }, [4, 5, 6]],
      [{ last: 1, days: 0 }, [5, 6]],
      [{ last: 1, days: 2 }, [4, 5, 6]],
      [{ last: 3, days: 1 }, [4, 5, 6]],
      [{ last: 2, days: 4 }, [2, 3, 4, 5, 6]],
      [{ last: 7, days: 0 }, [1, 2, 3, 4, 5, 6]],
    ])(
      'I19: keeps of six releases, one a day, by %j the releases %j and their files',
      async (retention, kept) => {
        const data = makeFolder();
        for (const sequence of [1, 2, 3, 4, 5, 6]) {
          await publishOne(data, sequence, [String(sequence), 'shared']);
        }
        const newest = Date.now();
        for (const [at, name] of releasesOf(data).entries()) {
          const time = new Date(newest - (5 - at) * DAY_MS);
          utimesSync(join(data, 'releases', name), time, time);
        }
        expect(pruneReleases(data, retention)).toHaveLength(6 - kept.length);
        expect(releasesOf(data)).toEqual(kept.map((sequence) => `00000${sequence}-x`));
        expect(stored(data)).toEqual(names('shared', ...kept.map(String)));
        expect(pruneReleases(data, retention)).toEqual([]);
      },
    );

    it('I19: prunes neither a young release nor the current one, whatever is to be kept', async () => {
      const data = makeFolder();
      for (const sequence of [1, 2, 3]) await publishOne(data, sequence, [String(sequence)]);
      expect(pruneReleases(data, { last: 1, days: 0 })).toEqual([]);
      age(data);
      relink(join(data, 'current'), 'releases/000001-x');
      utimesSync(join(data, 'releases/000003-x'), new Date(), new Date());
      expect(pruneReleases(data, { last: 1, days: 0 })).toEqual([]);
    });

    it('I16: removes files and releases of a killed compile at the next start, and no other', async () => {
      const data = makeFolder();
      await publishOne(data, 1, ['a']);
      await publishOne(data, 2, ['b']);
      mkdirSync(join(data, '.staging'));
      mkdirSync(join(data, 'releases/000003-x'));
      writeFileSync(join(data, 'files/torn.json'), 'half');
      openStaging(data).discard();
      expect(stored(data)).toEqual(names('a', 'b'));
      expect(releasesOf(data)).toEqual(['000001-x', '000002-x']);
    });

    /** Six releases, of which the oldest is to go. */
    async function withDoomed() {
      const data = makeFolder();
      for (const sequence of [1, 2, 3, 4, 5, 6]) {
        await publishOne(data, sequence, ['a', ...(sequence === 1 ? ['doomed', 'rest'] : [])]);
      }
      age(data);
      return {
        data,
        staging: openStaging(data),
        kept: ['3', '4', '5', '6'].map((n) => `00000${n}-x`),
      };
    }

    it('I16: a compile that is killed while it writes over old bodies leaves every kept release whole', async () => {
      const { data, staging, kept } = await withDoomed();
      staging.writer.write('doomed.json', 'fresh');
      expect([releasesOf(data), stored(data).includes(names('doomed')[0] ?? '')]).toEqual([
        kept,
        false,
      ]);
      expect(stored(data)).toHaveLength(3);
      for (const name of ['.lock', '.lock-held']) rmSync(join(data, name));
      openStaging(data).discard();
      expect([releasesOf(data), stored(data)]).toEqual([kept, names('a')]);
    });

    it('I16: a compile that fails removes what it wrote over old bodies, and the bodies that are left', async () => {
      const { data, staging, kept } = await withDoomed();
      staging.writer.write('doomed.json', 'fresh');
      staging.discard();
      expect([releasesOf(data), stored(data)]).toEqual([kept, names('a')]);
    });

    it('I16: writes over no body before it writes one itself', async () => {
      const { data, staging } = await withDoomed();
      staging.discard();
      expect([releasesOf(data).length, stored(data)]).toEqual([6, names('a', 'doomed', 'rest')]);
    });

    it('I16: says what could not be put away after the switch, and has published all the same', async () => {
      const data = makeFolder();
      await publishOne(data, 1);
      const staging = openStaging(data);
      writeFileSync(join(staging.root, 'release.json'), JSON.stringify(head(2)));
      for (const name of ['a', 'b', 'c', 'd']) {
        symlinkSync('nowhere', join(data, `releases/000000-${name}`));
      }
      const settled = await staging.settle();
      const { folder, cleanupFailures } = await settled.publish('000002-x', NO_LOG);
      expect([basename(folder), cleanupFailures]).toEqual(['000002-x', [expect.any(Error)]]);
      expect(currentName(data)).toBe('000002-x');
      expect(readdirSync(data).sort()).toEqual(['current', 'releases']);
    });

    it('I16: removes the release of a first compile that was killed before its switch', () => {
      const data = makeFolder();
      mkdirSync(join(data, '.staging'));
      mkdirSync(join(data, 'releases/000001-x'), { recursive: true });
      openStaging(data).discard();
      expect(releasesOf(data)).toEqual([]);
    });

    it.each([
      ['gone', (link: string) => rmSync(link), 'names a release that is not there'],
      [
        'left dangling',
        (link: string) => relink(link, 'releases/000009-x'),
        'names a release that is not there',
      ],
      [
        'a folder, as a copy may make it',
        copied,
        'is not a link, perhaps because a copy followed links',
      ],
    ])(
      'I27: refuses a "current" that is %s, says how to mend it, and removes nothing',
      async (_, damage, what) => {
        const data = makeFolder();
        await publishOne(data, 1, ['a']);
        await publishOne(data, 2, ['b']);
        mkdirSync(join(data, '.staging'));
        damage(join(data, 'current'));
        expect(() => openStaging(data)).toThrow(what);
        const advice = `ln -sfn releases/000002-x ${join(data, 'current')}`;
        expect(() => openStaging(data)).toThrow(advice);
        expect([releasesOf(data), stored(data)]).toEqual([
          ['000001-x', '000002-x'],
          names('a', 'b'),
        ]);
        rmSync(join(data, 'current'), { recursive: true, force: true });
        symlinkSync('releases/000002-x', join(data, 'current'));
        openStaging(data).discard();
        expect([releasesOf(data), stored(data)]).toEqual([
          ['000001-x', '000002-x'],
          names('a', 'b'),
        ]);
      },
    );

    it.each([
      ['no JSON', 'x\n'],
      ['of another format', '{"format":"signalpress-release/0"}\n'],
    ])('names a head that is %s, says what to do, and gives the lock back', async (_, text) => {
      const data = makeFolder();
      await publishOne(data, 1);
      writeFileSync(join(data, 'releases/000001-x/release.json'), text);
      const open = () => openStaging(data);
      expect(open).toThrow('000001-x/release.json": not the head of a release as this program');
      expect(open).toThrow('restore it from a copy');
      expect(readdirSync(data).sort()).toEqual(['current', 'releases']);
    });
  });

  function relink(link: string, target: string): void {
    rmSync(link);
    symlinkSync(target, link);
  }

  /** Puts a copy of what a link points to in its place. */
  function copied(link: string): void {
    const target = realpathSync(link);
    rmSync(link);
    cpSync(target, link, { recursive: true });
  }

  describe('currentName()', () => {
    it('is null before the first release', () => {
      expect(currentName(makeFolder())).toBeNull();
    });
  });

  const snapshots = writeSnapshots({
    '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
  });
  let data: string;
  beforeEach(async () => {
    ({ data } = await compileFolder(snapshots));
  });

  /** Where the release keeps its list of blocks. */
  function blocksFile(): string {
    const folder = join(data, 'files', 'statements');
    const name = readdirSync(folder).find((each) => each.startsWith('blocks'));
    return join(folder, name ?? '');
  }

  describe('currentRelease()', () => {
    it('reads the files of the release that is served, and knows which it does not have', () => {
      const release = currentRelease(data);
      expect(release?.read('statements/blocks.txt')?.toString('utf8')).toContain(' /gauge');
      expect(release?.read('log/checkpoint')).toBeNull();
      expect(currentRelease(join(makeFolder(), 'none'))).toBeNull();
    });

    it('refuses a file that is torn or missing, and a list that is not the one signed', () => {
      writeFileSync(blocksFile(), 'torn');
      expect(() => currentRelease(data)?.read('statements/blocks.txt')).toThrow(CompileError);
      rmSync(blocksFile());
      expect(() => currentRelease(data)?.read('statements/blocks.txt')).toThrow('never restarted');
      appendFileSync(join(data, 'current', 'files.txt'), 'more\n');
      expect(() => currentRelease(data)).toThrow(CompileError);
    });

    it('I27: refuses to begin a log again when the one before is missing or torn', async () => {
      const checkpoint = join(data, 'log', 'checkpoint');
      writeFileSync(checkpoint, 'torn');
      await expect(compileFolder(snapshots, { data })).rejects.toThrow('never shrinks or forks');
      rmSync(join(data, 'log'), { recursive: true });
      await expect(compileFolder(snapshots, { data })).rejects.toThrow('never shrinks or forks');
    });
  });
});

const PATH = 'a/b.json';
const bytesOf = (text: string) => Buffer.from(text, 'utf8');
const entryOf = (text: string, path = PATH) => fileEntry(path, bytesOf(text));

/** A data folder with the bodies of old releases, all of them spare. */
function shop(...texts: string[]) {
  const data = makeFolder();
  const placeOf = (text: string, path = PATH) =>
    join(data, storedPath(path, entryOf(text, path).sha256));
  mkdirSync(dirname(placeOf('')), { recursive: true });
  for (const text of texts) writeFileSync(placeOf(text), text);
  const spares = new SpareFiles(data, () => texts.map((text) => entryOf(text)));
  const write = (text: string, path = PATH) => spares.writeOver(entryOf(text, path), bytesOf(text));
  return { data, placeOf, spares, write };
}

describe('SpareFiles', () => {
  it.each([
    ['longer', 'x'.repeat(9000), 'y'.repeat(20_000)],
    ['shorter', 'x'.repeat(20_000), 'y'.repeat(9000)],
    ['empty', 'x'.repeat(100), ''],
    ['of whole blocks', 'x'.repeat(100), 'y'.repeat(8192)],
  ])('writes a body that is %s over a spare one, which takes its name', (_, old, fresh) => {
    const { placeOf, write } = shop(old);
    const { ino } = statSync(placeOf(old));
    expect(write(fresh)).toBe(true);
    expect(existsSync(placeOf(old))).toBe(false);
    expect(readFileSync(placeOf(fresh), 'utf8')).toBe(fresh);
    expect(statSync(placeOf(fresh)).ino).toBe(ino);
  });

  it('writes over each spare file once, and over none of another path', () => {
    const { placeOf, write } = shop('one', 'two');
    expect([write('3'), write('4'), write('5')]).toEqual([true, true, false]);
    expect(['3', '4'].map((text) => readFileSync(placeOf(text), 'utf8'))).toEqual(['3', '4']);
    expect(shop('one').write('2', 'a/c.json')).toBe(false);
  });

  it('I16: leaves a file alone that is there under the new name, and one that a copy shares', () => {
    const there = shop('old');
    writeFileSync(there.placeOf('new'), 'of a kept release');
    expect(there.write('new')).toBe(false);
    expect(readFileSync(there.placeOf('new'), 'utf8')).toBe('of a kept release');
    const shared = shop('old');
    const copy = join(shared.data, 'backup');
    linkSync(shared.placeOf('old'), copy);
    expect(shared.write('new')).toBe(false);
    expect(readFileSync(copy, 'utf8')).toBe('old');
  });

  it.each([
    ['gone', (place: string) => rmSync(place)],
    [
      'a link',
      (place: string) => {
        rmSync(place);
        writeFileSync(`${place}.other`, 'other');
        symlinkSync(`${place}.other`, place);
      },
    ],
    [
      'a folder',
      (place: string) => {
        rmSync(place);
        mkdirSync(place);
      },
    ],
  ])('I38: writes over nothing that is %s', (_, change) => {
    const { placeOf, write } = shop('old');
    change(placeOf('old'));
    expect(write('new')).toBe(false);
    expect(existsSync(placeOf('new'))).toBe(false);
    const other = `${placeOf('old')}.other`;
    if (existsSync(other)) expect(readFileSync(other, 'utf8')).toBe('other');
  });

  it.skipIf(process.getuid?.() === 0)(
    'writes over nothing that is not ours to write (skipped for root)',
    () => {
      const { placeOf, write } = shop('old');
      chmodSync(placeOf('old'), 0o400);
      expect(write('new')).toBe(false);
    },
  );

  it('removes what is left, and nothing that is written again under its name', () => {
    const { placeOf, spares, write } = shop('again', 'left');
    expect(write('again')).toBe(false);
    writeFileSync(placeOf('again'), 'again');
    spares.remove();
    expect([existsSync(placeOf('again')), existsSync(placeOf('left'))]).toEqual([true, false]);
  });

  it('asks for spare files once, and only where something is written or removed', () => {
    const data = makeFolder();
    let asked = 0;
    const spares = new SpareFiles(data, () => {
      asked += 1;
      return [];
    });
    spares.removeGiven();
    expect(asked).toBe(0);
    expect(spares.writeOver(entryOf('x'), bytesOf('x'))).toBe(false);
    spares.remove();
    expect(asked).toBe(1);
  });
});

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { compile } from '../../../compiler/cli/compile.ts';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { parseFiles, releaseSchema } from '../../../compiler/format/release.ts';
import { decodeSegment } from '../../../compiler/products/shapes/path.ts';
import { rotateKey } from '../../../compiler/publish/keys/key-command.ts';
import { SIGNAL_BYTES_IN_MEMORY } from '../../../compiler/readings/partition.ts';
import { CompileError } from '../../../compiler/system/compile-error.ts';
import {
  isSignedBy,
  isVerified,
  verifyCitation,
} from '../../../compiler/verify/verify-citation.ts';
import { built } from '../../command-runs.ts';
import { HOSTILE_NAMES } from '../../hostile-names.ts';
import { deathRow } from '../../roster-rows.ts';
import { smallSet } from '../../small-set.ts';
import {
  AS_OF,
  compileFaults,
  compileFolder,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  SEED,
  type SnapshotFiles,
  sha256Text,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { peakMegabytes } from '../bench.ts';

const SHARE_BYTES_MIN = 1_000_000;

afterAll(removeFolders);

const GOOD = ndjson([reading('btc', { price_usd: 1 })]);
const filesOf = async (files: SnapshotFiles) =>
  filesBelow((await compileFolder(writeSnapshots(files))).folder);

describe('compile()', () => {
  it('publishes a signed head that names its files, its issuer and its predecessor', async () => {
    const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': GOOD });
    const first = await compileFolder(snapshots);
    const second = await compileFolder(snapshots, { data: first.data });
    const current = releaseSchema.parse(readJson(join(first.data, 'current'), 'release.json'));
    expect(current).toEqual(second.release);
    const { signature, ...signed } = current;
    const bytes = Buffer.from(canonicalJson(signed), 'utf8');
    expect(isSignedBy(current.issuer_did, bytes, signature)).toBe(true);
    expect([first.release.sequence, current.sequence]).toEqual([1, 2]);
    expect(first.release.previous).toBeNull();
    expect(current.previous).toBe(`sha256:${sha256Text(canonicalJson(first.release))}`);
    const list = readFileSync(join(second.folder, 'files.txt'), 'utf8');
    expect(current.files_sha256).toBe(`sha256:${sha256Text(list)}`);
    expect(current.files_count).toBe(parseFiles(list).length);
  });

  it('reports how far it is, stage by stage', async () => {
    const stages: string[] = [];
    const snapshots = writeSnapshots(smallSet());
    await compileFolder(snapshots, { progress: ({ stage }) => stages.push(stage) });
    expect([...new Set(stages)]).toEqual(['read', 'join', 'publish']);
  });

  it('leaves the data folder as it was when it fails right before the switch', async () => {
    const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': GOOD });
    const { data } = await compileFolder(snapshots);
    const before = filesBelow(data);
    const progress = ({ stage }: { stage: string }) => {
      if (stage === 'publish') throw new Error('the disk is gone');
    };
    await expect(compileFolder(snapshots, { data, progress })).rejects.toThrow('the disk is gone');
    expect(filesBelow(data)).toEqual(before);
    expect(readdirSync(data).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('I20: refuses a second compile into the same folder and finishes the first', async () => {
    const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': GOOD });
    const data = join(makeFolder(), 'data');
    const seconds: Promise<unknown>[] = [];
    const progress = () => seconds.push(compileFolder(snapshots, { data }).catch((error) => error));
    const { release } = await compileFolder(snapshots, { data, progress });
    const outcomes = await Promise.all(seconds);
    expect(outcomes.length).toBeGreaterThan(0);
    for (const outcome of outcomes) expect(String(outcome)).toContain('another command');
    expect(release.sequence).toBe(1);
  });

  it('signs everything again when the issuer key changes', async () => {
    const snapshots = writeSnapshots(smallSet());
    const { data } = await compileFolder(snapshots);
    const seed = SEED.map((b) => b + 1);
    const rotation = { old: SEED, next: seed, from: AS_OF, now: AS_OF, overlapDays: 1 };
    rotateKey({ data, ...rotation });
    const { folder, release } = await compileFolder(snapshots, { data, seed });
    const { _citation } = readJson(folder, 'record/crypto.spot/btc.json');
    expect(_citation.issuer_DID).toBe(release.issuer_did);
    expect(isVerified(verifyCitation(_citation, { trust: [release.issuer_did] }))).toBe(true);
  });

  it.each(['.', './', 'dist-data', '2026-11-20/deep'])(
    'refuses to publish at "%s" of the snapshots, where the next compile would take releases for batches',
    async (place) => {
      const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': GOOD });
      const inside = compileFolder(snapshots, { data: `${snapshots}/${place}` });
      await expect(inside).rejects.toThrow('among the batches');
      expect([...filesBelow(snapshots).keys()]).toEqual(['2026-11-20/crypto.spot.ndjson']);
    },
  );

  it('publishes beside the snapshots, whatever the folders have in common', async () => {
    const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': GOOD });
    const beside = await compileFolder(snapshots, { data: `${snapshots}-data` });
    expect(beside.release.sequence).toBe(1);
    rmSync(beside.data, { recursive: true });
  });

  it('I21: refuses a clock before the release that it follows', async () => {
    const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': GOOD });
    const { data } = await compileFolder(snapshots);
    const back = compileFolder(snapshots, { data, asOf: '2026-11-20T11:59:59Z' });
    await expect(back).rejects.toThrow(CompileError);
  });
});

describe('determinism', () => {
  it('I18: gives the same bytes again, whatever the order in which files were made', async () => {
    const set = Object.entries(smallSet());
    const one = await filesOf(Object.fromEntries(set));
    expect(await filesOf(Object.fromEntries([...set].reverse()))).toEqual(one);
    expect(one.size).toBeGreaterThan(100);
  });

  it('I18: gives the same bytes upon an earlier release as without', async () => {
    const snapshots = writeSnapshots(smallSet());
    const first = await compileFolder(snapshots);
    const again = await compileFolder(snapshots, { data: first.data });
    // What goes by the log, which has the release before in it, and what says what changed since that.
    const isOfBefore = (path: string): boolean =>
      OF_THE_LOG.test(path) || path.startsWith('site/changes.');
    const kept = (folder: string) => [...filesBelow(folder)].filter(([path]) => !isOfBefore(path));
    expect(kept(again.folder).length).toBeGreaterThan(100);
    expect(kept(again.folder)).toEqual(kept(first.folder));
  });

  it('I18: gives the same bytes in other time zones and languages, on 0, 1 and 2 workers', async () => {
    const snapshots = writeSnapshots(smallSet());
    const here = await compileFolder(snapshots);
    const want = heads(here.folder);
    const worlds = [
      { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', workers: 0 },
      { TZ: 'America/St_Johns', LANG: 'C', UV_THREADPOOL_SIZE: '1', workers: 1 },
      { TZ: 'Asia/Kathmandu', LANG: 'ar_EG.UTF-8', UV_THREADPOOL_SIZE: '9', workers: 2 },
    ];
    for (const { workers, ...env } of worlds) {
      const data = join(makeFolder(), 'data');
      compileInChild({ snapshots, data, workers, env });
      expect(heads(join(data, 'current'))).toEqual(want);
    }
  });

  it('I18: gives the same bytes and the same report when workers share one large signal', async () => {
    const lines = Array.from({ length: 2400 }, (_, at) => {
      const observed_at = new Date(Date.parse('2026-11-20T10:00:00Z') - 3_600_000 * (at % 40));
      const more = { observed_at: observed_at.toISOString(), entity_name: 'x'.repeat(1800) };
      return ndjson([reading(`coin-${Math.floor(at / 40)}`, { price_usd: at }, more)]);
    });
    const path = '2026-11-20/crypto.spot.ndjson';
    const snapshots = writeSnapshots({ [path]: lines.join('') });
    expect(lines.join('').length).toBeGreaterThan(2 * SHARE_BYTES_MIN);
    const want = heads((await compileFolder(snapshots)).folder);
    const data = join(makeFolder(), 'data');
    compileInChild({ snapshots, data, workers: 2 });
    expect(heads(join(data, 'current'))).toEqual(want);

    const bad = lines.map((line, at) =>
      at % 300 === 7 ? line.replace('price_usd', 'Price') : line,
    );
    const broken = writeSnapshots({ [path]: `${bad.join('')}no json\n{"entity":7}\n` });
    const report = await compileFolder(broken).catch((error: CompileError) => error.message);
    expect(report).toMatch(/10 problems/);
    expect(() => compileInChild({ snapshots: broken, data, workers: 2 })).toThrow(String(report));
  });

  it('I37: 100 readings permuted over lines and batches give one release', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => {
      const observed_at = `2026-11-${String(1 + (index % 20)).padStart(2, '0')}T10:00:00Z`;
      return reading(`coin-${Math.floor(index / 20)}`, { price_usd: index }, { observed_at });
    });
    const releases = new Set<string>();
    const order = fc.shuffledSubarray(rows, { minLength: 100 });
    const names = ['2026-11-20', '2026-11-20T10Z', '2026-11-20T11Z'];
    const places = fc.array(fc.nat(names.length - 1), { minLength: 100, maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(order, places, async (shuffled, batches) => {
        const files: Record<string, string> = {};
        for (const [index, row] of shuffled.entries()) {
          const path = `${names[batches[index] ?? 0]}/crypto.spot.ndjson`;
          files[path] = (files[path] ?? '') + ndjson([row]);
        }
        const made = [...(await filesOf(files))].filter(([path]) => !OF_THE_LOG.test(path));
        releases.add(sha256Text(JSON.stringify(made)));
      }),
      { numRuns: 6, verbose: 0 },
    );
    expect(releases.size).toBe(1);
  });

  it('I34: gives the same bytes through partitions on disk as in memory', async () => {
    const entities = Array.from({ length: 300 }, (_, index) => `coin-${index}`);
    const text = ndjson(entities.map((entity, index) => reading(entity, { price_usd: index })));
    const padded = text + '\n'.repeat(SIGNAL_BYTES_IN_MEMORY);
    const inMemory = await filesOf({ '2026-11-20/crypto.spot.ndjson': text });
    expect(await filesOf({ '2026-11-20/crypto.spot.ndjson': padded })).toEqual(inMemory);
  });
});

/** The log goes by the batch that a reading came with; the head, the list and the page that shows its root go by the log. */
const OF_THE_LOG = /^(log\/|site\/index\.html|release\.|files\.txt$)/;

/** The two files that every other byte of a release follows from. */
function heads(folder: string): string[] {
  return ['files.txt', 'release.json'].map((name) => readFileSync(join(folder, name), 'utf8'));
}

interface Child {
  readonly snapshots: string;
  readonly data: string;
  readonly workers: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node. */
  readonly flags?: readonly string[];
}

/** Compiles in a process of its own over the built files; returns its peak memory in megabytes. */
function compileInChild({ snapshots, data, workers, env = {}, flags = [] }: Child): number {
  const options = { snapshots, data, asOf: AS_OF, issuerName: 'Test issuer', workers };
  const script = join(makeFolder(), 'child.mjs');
  writeFileSync(
    script,
    `import { compile } from ${JSON.stringify(pathToFileURL(built('compiler/cli/compile.js')).href)};
    const seed = new Uint8Array(32).fill(${SEED[0]});
    await compile({ ...${JSON.stringify(options)}, baseUrl: 'https://example.org', seed });
    ${peakMegabytes}
    console.log(peakMegabytes());`,
  );
  const text = execFileSync(process.execPath, [...flags, script], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
    stdio: 'pipe',
  });
  return Number(text);
}

describe('refusals', () => {
  const BAD: SnapshotFiles = {
    '2026-11-20T10Z/crypto.spot.ndjson': `${GOOD}not json\n`,
    '2026-11-20/crypto.spot.ndjson': GOOD.replace('1}', '9007199254740993}'),
    '2026-11-20/macro.unemployment.ndjson': ndjson([reading('us', { unemployment_ratio: 0.04 })]),
    '2026-11-20/airquality.aqi.ndjson': ndjson([reading('atlantis', { aqi_index: 1 })]),
    '2026-11-20/nas.ground_ops.ndjson': ndjson([
      reading('bos', { avg_delay_min: 1 }),
      reading('bos', { avg_delay_min: 2 }),
    ]),
    '2026-11-20/filing.insider.ndjson': Buffer.from([0xff, 0xfe, 0x0a]),
  };

  it('I35: gathers every problem of every file, each with code, file, line and field', async () => {
    const faults = await compileFaults(BAD);
    const places = faults.map(({ code, file, line, field }) => [code, file, line, field]);
    expect(places).toEqual([
      ['unknown_entity', '2026-11-20/airquality.aqi.ndjson', 1, 'entity'],
      ['bad_line', '2026-11-20/crypto.spot.ndjson', 1, 'current.price_usd'],
      ['bad_line', '2026-11-20/filing.insider.ndjson', 1, 'line'],
      ['foreign_unit', '2026-11-20/macro.unemployment.ndjson', 1, 'current.unemployment_ratio'],
      ['conflict', '2026-11-20/nas.ground_ops.ndjson', 2, 'current'],
      ['bad_line', '2026-11-20T10Z/crypto.spot.ndjson', 2, 'line'],
    ]);
  });

  it('I35: publishes nothing of a set with one bad line: the data folder keeps every byte', async () => {
    const { data } = await compileFolder(writeSnapshots({ '2026-11-20/crypto.spot.ndjson': GOOD }));
    const before = filesBelow(data);
    for (const [path, text] of Object.entries(BAD)) {
      const good = {
        '2026-11-18/earthquake.swarm_rate.ndjson': '',
        '2026-11-20T11Z/crypto.spot.ndjson': GOOD,
      };
      expect(await compileFaults({ ...good, [path]: text }, { data }), path).not.toEqual([]);
      expect(filesBelow(data)).toEqual(before);
      expect(readdirSync(data).filter((name) => name.startsWith('.'))).toEqual([]);
    }
  });

  it('I35: makes no data of a set that was never good', async () => {
    const data = join(makeFolder(), 'data');
    await compileFaults(BAD, { data });
    expect([...filesBelow(data).keys()]).toEqual([]);
    expect(readdirSync(join(data, 'releases'))).toEqual([]);
  });

  it('I37: reports the same conflict whatever the order of lines and signals', async () => {
    const two = [reading('bos', { avg_delay_min: 1 }), reading('bos', { avg_delay_min: 2 })];
    const conflict = (rows: object[]) =>
      compileFaults({ '2026-11-20/nas.ground_ops.ndjson': ndjson(rows) });
    expect(await conflict(two)).toEqual(await conflict([...two].reverse()));
  });

  it('I38: refuses symlinks inside the snapshots before anything is written', async () => {
    const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': GOOD });
    symlinkSync('/etc/passwd', join(snapshots, '2026-11-20/macro.unemployment.ndjson'));
    const data = join(makeFolder(), 'data');
    await expect(compileFolder(snapshots, { data })).rejects.toThrow('not a plain file: a link');
    expect(readdirSync(dirname(data))).toEqual([]);
  });

  it('I38: takes 200 and more hostile names as entities: refused by name, or one file each', async () => {
    const rows = HOSTILE_NAMES.map((name) => JSON.stringify(reading(name, { price_usd: 1 })));
    const path = '2026-11-20/crypto.spot.ndjson';
    const faults = await compileFaults({ [path]: `${rows.join('\n')}\n` });
    const refused = new Set(faults.map((fault) => fault.line));
    expect(faults.every(({ field }) => field === 'entity')).toBe(true);
    const taken = HOSTILE_NAMES.filter((_, index) => !refused.has(index + 1));
    expect([taken.length > 120, refused.size > 40]).toEqual([true, true]);

    const parent = makeFolder();
    const good = rows.filter((_, index) => !refused.has(index + 1));
    const { folder } = await compileFolder(writeSnapshots({ [path]: good.join('\n') }), {
      data: join(parent, 'data'),
    });
    expect(readdirSync(parent)).toEqual(['data']);
    expect(readdirSync(join(parent, 'data')).sort()).toEqual([
      'current',
      'files',
      'log',
      'releases',
      'state',
    ]);
    const names = [...filesBelow(folder).keys()]
      .filter((file) => file.startsWith('record/'))
      .map((file) => file.split('/').at(-1)?.slice(0, -'.json'.length) ?? '');
    expect(names.map(decodeSegment).sort()).toEqual([...taken].sort());
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(taken.length);
  });

  it('I34: refuses a single line of 5 MB by name', async () => {
    const line = JSON.stringify(reading('btc', { price_usd: 1, note: 'x'.repeat(5_000_000) }));
    const faults = await compileFaults({ '2026-11-20/crypto.spot.ndjson': line });
    expect(faults).toMatchObject([{ code: 'bad_line', line: 1, field: 'line' }]);
    expect(faults[0]?.message).toContain('longer than 1048576 bytes');
  });
});

describe('memory', () => {
  it('is measured of the process alone: what its parent holds does not count, what it holds does', () => {
    const parent = Buffer.alloc(200_000_000, 1);
    const peakOf = (own: number): number => {
      const script = `Buffer.alloc(${own}, 1); ${peakMegabytes}; console.log(peakMegabytes());`;
      return Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
    };
    expect([peakOf(0) < 100, peakOf(200_000_000) > 200, parent.length]).toEqual([true, true, 2e8]);
  });

  /** Measured 183 to 192 MB, beside six busy loops too, of which a compile of one reading takes 142; the bound is the one that holds for any size. */
  const RSS_MB_MAX = 256;
  /** Without a bound V8 collects when it has time, and on a busy machine it has none: what is dead would count. */
  const HEAP = ['--max-old-space-size=96'];

  it('I34: compiles a batch of 40 MB in bounded memory', () => {
    const lines = Array.from({ length: 100 }, (_, hour) => {
      const observed_at = new Date(Date.UTC(2026, 10, 1, hour)).toISOString();
      const more = { observed_at, entity_name: 'x'.repeat(1000) };
      return JSON.stringify(reading('coin-@', { price_usd: hour }, more));
    });
    const one = `${lines.join('\n')}\n`;
    const text = Array.from({ length: 330 }, (_, index) =>
      one.replaceAll('coin-@', `coin-${index}`),
    );
    const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': text.join('') });
    const data = join(makeFolder(), 'data');
    const peak = compileInChild({ snapshots, data, workers: 0, flags: HEAP });
    const { counts } = readJson(join(data, 'current'), 'release.json');
    expect([text.join('').length > 40_000_000, counts.readings]).toEqual([true, 33_000]);
    expect(peak).toBeLessThan(RSS_MB_MAX);
  });
});

describe('compile() of nothing', () => {
  it('says what to do', async () => {
    const options = { snapshots: makeFolder(), data: makeFolder(), asOf: AS_OF, seed: SEED };
    const run = compile({
      ...options,
      issuerName: 'x',
      baseUrl: 'https://example.org',
      workers: 0,
    });
    await expect(run).rejects.toThrow('no snapshots found');
  });

  it.each([
    ['an empty file', '2026-11-20/crypto.spot.ndjson', ''],
    ['a header alone', '2026-11-20/crypto.spot.ndjson', '{"header":{"entity":"btc"}}\n'],
    ['an empty collection', '2026-11-20/trust.service.ndjson', ''],
  ])('refuses %s, publishes nothing, and does with --allow-shrink', async (_, file, text) => {
    const snapshots = writeSnapshots({ [file]: text });
    const data = join(makeFolder(), 'data');
    await expect(compileFolder(snapshots, { data })).rejects.toThrow(
      /no snapshots found except files that are empty.* signalpress import .* --allow-shrink/,
    );
    expect(existsSync(join(data, 'current'))).toBe(false);
    const { release } = await compileFolder(snapshots, { data, allowShrink: true });
    expect(release.counts.readings).toBe(0);
  });

  it('takes one reading, or one row of a collection, beside an empty file', async () => {
    const empty = { '2026-11-20/trust.service.ndjson': '' };
    const one = writeSnapshots({ ...empty, '2026-11-20/crypto.spot.ndjson': GOOD });
    expect((await compileFolder(one)).release.counts.readings).toBe(1);
    const death = ndjson([deathRow('ZED')]);
    const row = writeSnapshots({ ...empty, '2026-11-19/stablecoin.death.ndjson': death });
    expect((await compileFolder(row)).release.sequence).toBe(1);
  });
});

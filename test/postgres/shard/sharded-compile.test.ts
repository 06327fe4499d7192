import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CompileOptions, compile } from '../../../compiler/compile.ts';
import { excerptOf } from '../../../scripts/sample/sample-excerpt.ts';
import { sampleFiles } from '../../../scripts/sample/sample-files.ts';
import {
  AS_OF,
  filesBelow,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../postgres-server.ts';
import { ANSWERS, type Answer, joinQueues, ORDERS } from './job-queue.ts';
import { QueueRunner, type QueueRunnerSettings } from './queue-runner.ts';
import { QueueSeal } from './queue-seal.ts';
import type { Moment, WorkerNote, WorkerSettings } from './shard-worker.ts';

const WORKER = resolve('build/test/postgres/shard/shard-worker.js');
/** More entities than one chunk takes, so that a worker can be lost between two. */
const GAUGES = 200;
const LATER = '2026-11-20T13:00:00Z';

interface Shard {
  readonly process: ChildProcess;
  readonly notes: WorkerNote[];
  /** Comes when it waits for orders. */
  readonly ready: Promise<void>;
  /** Comes when it stands still. */
  readonly stalled: Promise<void>;
  /** Lets it go on. */
  resume(): void;
  kill(): Promise<void>;
}

describe.skipIf(!hasPostgres())('a sharded compile (skipped without a PostgreSQL server)', () => {
  let server: PostgresServer;
  let url = '';
  let store = '';
  let shards: Shard[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.close());
  afterAll(removeFolders);
  beforeEach(async () => {
    url = await server.freshUrl();
    store = makeFolder();
  });
  afterEach(async () => {
    await Promise.all(shards.map((shard) => shard.kill()));
    shards = [];
  });

  function startShard(stallAt: Moment | null = null, seed: Uint8Array = SEED): Shard {
    const process = fork(WORKER, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    const notes: WorkerNote[] = [];
    const lines = process.stdout === null ? null : createInterface(process.stdout);
    lines?.on('line', (line) => notes.push(JSON.parse(line)));
    const noted = (what: 'ready' | 'stalled') =>
      new Promise<void>((done) => {
        lines?.on('line', () => notes.some((note) => what in note) && done());
      });
    const settings: WorkerSettings = { url, seed: Buffer.from(seed).toString('hex'), stallAt };
    process.send(settings);
    const ended = new Promise<void>((done) => process.once('exit', () => done()));
    let resuming: NodeJS.Timeout | undefined;
    const shard = {
      process,
      notes,
      ready: noted('ready'),
      stalled: noted('stalled'),
      // It says that it stands still the moment before it does, so one signal alone could come too early.
      resume: () => {
        resuming = setInterval(() => process.kill('SIGCONT'), 50);
      },
      kill: async () => {
        clearInterval(resuming);
        process.kill('SIGKILL');
        await ended;
      },
    };
    shards.push(shard);
    return shard;
  }

  const fixed = { issuerName: 'Test issuer', seed: SEED, baseUrl: 'https://example.org' };
  const plain = (snapshots: string, data: string, more: Partial<CompileOptions> = {}) =>
    compile({ snapshots, data, asOf: AS_OF, ...fixed, workers: 0, ...more });
  function sharded(
    snapshots: string,
    data: string,
    {
      options = {},
      settings = {},
    }: { options?: Partial<CompileOptions>; settings?: Partial<QueueRunnerSettings> } = {},
  ) {
    const own = { url, store, seed: SEED, expireInSeconds: 30, retryLimit: 2, patienceMs: 60_000 };
    const openRunner = () => new QueueRunner({ ...own, ...settings });
    return compile({ snapshots, data, asOf: AS_OF, ...fixed, workers: 2, openRunner, ...options });
  }

  /** Some of the sample, and a signal of many chunks. */
  function snapshotFiles(): Record<string, string> {
    const gauges = Array.from({ length: GAUGES }, (_, at) =>
      reading(String(90_000_000 + at), { stage_ft: at / 10 }),
    );
    return {
      ...Object.fromEntries(excerptOf(sampleFiles({ hour: AS_OF }))),
      '2026-11-20T11Z/hydrology.river-level.ndjson': ndjson(gauges),
    };
  }

  /** All files of the current release, with its signed head. */
  const releaseOf = (data: string) => Object.fromEntries(filesBelow(join(data, 'current')));
  const tookOf = ({ notes }: Shard) => notes.flatMap((note) => ('took' in note ? [note.took] : []));
  const dataFolder = () => join(makeFolder(), 'data');

  it('of two processes gives the bytes of one process, whole and then for an hour more', async () => {
    const snapshots = writeSnapshots(snapshotFiles());
    const [one, two] = [dataFolder(), dataFolder()];
    await plain(snapshots, one);
    const workers = [startShard(), startShard()];
    await Promise.all(workers.map(({ ready }) => ready));
    await sharded(snapshots, two);
    expect(releaseOf(two)).toEqual(releaseOf(one));
    for (const worker of workers) expect(tookOf(worker).length).toBeGreaterThan(0);
    const hour = reading('90000007', { stage_ft: 99 }, LATEST);
    writeSnapshots({ '2026-11-20T12Z/hydrology.river-level.ndjson': ndjson([hour]) }, snapshots);
    const next = { asOf: LATER };
    expect(await plain(snapshots, one, next)).toMatchObject({ isIncremental: true });
    expect(await sharded(snapshots, two, { options: next })).toMatchObject({ isIncremental: true });
    expect(releaseOf(two)).toEqual(releaseOf(one));
    expect(readdirSync(store)).toEqual([]);
  }, 180_000);

  it.each<Moment>(['taken', 'chunk', 'written', 'answered'])(
    'gives the same bytes where a worker is killed at the moment "%s" of a job',
    async (moment) => {
      const snapshots = writeSnapshots(snapshotFiles());
      const [one, two] = [dataFolder(), dataFolder()];
      await plain(snapshots, one);
      const victim = startShard(moment);
      const compiled = sharded(snapshots, two, { settings: { expireInSeconds: 5 } });
      await victim.stalled;
      const [lost] = tookOf(victim).slice(-1);
      const left = readdirSync(store).filter((name) => name.startsWith(`${lost}.`));
      // What was answered may be taken over by now.
      const made = { taken: [], chunk: ['partial'], written: ['chunks'], answered: null }[moment];
      if (made !== null) expect(left.map((name) => name.split('.').at(-1))).toEqual(made);
      await victim.kill();
      const other = startShard();
      await compiled;
      expect(releaseOf(two)).toEqual(releaseOf(one));
      if (moment !== 'answered') expect(tookOf(other)).toContain(lost);
      expect(readdirSync(store)).toEqual([]);
    },
    180_000,
  );

  it('publishes nothing, and says which job it is, where each worker is lost on it', async () => {
    const snapshots = writeSnapshots({
      '2026-11-20T11Z/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
    });
    const data = dataFolder();
    const settings = { expireInSeconds: 1, retryLimit: 1 };
    const failed = sharded(snapshots, data, { settings }).catch((error: unknown) => error);
    for (let round = 0; round < 2; round += 1) {
      const victim = startShard('chunk');
      await victim.stalled;
      await victim.kill();
    }
    expect(String(await failed)).toContain('2 workers took the job "crypto.spot-0", and none');
    expect(existsSync(join(data, 'current'))).toBe(false);
  }, 60_000);

  it('gives up where no worker is there, and publishes nothing', async () => {
    const snapshots = writeSnapshots(snapshotFiles());
    const data = dataFolder();
    const settings = { patienceMs: 1000 };
    await expect(sharded(snapshots, data, { settings })).rejects.toThrow(
      'no job came to an end in 1 s; look at the workers',
    );
    expect(existsSync(join(data, 'current'))).toBe(false);
    // Nobody does the work of a compile that has ended.
    const worker = startShard();
    const queue = await joinQueues(url);
    await expect(queue.fetch(ORDERS, { batchSize: 1 })).resolves.toEqual([]);
    await queue.stop({ graceful: false });
    expect(tookOf(worker)).toEqual([]);
  }, 60_000);

  it('tells the same problems as one process', async () => {
    const bad = reading('us-denver', { aqi_index: 30 }, { observed_at: 'yesterday' });
    const snapshots = writeSnapshots({
      ...snapshotFiles(),
      '2026-11-20T10Z/airquality.aqi.ndjson': ndjson([bad]),
    });
    startShard();
    const faults = (done: Promise<unknown>) =>
      done.then(() => 'published').catch(({ faults }) => faults);
    const own = await faults(plain(snapshots, dataFolder()));
    expect(own).toMatchObject([{ file: '2026-11-20T10Z/airquality.aqi.ndjson' }]);
    expect(await faults(sharded(snapshots, dataFolder()))).toEqual(own);
  }, 120_000);

  it('takes no bytes that were changed in the shared folder', async () => {
    const snapshots = writeSnapshots(snapshotFiles());
    const worker = startShard('written');
    const data = dataFolder();
    const failed = sharded(snapshots, data).catch((error: unknown) => error);
    await worker.stalled;
    const [made = ''] = readdirSync(store).filter((name) => name.endsWith('.chunks'));
    const bytes = readFileSync(join(store, made));
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(join(store, made), bytes);
    worker.resume();
    expect(String(await failed)).toContain('its bytes are not those that were answered');
    expect(existsSync(join(data, 'current'))).toBe(false);
  }, 120_000);

  it('gives the same bytes where two workers do one job at a time', async () => {
    const snapshots = writeSnapshots(snapshotFiles());
    const [one, two] = [dataFolder(), dataFolder()];
    await plain(snapshots, one);
    const slow = startShard('chunk');
    const compiled = sharded(snapshots, two, { settings: { expireInSeconds: 2 } });
    await slow.stalled;
    const [job] = tookOf(slow);
    const other = startShard();
    await expect.poll(() => tookOf(other), { timeout: 60_000 }).toContain(job);
    slow.resume();
    await compiled;
    expect(releaseOf(two)).toEqual(releaseOf(one));
  }, 180_000);

  it('takes nothing that an earlier compile left behind', async () => {
    const snapshots = writeSnapshots(snapshotFiles());
    const [one, two] = [dataFolder(), dataFolder()];
    await plain(snapshots, one);
    const worker = startShard('taken');
    const left = ['old.chunks', 'old.partial'].map((name) => join(store, name));
    for (const path of left) writeFileSync(path, 'x');
    const compiled = sharded(snapshots, two);
    await worker.stalled;
    expect(left.filter((path) => existsSync(path))).toEqual([]);
    const [id = ''] = tookOf(worker);
    const failure = { message: 'of another compile', isForgotten: false, system: {} };
    const answer: Answer = { run: 'old', id, outcome: { failure } };
    const queue = await joinQueues(url);
    await queue.send(ANSWERS, new QueueSeal(SEED).seal('answer', answer));
    await queue.stop({ graceful: false });
    worker.resume();
    await compiled;
    expect(releaseOf(two)).toEqual(releaseOf(one));
  }, 180_000);

  it('refuses a compile that leaves lines out', async () => {
    const snapshots = writeSnapshots(snapshotFiles());
    const options = { maxRejectsPpm: 10 };
    await expect(sharded(snapshots, dataFolder(), { options })).rejects.toThrow(
      'Cannot shard a compile that leaves lines out: run it on one machine',
    );
  }, 60_000);

  it('neither signs nor publishes for who has no key', async () => {
    const snapshots = writeSnapshots(snapshotFiles());
    const stranger = startShard(null, new Uint8Array(32).fill(8));
    const data = dataFolder();
    const settings = { retryLimit: 0, patienceMs: 20_000 };
    await expect(sharded(snapshots, data, { settings })).rejects.toThrow('1 workers took the job');
    expect(tookOf(stranger)).toEqual([]);
    expect(stranger.notes[1]).toEqual({
      refused: "Cannot take the order: it is not sealed with the issuer's key",
    });
    expect(readdirSync(store)).toEqual([]);
    await stranger.kill();
    const worker = startShard();
    await worker.ready;
    const queue = await joinQueues(url);
    await queue.send(ORDERS, { text: '{"run":"x"}', tag: '00' }, { retryLimit: 0 });
    await expect.poll(() => worker.notes.length, { timeout: 20_000 }).toBe(2);
    expect(worker.notes[1]).toHaveProperty('refused');
    await queue.stop({ graceful: false });
  }, 120_000);
});

const LATEST = { observed_at: '2026-11-20T11:30:00Z', collected_at: '2026-11-20T12:10:00Z' };

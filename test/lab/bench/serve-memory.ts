import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defined } from '../../../compiler/format/errors.ts';
import {
  CATALOG_PATH,
  type CatalogRow,
  FILES_NAME,
  parseCatalogRow,
  parseFiles,
} from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { aimed, bench, compileFolder, median, type Server } from '../bench.ts';
import { payFor, requestBytes } from './buyers.ts';
import { makeSnapshots } from './generated-snapshots.ts';
import { load } from './load.ts';

/** Most that one gatekeeper may take with 100,000 records under load. */
const GOAL_MB = 250;
/** Requests of one step: free answers, price questions about one record, purchases. */
const STEP = { free: 1000, unpaid: 1000, paid: 300 } as const;
const CONNECTIONS = 16;
const LOAD_MS = 60_000;
/** Prime to the number of records, so that all of them come before any comes again. */
const STRIDE = 61_803;
/** A step of this many free requests asks for one page of the catalog, which is a thousand times as long as the others. */
const CATALOG_EVERY = 500;

/**
 * Resident memory of the shipped program with as many records, under free and paid requests for all of them, looked at after
 * each step. Compiling 100,000 records takes minutes; `--keep FOLDER` keeps them and takes them again.
 */
export const experiment = bench(
  { seconds: 60, records: 100_000, keep: '' },
  async ({ flags, folder: own, say, gate: start }) => {
    const folder = flags.keep === '' ? own : resolve(flags.keep);
    if (!existsSync(join(folder, 'data'))) {
      // Two readings of each record: a series and a change are there.
      makeSnapshots(folder, 2 * flags.records, flags.records);
      await compileFolder(folder, '2026-11-20T12:00:00Z');
    }
    const gate = await start({ folder });
    const residentMb = (): number => gate.usage().rssBytes / 1024 / 1024;
    const mix = await mixOf(gate, folder);
    const started = performance.now();
    say(`${mix.rows.length} records, at the start ${residentMb().toFixed(0)} MB`);
    const samples: number[] = [];
    let [asked, shown] = [0, 0];
    while (performance.now() - started < flags.seconds * 1000) {
      asked += await step(mix, samples.length);
      samples.push(residentMb());
      const second = (performance.now() - started) / 1000;
      if (second < shown + 10) continue;
      shown = second;
      say(`${second.toFixed(0)} s, ${asked} answers, ${samples.at(-1)?.toFixed(0)} MB`);
    }
    const third = Math.ceil(samples.length / 3);
    const [middle, last] = [samples.slice(third, -third), samples.slice(-third)].map(median);
    const most = Math.max(...samples);
    say(
      `resident memory: at most ${most.toFixed(0)} MB, ${middle?.toFixed(0)} MB in the second third, ` +
        `${last?.toFixed(0)} MB in the last; target ${GOAL_MB} MB ${aimed(most <= GOAL_MB)}`,
    );
  },
);

interface Mix {
  readonly port: number;
  readonly rows: readonly CatalogRow[];
  readonly pay: () => string;
}

async function mixOf(gate: Server, folder: string): Promise<Mix> {
  const data = join(folder, 'data');
  const list = parseFiles(readFileSync(join(data, 'current', FILES_NAME), 'utf8'));
  const file = defined(
    [...list].find(({ path }) => path === CATALOG_PATH),
    'the catalog of the release',
  );
  const lines = readFileSync(join(data, storedPath(file.path, file.sha256)), 'utf8')
    .trimEnd()
    .split('\n');
  const rows = lines.map(parseCatalogRow);
  const port = defined(gate.ports[0], 'the port of the gatekeeper');
  return { port, rows, pay: await payFor(port, recordTarget('/gauge', rows, 0)) };
}

/** Everything at once; counts the answers. */
async function step({ port, rows, pay }: Mix, number: number): Promise<number> {
  const many = (count: number, make: (at: number) => Buffer): Buffer[] =>
    Array.from({ length: count }, (_, at) => make(number * count + at));
  const free = many(STEP.free, (at) => requestBytes(freeTarget(rows, at)));
  const unpaid = many(STEP.unpaid, (at) =>
    requestBytes(recordTarget('/gauge', rows, at + rows.length / 2)),
  );
  const paid = many(STEP.paid, (at) => requestBytes(recordTarget('/gauge', rows, 3 * at), pay()));
  const by = { port, connections: CONNECTIONS, ms: LOAD_MS };
  const results = await Promise.all([
    load({ ...by, requests: free, status: 200 }),
    load({ ...by, requests: unpaid, status: 402 }),
    load({ ...by, requests: paid, status: 200 }),
  ]);
  return results.reduce((sum, { answers }) => sum + answers, 0);
}

function freeTarget(rows: readonly CatalogRow[], at: number): string {
  const { entity, record_hash } = rowAt(rows, at);
  if (at % CATALOG_EVERY === 0) return `/gauge/catalog?page=${1 + ((at / CATALOG_EVERY) % 7)}`;
  const targets = [
    recordTarget('/gauge/history-preview', rows, at),
    recordTarget('/gauge/history-preview', rows, at),
    `/v/${record_hash}`,
    `/proof/${record_hash}`,
    `/gauge/coverage?entity=${entity}`,
  ];
  return defined(targets[at % targets.length], 'a free target');
}

function recordTarget(path: string, rows: readonly CatalogRow[], at: number): string {
  const { entity, signal_id } = rowAt(rows, at);
  return `${path}?${new URLSearchParams({ entity, signal_id })}`;
}

function rowAt(rows: readonly CatalogRow[], at: number): CatalogRow {
  return defined(rows[Math.floor(at * STRIDE) % rows.length], 'a row of the catalog');
}

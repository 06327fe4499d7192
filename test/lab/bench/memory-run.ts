import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../compiler/contract/defined.ts';
import { storedPath } from '../../../compiler/contract/path.ts';
import {
  CATALOG_PATH,
  type CatalogRow,
  FILES_NAME,
  parseCatalogRow,
  parseFiles,
} from '../../../compiler/contract/release.ts';
import { capture, requestBytes } from './cases.ts';
import type { Child } from './child.ts';
import { startGate } from './gate.ts';
import { load } from './load.ts';
import { type Payer, throwAwayPayer } from './payer.ts';
import { median } from './table.ts';

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

interface MemoryRunOptions {
  /** Holds `data`, a folder of releases. */
  readonly folder: string;
  readonly seconds: number;
}

interface Mix {
  readonly port: number;
  readonly rows: readonly CatalogRow[];
  readonly pay: () => string;
}

/** Resident memory of the shipped program under free and paid requests for all records, looked at after each step. */
export async function memoryRun({ folder, seconds }: MemoryRunOptions): Promise<void> {
  const gate = await startGate({ folder, facilitator: null });
  try {
    const mix = await mixOf(gate, folder);
    const started = performance.now();
    console.log(`${mix.rows.length} records, at the start ${residentMb(gate).toFixed(0)} MB`);
    const samples: number[] = [];
    let [asked, shown] = [0, 0];
    while (performance.now() - started < seconds * 1000) {
      asked += await step(mix, samples.length);
      samples.push(residentMb(gate));
      const second = (performance.now() - started) / 1000;
      if (second < shown + 10) continue;
      shown = second;
      console.log(`${second.toFixed(0)} s, ${asked} answers, ${samples.at(-1)?.toFixed(0)} MB`);
    }
    print(samples);
  } finally {
    await gate.stop();
  }
}

function print(samples: readonly number[]): void {
  const third = Math.ceil(samples.length / 3);
  const [middle, last] = [samples.slice(third, -third), samples.slice(-third)].map(median);
  const most = samples.reduce((left, right) => Math.max(left, right), 0);
  console.log(
    `resident memory: at most ${most.toFixed(0)} MB, ${middle?.toFixed(0)} MB in the second third, ` +
      `${last?.toFixed(0)} MB in the last; target ${GOAL_MB} MB ${most <= GOAL_MB ? 'reached' : 'MISSED'}`,
  );
}

function residentMb(gate: Child): number {
  return gate.usage().rssBytes / 1024 / 1024;
}

async function mixOf(gate: Child, folder: string): Promise<Mix> {
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
  const { body } = await capture(port, recordTarget('/gauge', rows, 0));
  const { accepts } = JSON.parse(body) as { accepts: [Parameters<Payer['signPayment']>[0]] };
  const payer = throwAwayPayer(Date.now());
  return { port, rows, pay: () => payer.signPayment(accepts[0]) };
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

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { check } from '../../../compiler/check.ts';
import type { CatalogFile } from '../../../compiler/contract/catalog/catalog-file.ts';
import { CATALOG_URL } from '../../../compiler/contract/static-files.ts';
import { costOfSending, FILE_COST } from '../../../gatekeeper/http/cost.ts';
import { compileFolder } from '../../../scripts/sample/write-sample.ts';
import { startGate } from './gate.ts';
import { median } from './table.ts';

/**
 * What a large catalogue takes of a compile, a check, a start of the shipped gatekeeper and its longest free answers, beside
 * the built-in one: the same readings, in turns, so that other work on the machine meets both alike.
 * Usage: bench-catalog [--lines 2000] [--entities 100000] [--rounds 9]
 */
const { values: flags } = parseArgs({
  options: {
    lines: { type: 'string', default: '2000' },
    entities: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '9' },
  },
});
const LINES = Number(flags.lines);
const ENTITIES = Number(flags.entities);
const ROUNDS = Number(flags.rounds);
/** Aim: at most so much more for a start. */
const START_GOAL_MS = 500;
/** Answers of one kind that are asked for. */
const ASKED = 20;
const AS_OF = '2026-11-20T12:00:00Z';
const BATCH = '2026-11-20';

/** A shop, and the figures that were measured of it. */
interface Shop {
  readonly name: string;
  readonly folder: string;
}
interface Figure {
  readonly ms: number;
  readonly cpuMs: number;
}
interface Start extends Figure {
  /** How long the main thread was ready to run and other programs had the cores. */
  readonly queuedMs: number;
}

const folder = mkdtempSync(join(tmpdir(), 'bench-catalog-'));
try {
  const shops = [shopOf('built-in', null), shopOf('own', ownCatalog())];
  for (const shop of shops) await compiled(shop);
  await compareStarts(shops);
  for (const shop of shops) await measureAnswers(shop);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function ownCatalog(): CatalogFile {
  const names = Array.from({ length: Math.ceil(ENTITIES / LINES) }, (_, at) => at);
  return {
    format: 'signalpress-catalog/1',
    extends: 'builtin',
    lines: Array.from({ length: LINES }, (_, line) => ({
      id: `line-${line}`,
      industry: 'measuring',
      title: `gauges of network ${line}`,
      signals: [
        {
          id: `line-${line}.level`,
          measures: `water level, network ${line}`,
          cadence: 'hourly' as const,
          metrics: ['level_m'] as [string],
        },
      ],
      entities: names.map((at) => ({
        id: `station-${line}-${at}`,
        name: `Station ${at} of network ${line}`,
        latitude: (line % 90) + at / 100,
        longitude: at % 180,
      })),
    })),
  };
}

/** Snapshots with the same reading, and a catalogue where there is one. */
function shopOf(name: string, catalog: CatalogFile | null): Shop {
  const root = join(folder, name, 'snapshots');
  mkdirSync(join(root, BATCH), { recursive: true });
  const row = {
    entity: 'us-denver',
    observed_at: '2026-11-20T10:00:00Z',
    collected_at: '2026-11-20T11:00:00Z',
    current: { aqi_index: 42, band: 'good' },
    sources: [{ name: 'bench', weight: 1, independent: true }],
    source_ref: 'https://example.org/source',
    source_tier: 'T1',
  };
  writeFileSync(join(root, BATCH, 'airquality.aqi.ndjson'), `${JSON.stringify(row)}\n`);
  if (catalog !== null) {
    mkdirSync(join(root, 'catalog'));
    writeFileSync(join(root, 'catalog/own.json'), JSON.stringify(catalog));
  }
  return { name, folder: join(folder, name) };
}

async function compiled({ name, folder: shop }: Shop): Promise<void> {
  const scratch = join(shop, 'scratch');
  mkdirSync(scratch);
  const snapshots = join(shop, 'snapshots');
  const seen = await measured(() => check({ snapshots, scratch, data: null, asOf: AS_OF }));
  const first = await measured(() => compileFolder(shop, AS_OF));
  console.log(`${name}: check ${textOf(seen)}, compile ${textOf(first)}`);
}

async function measured(run: () => Promise<unknown> | unknown): Promise<Figure> {
  const [from, used] = [performance.now(), process.cpuUsage()];
  await run();
  const { user, system } = process.cpuUsage(used);
  return { ms: performance.now() - from, cpuMs: (user + system) / 1000 };
}

function textOf({ ms, cpuMs }: Figure): string {
  return `${ms.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of CPU)`;
}

async function compareStarts(shops: readonly Shop[]): Promise<void> {
  const starts = new Map(shops.map(({ name }) => [name, [] as Start[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, folder: shop } of shops) starts.get(name)?.push(await oneStart(shop));
  }
  const middles = [...starts].map(([name, all]) => {
    const of = (value: (start: Start) => number): number => median(all.map(value));
    const middle = { ms: of(({ ms }) => ms), cpuMs: of(({ cpuMs }) => cpuMs) };
    const own = of(({ ms, queuedMs }) => ms - queuedMs);
    const shown = `${textOf(middle)}, ${own.toFixed(0)} ms without waiting for a core`;
    console.log(`${name}: start ${shown}, median of ${all.length}`);
    return { ...middle, own };
  });
  const [builtin, own] = middles;
  if (builtin === undefined || own === undefined) throw new Error('nothing was measured');
  // Of a busy machine the time that other programs took tells nothing about this one.
  const more = own.own - builtin.own;
  const word = more <= START_GOAL_MS ? 'reached' : 'MISSED';
  const cpu = (own.cpuMs - builtin.cpuMs).toFixed(0);
  console.log(
    `  start: ${more.toFixed(0)} ms more (${cpu} of CPU), aim ${START_GOAL_MS} ms ${word}`,
  );
}

/** Until the gatekeeper says that it listens. */
async function oneStart(shop: string): Promise<Start> {
  const from = performance.now();
  const gate = await startGate({ folder: shop, facilitator: null });
  const ms = performance.now() - from;
  const { cpuMs } = gate.usage();
  const [, queued] = readFileSync(`/proc/${gate.pid}/schedstat`, 'utf8').split(' ');
  await gate.stop();
  return { ms, cpuMs, queuedMs: Number(queued) / 1e6 };
}

async function measureAnswers({ name, folder: shop }: Shop): Promise<void> {
  const gate = await startGate({ folder: shop, facilitator: null });
  try {
    for (const path of [CATALOG_URL, '/gauge/preview', '/gauge/catalog', '/manifest']) {
      for (const encoding of path === CATALOG_URL ? ['identity', 'gzip', 'br'] : ['identity']) {
        await askFor(gate.port, path, encoding);
        const before = gate.usage();
        let bytes = 0;
        for (let at = 0; at < ASKED; at += 1) bytes = await askFor(gate.port, path, encoding);
        const cpuMs = (gate.usage().cpuMs - before.cpuMs) / ASKED;
        const units = 1 + costOfSending(bytes);
        const peak = (gate.usage().rssBytes / 1e6).toFixed(0);
        console.log(
          `${name}: ${path} ${encoding}: ${bytes} bytes, ${cpuMs.toFixed(2)} ms of CPU, ${units.toFixed(1)} units (${FILE_COST} more unless in memory), ${peak} MB`,
        );
      }
    }
  } finally {
    await gate.stop();
  }
}

/** Bytes of the body as it was sent. */
function askFor(port: number, path: string, encoding: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': encoding };
    get({ port, path, headers, host: '127.0.0.1' }, (answer) => {
      let bytes = 0;
      let said = '';
      answer.on('data', (part: Buffer) => {
        bytes += part.length;
        if (answer.statusCode !== 200) said += part;
      });
      answer.on('end', () =>
        answer.statusCode === 200
          ? resolve(bytes)
          : reject(new Error(`Cannot measure "${path}": status ${answer.statusCode}, ${said}`)),
      );
    }).on('error', reject);
  });
}

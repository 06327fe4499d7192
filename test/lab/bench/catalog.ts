import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import type { CatalogFile } from '../../../compiler/catalog/catalog-file.ts';
import { CATALOG_URL } from '../../../compiler/catalog/static-files.ts';
import { check } from '../../../compiler/cli/check.ts';
import { costOfSending, FILE_COST } from '../../../gatekeeper/wire/cost.ts';
import { aimed, type BenchGround, bench, compileFolder, median, timed } from '../bench.ts';

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
interface Start {
  readonly ms: number;
  readonly cpuMs: number;
  /** How long the main thread was ready to run and other programs had the cores. */
  readonly queuedMs: number;
}
const OPTIONS = { lines: 2000, entities: 100_000, rounds: 9 };
type CatalogBench = BenchGround<typeof OPTIONS>;

/**
 * What a large catalogue takes of a compile, a check, a start of the shipped gatekeeper and its longest free answers, beside
 * the built-in one: the same readings, in turns, so that other work on the machine meets both alike.
 */
export const experiment = bench(OPTIONS, async (ground) => {
  const { folder, say } = ground;
  const shops = [shopOf(folder, 'built-in', null), shopOf(folder, 'own', ownCatalog(ground.flags))];
  for (const { name, folder: shop } of shops) {
    const scratch = join(shop, 'scratch');
    mkdirSync(scratch);
    const snapshots = join(shop, 'snapshots');
    const seen = await timed(() => check({ snapshots, scratch, data: null, asOf: AS_OF }));
    const first = await timed(() => compileFolder(shop, AS_OF));
    say(`${name}: check ${textOf(seen)}, compile ${textOf(first)}`);
  }
  await compareStarts(shops, ground);
  for (const shop of shops) await measureAnswers(shop, ground);
});

function ownCatalog({ lines, entities }: CatalogBench['flags']): CatalogFile {
  const names = Array.from({ length: Math.ceil(entities / lines) }, (_, at) => at);
  return {
    format: 'signalpress-catalog/1',
    extends: 'builtin',
    lines: Array.from({ length: lines }, (_, line) => ({
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
function shopOf(folder: string, name: string, catalog: CatalogFile | null): Shop {
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

function textOf({ ms, cpuMs }: { readonly ms: number; readonly cpuMs: number }): string {
  return `${ms.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of CPU)`;
}

async function compareStarts(
  shops: readonly Shop[],
  { flags, gate, say, progress }: CatalogBench,
): Promise<void> {
  const starts = new Map(shops.map(({ name }) => [name, [] as Start[]]));
  for (let round = 0; round < flags.rounds; round += 1) {
    progress(round, flags.rounds);
    for (const { name, folder: shop } of shops) starts.get(name)?.push(await oneStart(shop, gate));
  }
  const middles = [...starts].map(([name, all]) => {
    const of = (value: (start: Start) => number): number => median(all.map(value));
    const middle = { ms: of(({ ms }) => ms), cpuMs: of(({ cpuMs }) => cpuMs) };
    const own = of(({ ms, queuedMs }) => ms - queuedMs);
    const shown = `${textOf(middle)}, ${own.toFixed(0)} ms without waiting for a core`;
    say(`${name}: start ${shown}, median of ${all.length}`);
    return { ...middle, own };
  });
  const [builtin, own] = middles;
  if (builtin === undefined || own === undefined) throw new Error('nothing was measured');
  // Of a busy machine the time that other programs took tells nothing about this one.
  const more = own.own - builtin.own;
  const cpu = (own.cpuMs - builtin.cpuMs).toFixed(0);
  say(
    `  start: ${more.toFixed(0)} ms more (${cpu} of CPU), aim ${START_GOAL_MS} ms ${aimed(more <= START_GOAL_MS)}`,
  );
}

/** Until the gatekeeper says that it listens. */
async function oneStart(folder: string, start: CatalogBench['gate']): Promise<Start> {
  const from = performance.now();
  const gate = await start({ folder });
  const ms = performance.now() - from;
  const { cpuMs } = gate.usage();
  const [, queued] = readFileSync(`/proc/${gate.pid}/schedstat`, 'utf8').split(' ');
  await gate.stop();
  return { ms, cpuMs, queuedMs: Number(queued) / 1e6 };
}

async function measureAnswers(
  { name, folder }: Shop,
  { gate: start, say }: CatalogBench,
): Promise<void> {
  const gate = await start({ folder });
  for (const path of [CATALOG_URL, '/gauge/preview', '/gauge/catalog', '/manifest']) {
    for (const encoding of path === CATALOG_URL ? ['identity', 'gzip', 'br'] : ['identity']) {
      await askFor(gate.port, path, encoding);
      const before = gate.usage();
      let bytes = 0;
      for (let at = 0; at < ASKED; at += 1) bytes = await askFor(gate.port, path, encoding);
      const cpuMs = (gate.usage().cpuMs - before.cpuMs) / ASKED;
      const units = 1 + costOfSending(bytes);
      const peak = (gate.usage().rssBytes / 1e6).toFixed(0);
      say(
        `${name}: ${path} ${encoding}: ${bytes} bytes, ${cpuMs.toFixed(2)} ms of CPU, ${units.toFixed(1)} units (${FILE_COST} more unless in memory), ${peak} MB`,
      );
    }
  }
  await gate.stop();
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

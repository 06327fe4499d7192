import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { type Catalog, catalogOf } from '../../../compiler/catalog/catalog.ts';
import type { CatalogFile } from '../../../compiler/catalog/catalog-file.ts';
import { searchIndexFiles } from '../../../compiler/describe/search-index.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { CATALOG_PATH, formatCatalogRow } from '../../../compiler/format/release.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import type { ReleaseIndex } from '../../../gatekeeper/heart/release/release-index.ts';
import { wordIndex } from '../../../gatekeeper/heart/words/open-words.ts';
import { catalogRows } from '../../../gatekeeper/rooms/catalog.ts';
import { search } from '../../../gatekeeper/rooms/search.ts';
import { OwnValues } from '../../../gatekeeper/wire/maps.ts';
import { bench, percentile, timed } from '../bench.ts';

const LINES = 20;
const QUESTIONS = 2000;
const GOAL_MS = 5;
const KINDS = ['tide gauge', 'rain gauge', 'air monitor', 'snow stake', 'wind mast'];
const MEASURES = ['water level', 'rainfall', 'air quality index', 'snow depth', 'wind speed'];

interface Town {
  readonly name: string;
  readonly city: string;
  readonly state: string;
}

const towns = parse<Town>(
  readFileSync(
    new URL('../../../../node_modules/vega-datasets/data/airports.csv', import.meta.url),
  ),
  { columns: true },
);
/**
 * The search over a catalogue of many entities on 20 lines, named after US airports and their cities: bytes of the index, time
 * to build it, time to open it, and CPU milliseconds a question takes, for ordinary and for hostile ones: other work on the
 * machine does not count.
 */
export const experiment = bench({ entities: 100_000 }, async ({ flags: { entities }, say }) => {
  const catalog = catalogOf([catalogFile(entities)]);
  const table = Buffer.from(tableText(catalog));
  const built = await timed(() => searchIndexFiles({ catalog, table, entries: [] }));
  const files = new Map<string, string | Buffer>([...built.value, [CATALOG_PATH, table]]);
  const release = stubRelease(catalog, files);
  const bytes = [...built.value.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  say(`${entities} entities: built in ${built.ms.toFixed(0)} ms, ${bytes} bytes`);
  await catalogRows(release);
  global.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const opened = await timed(() => wordIndex(release));
  global.gc?.();
  const heapMb = (process.memoryUsage().heapUsed - heap) / 1e6;
  say(`opened in ${opened.ms.toFixed(0)} ms, ${heapMb.toFixed(1)} MB of heap`);
  for (const [name, questionAt] of [
    ['warm-up', ordinary],
    ['ordinary questions', ordinary],
    ['with a typo', (at: number) => misspelt(ordinary(at), at)],
    ['twelve common words', common],
    ['twelve words that nobody knows', unknownWords],
    ['prefixes of three letters', prefixes],
  ] as const) {
    say(await measure(name, questionAt, { release } as Service));
  }
});

function catalogFile(entities: number): CatalogFile {
  const perLine = Math.ceil(entities / LINES);
  return {
    format: 'signalpress-catalog/1',
    extends: null,
    prices: { '/gauge': '0.01', bundle: '0.2' },
    abbreviations: { CA: 'California', TX: 'Texas', CO: 'Colorado', AK: 'Alaska' },
    lines: Array.from({ length: LINES }, (_, line) => ({
      id: `line-${line}`,
      industry: 'measuring',
      title: `${kind(line)}s, network ${line}`,
      signals: [
        {
          id: `line-${line}.value`,
          measures: `${defined(MEASURES[line % MEASURES.length], 'what is measured')}, network ${line}`,
          cadence: 'hourly' as const,
          metrics: ['level_m'] as [string],
        },
      ],
      entities: Array.from({ length: perLine }, (_, at) => entityAt(line, at)),
    })),
  };
}

function kind(line: number): string {
  return defined(KINDS[line % KINDS.length], 'the kind');
}

function townAt(at: number): Town {
  return defined(towns[at % towns.length], 'the town');
}

function entityAt(line: number, at: number) {
  const { name, city, state } = townAt(at * 7 + line);
  return { id: `n${line}-${at}`, name: `${city}, ${state}: ${name} ${kind(line)} ${at}` };
}

function tableText(catalog: Catalog): string {
  const rows = catalog.lines.flatMap(({ signals, entities }) =>
    signals.flatMap(({ id }) => entities.map((entity) => ({ id, entity }))),
  );
  return rows
    .map(({ id, entity }) =>
      formatCatalogRow({
        signal_id: id,
        entity,
        entity_name: null,
        observed_at: '2026-11-21T00:00:00Z',
        band: null,
        record_hash: `sha256:${'0'.repeat(64)}`,
        last_looked_at: '2026-11-21T00:00:00Z',
      }),
    )
    .join('');
}

/** A release of these files alone; nothing else of it is asked for. */
function stubRelease(catalog: Catalog, files: ReadonlyMap<string, string | Buffer>): ReleaseIndex {
  const release = {
    catalog,
    offers: new Map([['/gauge', { sellsNow: true, request: '/gauge' }]]),
    own: new OwnValues(),
    has: (path: string | null) => path !== null,
    body: async (path: string) => ({ bytes: Buffer.from(defined(files.get(path), path)) }),
  };
  return release as unknown as ReleaseIndex;
}

function ordinary(at: number): string {
  const { city, state } = townAt(at * 31);
  return `${defined(MEASURES[at % MEASURES.length], 'what is measured')} in ${city} ${state}`;
}

function misspelt(text: string, at: number): string {
  const cut = 3 + (at % (text.length - 4));
  return text.slice(0, cut) + text.slice(cut + 1);
}

function common(at: number): string {
  const words = [
    'municipal',
    'airport',
    'county',
    'regional',
    'field',
    'gauge',
    'rain',
    'tide',
    'air',
  ];
  const states = ['ak', 'tx', 'ca', 'fl', 'international', 'memorial'];
  return [...words, ...states].slice(at % 4, (at % 4) + 12).join(' ');
}

function unknownWords(at: number): string {
  return Array.from({ length: 12 }, (_, word) => `qzx${(at * 12 + word).toString(36)}vwk`).join(
    ' ',
  );
}

function prefixes(at: number): string {
  return Array.from({ length: 12 }, (_, word) => townAt(at * 12 + word).city.slice(0, 3)).join(' ');
}

async function measure(
  name: string,
  questionAt: (at: number) => string,
  service: Service,
): Promise<string> {
  const took: number[] = [];
  let units = 0;
  for (let at = 0; at < QUESTIONS; at += 1) {
    const from = process.cpuUsage();
    const route = { values: { q: questionAt(at) } };
    const question = { route, spend: (more: number) => (units += more) };
    await search(question as unknown as Parameters<typeof search>[0], service);
    const { user, system } = process.cpuUsage(from);
    took.push((user + system) / 1000);
  }
  const at = (share: number): string => percentile(took, share).toFixed(2);
  const goal = Number(at(0.99)) > GOAL_MS ? '  MISSED' : '';
  const cpu = ((1000 * took.reduce((sum, ms) => sum + ms, 0)) / units).toFixed(0);
  return (
    `${name.padEnd(32)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  max ${at(1)} ms  ` +
    `${(units / QUESTIONS).toFixed(1)} units of ${cpu} us${goal}`
  );
}

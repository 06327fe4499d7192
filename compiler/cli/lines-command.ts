import type { Command } from 'commander';
import { type Catalog, entitiesOf } from '../catalog/catalog.ts';
import { catalogSchemaText } from '../catalog/catalog-file.ts';
import { sourcesOf, UNSOURCED } from '../catalog/register.ts';
import { spokenOf } from '../catalog/units.ts';
import { COLLECTIONS, type CollectionId, findCollection } from '../products/collections.ts';
import type { SignalEntry, UnitRange } from '../products/shapes/line.ts';
import { nearest } from '../products/shapes/nearest.ts';
import { type Sayable, say } from '../products/shapes/say.ts';
import { isRequired, memberNames, ROW_SCHEMAS } from '../readings/collection-rows.ts';
import { loadCatalog } from '../readings/load-catalog.ts';
import { fieldsSchema, REQUIRED } from '../readings/reading.ts';
import type { CommandSettings } from '../system/command-settings.ts';

export function defineLines(command: Command, { print }: CommandSettings): void {
  command
    .argument('[id]', 'a line, a signal or a collection')
    .option('--snapshots <folder>', 'folder of batches, with the catalogue', 'snapshots')
    .option('--schema', 'print the JSON Schema of catalogue files, by which editors complete them')
    .option('--units', 'list the units that a metric may end in')
    .action((id: string | undefined, { snapshots, schema, units }: LinesFlags) => {
      // What is printed ends its line itself.
      if (schema) return print(catalogSchemaText().trimEnd());
      const { catalog } = loadCatalog(snapshots);
      print(units ? unitsText(catalog) : linesText(catalog, id));
    });
}

interface LinesFlags {
  readonly snapshots: string;
  readonly schema?: true;
  readonly units?: true;
}

/** The units of a catalogue, one a line: how names of metrics end in it, its name, and what people read after a number. */
export function unitsText({ units }: Catalog): string {
  const rows = [...units.values()].map(({ symbol, name, quantity, label, range }) => {
    const said = [quantity, label, range === undefined ? '' : rangeText(range)].filter(Boolean);
    return `  _${symbol.padEnd(12)} ${name} (${said.join(', ')})`;
  });
  return ['Units, by the end of a metric:', ...rows].join('\n');
}

const OBSERVED_AT = '2026-11-20T10:45:00Z';
const COLLECTED_AT = '2026-11-20T11:00:12Z';

/** Entities of a closed list that are written out; the rest is counted. */
const ENTITIES_SHOWN_MAX = 60;

/** What is accepted under an id: a line, a signal or a collection; all of them without one. Throws a RangeError for any other. */
export function linesText(catalog: Catalog, id?: string): string {
  if (id === undefined)
    return [
      'Signals, by line; a batch holds one file <signal>.ndjson for each:',
      ...catalog.lines.flatMap((row) => [
        `  ${row.id}: ${row.tagline ?? row.title}`,
        ...row.signals.map(({ id, measures }) => `    ${id}  ${measures}${unsourced(id)}`),
      ]),
      'Collections, one file <collection>.ndjson each:',
      ...COLLECTIONS.map(({ id, holds }) => `    ${id}  ${holds}${unsourced(id)}`),
      'Members of one of them, with an example: signalpress lines <id>',
    ].join('\n');
  const entry = catalog.entryById.get(id);
  if (entry !== undefined) return signalText(entry);
  const collection = findCollection(id);
  if (collection !== undefined) return collectionText(collection);
  const own = [...catalog.entryById.values()].filter(({ line }) => line.id === id);
  if (own.length > 0) return own.map(signalText).join('\n\n');
  throw new RangeError(
    `Cannot find "${id}": not a line, signal or collection; ${hintFor(catalog, id)}"signalpress lines" lists them`,
  );
}

/** The sources that feed a signal or a collection, and what each of them needs. */
function sourcesText(id: string): string {
  const texts = sourcesOf(id).map(({ id, key }) =>
    key === undefined || key.is_optional === true ? id : `${id} (needs ${key.variable})`,
  );
  return texts.join(', ') || UNSOURCED;
}

function unsourced(id: string): string {
  return sourcesText(id) === UNSOURCED ? ` (${UNSOURCED})` : '';
}

function rangeText({ from, to }: UnitRange): string {
  return to === undefined ? `from ${from}` : `from ${from} to ${to}`;
}

function hintFor({ signals, lines }: Catalog, id: string): string {
  const ids = [...signals, ...COLLECTIONS, ...lines].map((row) => row.id);
  const suggestion = nearest(id, ids);
  return suggestion === null ? '' : `did you mean "${suggestion}"? `;
}

function signalText(entry: SignalEntry): string {
  const { signal, line } = entry;
  const { id, measures, cadence, metrics, unitOf, bands, range, ownThresholds } = signal;
  const [main, ...others] = metrics.map((name) => {
    const label = unitOf[name]?.label;
    return label === undefined
      ? `${name} (text)`
      : `${name} (number${label === '' ? '' : `, ${label}`}, or null)`;
  });
  return [
    `${id}: ${measures}`,
    `  file        <batch>/${id}.ndjson`,
    `  cadence     ${cadence}`,
    `  main metric ${main}${range === undefined ? '' : `, ${rangeText(range)}`}`,
    ...(others.length === 0 ? [] : [`  and         ${others.join(', ')}`]),
    ...(bands === undefined ? [] : [`  band        ${bands.join(', ')}`]),
    ...(ownThresholds === undefined ? [] : [`  thresholds  ${ownThresholds.join(', ')}`]),
    ...(line.states === undefined ? [] : [`  state       ${line.states.join(', ')}`]),
    `  entity      ${entitiesText(entry)}`,
    `  source      ${sourcesText(id)}`,
    `  members     ${readingMembers()}`,
    'An example, invented:',
    JSON.stringify(exampleReading(entry)),
    'In words:',
    say(spokenOf(entry), exampleReading(entry) as Sayable).whole,
  ].join('\n');
}

function entitiesText(entry: SignalEntry): string {
  const legal = entitiesOf(entry);
  if (legal === 'open') return `any id, such as ${entry.line.entities.slice(0, 6).join(', ')}`;
  const rest = legal.length - ENTITIES_SHOWN_MAX;
  const shown = legal.slice(0, ENTITIES_SHOWN_MAX).join(', ');
  return rest > 0 ? `${shown}, and ${rest} more` : shown;
}

function readingMembers(): string {
  const needed: readonly string[] = REQUIRED;
  const others = Object.keys(fieldsSchema.shape).filter((name) => !needed.includes(name));
  return [...needed, ...others.map((name) => `${name}?`)].join(', ');
}

function collectionText(id: CollectionId): string {
  const holds = COLLECTIONS.find((row) => row.id === id)?.holds;
  const schema = ROW_SCHEMAS[id];
  const members = memberNames(schema).map((name) => (isRequired(schema, name) ? name : `${name}?`));
  return [
    `${id}: ${holds}`,
    `  file        <batch>/${id}.ndjson`,
    `  members     ${members.join(', ')}`,
    `  source      ${sourcesText(id)}`,
    'An example, invented:',
    JSON.stringify(EXAMPLE_ROWS[id]),
  ].join('\n');
}

/** The origin that example lines state; invented, like everything else in them. */
const ORIGIN = {
  observed_at: OBSERVED_AT,
  collected_at: COLLECTED_AT,
  sources: [{ name: 'Name of the source', weight: 1, independent: true }],
  source_ref: 'https://source.example/',
  source_tier: 'T1',
};
const CAPTURED = { capture_date: COLLECTED_AT.slice(0, 10), ...ORIGIN };

/** A line of a signal's file that intake accepts; nothing of it was observed. */
export function exampleReading({ signal, line }: SignalEntry): object {
  const { metrics, unitOf, bands, range } = signal;
  const [state = 'text'] = line.states ?? [];
  const [band] = bands ?? [];
  const [main, ...others] = metrics;
  // The main metric comes first, and then the band.
  const entries: [string, string | number][] = [
    [main, unitOf[main] === undefined ? state : (range?.from ?? 1)],
    ...(band === undefined ? [] : [['band', band] as [string, string]]),
    ...others.map((name): [string, string | number] => [
      name,
      unitOf[name] === undefined ? 'text' : 1,
    ]),
  ];
  const ends = { birth_at: null, end_at: null, death_type: null, context: null };
  return {
    entity: line.entities[0] ?? 'example',
    current: Object.fromEntries(entries),
    ...(main === 'state' ? { lifecycle: { state, ...ends } } : {}),
    ...ORIGIN,
  };
}

/** A row of each collection that intake accepts. */
export const EXAMPLE_ROWS: Readonly<Record<CollectionId, object>> = {
  'trust.service': {
    host: 'api.example.org',
    name: null,
    score_total: 71.5,
    liveness_state: 'alive',
    liveness_streak: 12,
    baseline_delta: null,
    first_endpoint: 'https://api.example.org/first',
    calls_30d: 40,
    unique_payers_30d: 7,
    demand_class: 'REAL',
    demand_depth: null,
    endpoints: 1,
    endpoints_by_class: { REAL: 1 },
    last_called_at: null,
    ...CAPTURED,
  },
  'mcp.server': { server_id: 'example/server', name: null, status: 'active', ...CAPTURED },
  'stable.coin': {
    coin_id: 'example-usd',
    symbol: 'EXUSD',
    name: 'Example Dollar',
    current: { price_in_peg: 1, market_cap_usd: 1_000_000, peg: 'USD' },
    ...CAPTURED,
  },
  'stablecoin.death': {
    symbol: 'EXUSD',
    name: 'Example Dollar',
    death_type: 'depeg-collapse',
    confirmed_dead_at: '2026-05-10T00:00:00Z',
    pre_death_observed_at: '2026-05-09T00:00:00Z',
    first_distress_at: null,
    pre_death_payload: {
      price: 0.4,
      supply: null,
      collateral: null,
      redemption: null,
      per_chain: null,
    },
    death_context: null,
    ...ORIGIN,
  },
  'filing.submission': {
    kind: 'filing',
    cik: '0000123456',
    source: 'sec-edgar',
    source_tier: 'T1',
    accession: '0000123456-26-000007',
    form: '10-K',
    items: [],
    event_time: '2025-12-31',
    filing_date: '2026-02-01',
    disclosure_time: '2026-02-01T15:00:00Z',
    acceptance_basis: 'utc',
    collected_at: COLLECTED_AT,
    source_ref: 'https://www.sec.gov/Archives/edgar/data/123456/7.htm',
  },
  document: {
    form: 'article',
    operation: '/gauge/macro-reconcile-full',
    params: {},
    cadence: 'monthly',
    title: 'What two sources say about one month',
    text: null,
    rows: [{ source: 'Name of the source', value: 4.2 }],
    ...ORIGIN,
  },
};

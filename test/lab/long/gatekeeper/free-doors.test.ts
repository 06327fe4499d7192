import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATIC_FILES } from '../../../../compiler/catalog/static-files.ts';
import { parseVerifyEntry } from '../../../../compiler/format/release.ts';
import type { Gatekeeper } from '../../../../gatekeeper/start.ts';
import { OPERATIONS } from '../../../conformance-table.ts';
import { sampleGate } from '../../../gate.ts';
import { logLinesIn } from '../../../gatekeeper/logged-service.ts';
import { type CompiledSample, compiledSample, sampleBodies } from '../../../shop.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../snapshot-folder.ts';

/** What is sold of a body: facts under these names, at any depth. */
const FACT_HOLDERS: readonly string[] = [
  'current',
  'previous',
  'change',
  'trend_7d',
  'standard_ruler',
  'stat_ruler',
  'strata',
  'calibrated',
  'history',
  'lifecycle',
  'pre_death_payload',
  'death_context',
  'endpoints_by_class',
];

/** Members that are sold wherever they stand: of records, rosters, filings and documents. */
const FACT_NAMES: readonly string[] = [
  'band',
  'summary_en',
  'summary_zh',
  'model',
  'domain',
  'first_endpoint',
  'score_total',
  'liveness_state',
  'liveness_streak',
  'baseline_delta',
  'calls_30d',
  'unique_payers_30d',
  'demand_class',
  'demand_depth',
  'last_called_at',
  'status',
  'missing_streak',
  'symbol',
  'coin_id',
  'death_type',
  'confirmed_dead_at',
  'pre_death_observed_at',
  'first_distress_at',
  'lifespan_days',
  'died_on',
  'first_seen',
  'last_seen',
  'accession',
  'items',
  'event_time',
  'filing_date',
  'disclosure_time',
  'evidence_url',
  'title',
  'text',
  'cross_line_narrative',
];

type Leaf = string | number;

/** Every fact of a sold body as `name` and value; below a `holder` there is nothing but facts. */
function factsOf(value: unknown, name = '', isHeld = false): (readonly [string, Leaf])[] {
  if (typeof value === 'string' || typeof value === 'number') {
    // Zero is what a schema's example shows where it shows no figure.
    return (isHeld || FACT_NAMES.includes(name)) && value !== 0 ? [[name, value]] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (key === '_citation' || key === 'provenance') return [];
    const own = Array.isArray(value) ? name : key;
    return factsOf(member, own, isHeld || FACT_HOLDERS.includes(key) || isDocumentRows(value, key));
  });
}

/** Rows of a document are what is sold of it, whatever their members are called. */
function isDocumentRows(body: object, key: string): boolean {
  return key === 'rows' && 'text' in body && 'title' in body;
}

/** Facts as they are found again: a member with its value, and a value that stands for itself. */
interface Facts {
  readonly members: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
}

/** Shorter members say too little, as `"state":"ended"`: chance would find them again. */
const MEMBER_CHARS_MIN = 10;
/** A text of one word that no other fact is likely to be: a time, a number of a filing, an address. */
const VALUE = /^[^\s"',;<>()]{12,}$/;

function soldFacts(bodies: Iterable<unknown>): Facts {
  const members = new Set<string>();
  const values = new Set<string>();
  for (const body of bodies) {
    for (const [name, value] of factsOf(body)) {
      const member = `"${name}":${JSON.stringify(value)}`;
      if (member.length >= MEMBER_CHARS_MIN) members.add(member);
      if (typeof value === 'string' && VALUE.test(value)) values.add(value);
    }
  }
  return { members, values };
}

const MEMBER = /"([A-Za-z0-9_.-]+)":("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)/g;

/** Every member and every word of a text that is a fact; a JSON text inside of another is read too. */
function factsIn(text: string, { members, values }: Facts): ReadonlySet<string> {
  const plain = text.includes('\\"') ? `${text}\n${text.replaceAll('\\"', '"')}` : text;
  const found = new Set<string>();
  for (const [member] of plain.matchAll(MEMBER)) if (members.has(member)) found.add(member);
  for (const word of plain.split(/[\s"',;<>()]+/)) if (values.has(word)) found.add(word);
  return found;
}

/**
 * What the specification gives away of readings: whole records of the sample and of river gauges, the last seven
 * snapshots of every pair. Everything that is found there is free, wherever else it stands.
 */
const FREE_FOLDERS = ['free/sample/', 'free/raw/', 'free/history-preview/'];
/** And of rosters: the ids that can be asked for, filers with their forms, one death as an example. */
const FREE_PREVIEWS = 'free/preview/';

let sample: CompiledSample;
let gate: Gatekeeper;
/** A shop that holds one reading: what it tells of rosters, filings and documents is made up. */
let bare: Gatekeeper;
let facts: Facts;
let free: ReadonlySet<string>;

beforeAll(async () => {
  sample = await compiledSample();
  gate = await sampleGate(sample.data);
  const one = ndjson([reading('08167000', { stage_ft: 3.21 })]);
  const batch = { '2026-11-20/hydrology.river-level.ndjson': one };
  bare = await sampleGate((await compileFolder(writeSnapshots(batch))).data);
  const { paths, text } = sample;
  const isFree = (path: string): boolean => path.startsWith('free/');
  const sold = sampleBodies(paths).filter(({ endpoint, path }) => {
    return endpoint.priceUsd !== null && !isFree(path);
  });
  const filings = paths.filter((path) => /^filing\/.*\.json$/.test(path));
  const bodies = [...sold.map(({ path }) => path), ...filings];
  facts = soldFacts(bodies.map((path) => JSON.parse(text(path)) as unknown));
  const given = paths.filter((path) =>
    [...FREE_FOLDERS, FREE_PREVIEWS].some((folder) => path.startsWith(folder)),
  );
  const shown = given.flatMap((path) => [...factsIn(text(path), facts)]);
  free = new Set([...shown, ...askable(), ...SCHEMA_WORDS, ...(await madeUp())]);
});
afterAll(async () => {
  await Promise.all([gate.close(), bare.close()]);
  removeFolders();
});

interface Door {
  readonly path: string;
  readonly method?: 'POST';
  readonly body?: string;
  readonly accept?: string;
}

const rpc = (name: string, given: object): Door => {
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: given },
  };
  return { path: '/mcp', method: 'POST', body: JSON.stringify(message) };
};

/** Everything that an answer says: its bytes, and the challenge of version 2 in its header. */
async function stated(door: Door, at = gate): Promise<string> {
  const { path, method, body, accept = 'application/json' } = door;
  const headers = { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = await fetch(at.url + path, {
    headers,
    ...(method === undefined ? {} : { method }),
    ...(body === undefined ? {} : { body }),
  });
  const v2 = Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString('utf8');
  return `${await answer.text()}\n${v2}`;
}

const AT_ONCE = 16;

/** What each door says, with the door. */
async function* reported(
  doors: readonly Door[],
  at = gate,
): AsyncGenerator<readonly [Door, string]> {
  for (let from = 0; from < doors.length; from += AT_ONCE) {
    const some = doors.slice(from, from + AT_ONCE);
    const texts = await Promise.all(some.map((door) => stated(door, at)));
    for (const [index, door] of some.entries()) yield [door, texts[index] ?? ''];
  }
}

/** Facts that any of the doors tells and that are not free, with the door that told them first. */
async function leaks(doors: readonly Door[]): Promise<readonly string[]> {
  const found = new Map<string, string>();
  for await (const [{ path }, text] of reported(doors)) {
    for (const fact of factsIn(text, facts)) {
      if (!free.has(fact) && !found.has(fact)) found.set(fact, path);
    }
  }
  return [...found].map(([fact, path]) => `${path}: ${fact}`);
}

/** Facts that are made up: a shop that holds nothing of the kind tells them too, as examples. */
async function madeUp(): Promise<Set<string>> {
  const priced = OPERATIONS.filter(({ price }) => price !== null).map(({ path }) => ({ path }));
  const doors = [...priced, { path: '/openapi.json' }, { path: '/manifest?all=1' }];
  const found = new Set<string>();
  for await (const [, text] of reported(doors, bare)) {
    for (const fact of factsIn(text, facts)) found.add(fact);
  }
  return found;
}

/** What can be asked for is listed free: the parameters of every stored document, the symbols of coins. */
function askable(): string[] {
  const documents = sample.paths.filter((path) => path.startsWith('document/'));
  const topics = documents.map((path) => path.split('/').at(-1)?.replace('.json', ''));
  const coins = JSON.parse(sample.text('free/preview/stable.json')) as { values: string[] };
  return [
    ...topics.map((topic) => `"topic":"${topic}"`),
    ...coins.values.map((symbol) => `"symbol":"${symbol}"`),
  ];
}

/** What schemas and programs say of every answer alike, so that descriptions say it too. */
const SCHEMA_WORDS = [
  // The only state that the schema of a graveyard allows.
  '"state":"absent"',
  // A model of the demand records, by its name in the schema.
  'legacy-registry',
  // A sentence that every calibrated answer ends with.
  '"comparable":"the same index is the same official position at any station of this signal"',
];

/** The hashes that the look-ups and the log of the release list: more than any client can find, but through the log. */
function listedHashes(): readonly { readonly hash: string; readonly kind: string }[] {
  const shards = sample.paths.filter((path) => path.startsWith('verify/'));
  const lines = shards.flatMap((path) => sample.text(path).split('\n').slice(0, -1));
  const citations = lines.map(parseVerifyEntry).filter(({ kind }) => kind === 'citation');
  const logged = logLinesIn(sample.paths.map((path) => [path, sample.text(path)]));
  return [
    ...citations.map(({ record_hash, kind }) => ({ hash: record_hash, kind })),
    ...logged.map(({ record_hash, kind }) => ({ hash: record_hash, kind })),
  ];
}

/** Readings and citations are many and alike: not each of them is asked for. */
const EVERY: Readonly<Record<string, number>> = { reading: 160, citation: 20 };
/** Of the rows, which are asked for each by themselves, those that are asked for at every door. */
const EVERY_ROW = 3;

describe('I52: what is free does not tell what is sold', () => {
  it('knows the facts of all kinds that are sold, and what of them is free', () => {
    for (const kind of ['"accession":"', '"score_total":', '"disclosure_time":"', '"text":"']) {
      expect([kind, [...facts.members].some((fact) => fact.startsWith(kind))]).toEqual([
        kind,
        true,
      ]);
    }
    expect(facts.members.size).toBeGreaterThan(2000);
    expect(free.size).toBeGreaterThan(500);
    expect(facts.members.size - free.size).toBeGreaterThan(2000);
  });

  it('sees a fact that is told: every sold body is full of them', () => {
    for (const path of ['roster/trust/scorecard.json', 'document/macro-reconcile-full.json']) {
      const reported = factsIn(JSON.stringify({ text: sample.text(path) }), facts);
      expect([path, [...reported].some((fact) => !free.has(fact))]).toEqual([path, true]);
    }
  });

  it('look-ups and proofs of every row, citation and reading, as JSON and as a page', async () => {
    const listed = listedHashes();
    const chosen = listed.filter(({ kind }, at) => at % (EVERY[kind] ?? 1) === 0);
    expect(chosen.filter(({ kind }) => kind === 'row').length).toBeGreaterThan(200);
    const doors = chosen.flatMap(({ hash, kind }, at): Door[] => {
      const usual = [{ path: `/v/${hash}` }, { path: `/proof/${hash}` }];
      if (kind !== 'row' || at % EVERY_ROW !== 0) return usual;
      return [
        ...usual,
        { path: `/v/${hash}`, accept: 'text/html' },
        { path: `/gauge/anchor?hash=${hash}` },
        rpc('verify_citation', { record_hash: hash }),
      ];
    });
    expect(await leaks(doors)).toEqual([]);
  });

  it('every operation of the table: free answers, 402, 422, and every description', async () => {
    const doors = OPERATIONS.flatMap(({ path, valid, missing, illegal, none, method, body }) => {
      if (method === 'POST') return [{ path, method, body: body ?? '{}' }];
      const queries = ['', valid, missing?.[0], illegal, none].filter((query) => query != null);
      return queries.map((query) => ({ path: query === '' ? path : `${path}?${query}` }));
    });
    const more = [
      '/manifest?all=1',
      '/manifest?platform=mcp',
      '/manifest?platform=a2a',
      '/nothing',
    ];
    const files = STATIC_FILES.flatMap(({ url, path }) => {
      // Their examples are those of documents, which are in the package.
      if (url.endsWith('.md') || url === '/docs/') return [];
      if (!url.endsWith('/')) return [url];
      return sample.paths
        .filter((each) => each.startsWith(path) && each !== 'site/data/docs.json')
        .map((each) => url + each.slice(path.length));
    });
    const targets = [...more, ...files].map((path) => ({ path }));
    const paid = OPERATIONS.flatMap(({ path, price, valid }) =>
      price === null
        ? []
        : [
            { path: `${path}?${valid}`, accept: 'text/html' },
            { path, accept: 'text/html' },
          ],
    );
    expect(files.filter((url) => url.startsWith('/site/data/')).length).toBeGreaterThan(100);
    expect(await leaks([...doors, ...targets, ...paid])).toEqual([]);
  });

  it('coverage, catalog and searches in every form', async () => {
    const { signals } = JSON.parse(
      await stated({ path: '/gauge/catalog?all=1' }).then(firstLine),
    ) as {
      signals: readonly { signal_id: string; industry: string }[];
    };
    const industries = [...new Set(signals.map(({ industry }) => industry))];
    const doors = [
      { path: '/gauge/coverage' },
      { path: '/gauge/coverage?summary=1' },
      ...'abcdefghijklmnopqrstuvwxyz'.split('').map((q) => ({ path: `/trust/preview?q=${q}` })),
      ...signals.flatMap(({ signal_id }): Door[] => [
        { path: `/gauge/coverage?signal_id=${signal_id}` },
        { path: `/gauge/catalog?signal_id=${signal_id}` },
        rpc('find_signal', { signal_id, full: true }),
      ]),
      ...industries.map((industry) => rpc('find_signal', { industry, full: true })),
      rpc('get_official_record', { signal_id: 'airquality.aqi', entity: 'us-denver' }),
      rpc('get_official_record', { signal_id: 'airquality.aqi', entity: 'us-devner' }),
    ];
    expect(await leaks(doors)).toEqual([]);
  });

  it('every page of a thing, with its chart and its table', async () => {
    const lists = await Promise.all(
      locsIn(await stated({ path: '/sitemap.xml' })).map((path) => stated({ path })),
    );
    const pages = [...new Set(lists.flatMap(locsIn))];
    const records = pages.filter((path) => path.startsWith('/r/'));
    expect(records.length).toBeGreaterThan(500);
    const places = new Set(records.map((path) => `/place/${path.split('/')[3]}`));
    const files = records.flatMap((path) => [`${path}/chart.svg`, `${path}/readings.csv`]);
    const all = [...pages, ...places, ...files].map((path) => ({ path, accept: 'text/html' }));
    expect(await leaks(all)).toEqual([]);
  });

  it('POST /verify is no oracle: what it says of a changed body is in that body', async () => {
    const bodies = ['record/airquality.aqi/us-denver.json', 'roster/stablecoin-deaths.json'];
    const doors = bodies.map((path): Door => {
      const changed = sample
        .text(path)
        .replaceAll(/:(-?[0-9.]+)/g, ':7')
        .replaceAll(/"20\d\d-/g, '"1999-');
      return { path: '/verify', method: 'POST', body: changed };
    });
    expect(await leaks(doors)).toEqual([]);
  });
});

/** Paths that a sitemap names. */
function locsIn(xml: string): string[] {
  return [...xml.matchAll(/<loc>https?:\/\/[^/<]+([^<]*)<\/loc>/g)].map(([, path]) => path ?? '');
}

function firstLine(text: string): string {
  return text.slice(0, text.lastIndexOf('\n'));
}

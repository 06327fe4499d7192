import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertingWord } from '../compiler/catalog/neutral-text.ts';
import { REQUEST_TIME_FIELDS } from '../compiler/format/citation.ts';
import { parseJson } from '../compiler/format/strict-json.ts';
import { formOf } from '../compiler/products/products.ts';
import { deliveredFault, owedMembers } from '../compiler/products/shapes/delivered-form.ts';
import { verifyBody } from '../compiler/verify/verify-body.ts';
import { storedFile } from '../gatekeeper/heart/answers/answers.ts';
import type { Service } from '../gatekeeper/heart/answers/service.ts';
import { folderSource } from '../gatekeeper/heart/release/folder-source.ts';
import { openRelease } from '../gatekeeper/heart/release/open-release.ts';
import type { ReleaseIndex } from '../gatekeeper/heart/release/release-index.ts';
import { series } from '../gatekeeper/rooms/series.ts';
import { FOR_EVERYBODY } from '../gatekeeper/wire/cost.ts';
import { tinyData } from './gatekeeper/tiny-release.ts';
import { compiledService, question } from './gatekeeper/tiny-service.ts';
import { SAMPLE_HOUR } from './shared-folder.ts';
import { type CompiledSample, compiledSample, type SampleBody, sampleBodies } from './shop.ts';
import { removeFolders } from './snapshot-folder.ts';

afterAll(removeFolders);

// What is delivered beside what is stored. Expected is what the schemas of the operations declare: no code of the gatekeeper
// says here which body owes which word.

const WORDS: readonly string[] = Object.values(REQUEST_TIME_FIELDS).flat();
const NOW = Date.parse(SAMPLE_HOUR) + 61.2 * 3_600_000;

type Json = Record<string, unknown>;

let sample: CompiledSample;
beforeAll(async () => {
  sample = await compiledSample();
});

/** The first body of each product in each of its forms. */
function ofEachProduct(): SampleBody[] {
  const products = new Map<string, SampleBody>();
  for (const body of sampleBodies(sample.paths)) {
    if (body.path.includes('well-known/') || body.endpoint.answer === 'gone') continue;
    const key = `${body.form} ${body.endpoint.path}`;
    if (!products.has(key)) products.set(key, body);
  }
  return [...products.values()];
}

const isSeries = ({ endpoint }: SampleBody): boolean => endpoint.path === '/gauge/history-series';

async function delivered(body: SampleBody, service: Service): Promise<Buffer> {
  const { endpoint, values, form } = body;
  const query = new URLSearchParams(values as Record<string, string>);
  const param = Object.entries(endpoint.params).find(([, { variant }]) =>
    Object.values(variant ?? {}).includes(form),
  );
  const word = Object.entries(param?.[1].variant ?? {}).find(([, folder]) => folder === form);
  if (param !== undefined && word !== undefined) query.set(param[0], word[0]);
  const asked = question(`${endpoint.path}?${query}`);
  const answered = await (isSeries(body) ? series(asked, service) : storedFile(asked, service));
  if (answered.kind !== 'content') throw new Error(`no answer to ${endpoint.path}?${query}`);
  return answered.content.body;
}

/** Paths of all members at any depth that have a name of request time. */
function wordsIn(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const at = [...path, name];
    return WORDS.includes(name) ? [at.join('.')] : wordsIn(member, at);
  });
}

/** Words that a body owes beside those that its schema demands of every body: of signed members and of the instant. */
function conditional(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { freshness_rule, dead_source, at_request } = value as Json;
  const own = [
    ...(Array.isArray(at_request) && at_request.includes('answered_at') ? ['answered_at'] : []),
    ...(typeof freshness_rule === 'string' ? ['freshness_leg'] : []),
    // Whether a source is dead is judged by the verifier.
    ...(dead_source === undefined ? [] : ['dead_source']),
  ].map((name) => [...path, name].join('.'));
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, member]) => conditional(member, [...path, name])),
  ];
}

describe('a stored body of the sample', () => {
  it('is byte for byte what is printed of it once it is parsed, each of its numbers too', () => {
    let [bodies, numbers] = [0, 0];
    for (const { path } of sampleBodies(sample.paths)) {
      const text = sample.text(path);
      // The answers of a series are cut out of its lines.
      const pieces = path.startsWith('series/')
        ? [`${text.split('\n', 1)[0]?.slice(0, -1)}}`]
        : [text];
      for (const piece of pieces) {
        expect(`${path} ${JSON.stringify(JSON.parse(piece))}`).toBe(`${path} ${piece}`);
        bodies += 1;
        numbers += piece.match(/[:,[]-?\d/g)?.length ?? 0;
      }
    }
    expect(bodies).toBeGreaterThan(1000);
    expect(numbers).toBeGreaterThan(20_000);
  });
});

describe('a delivered body of each product of the sample', () => {
  it('has exactly the members of request time that its schema knows, where they always stood', async () => {
    const service = await compiledService(sample.data, new Date(NOW).toISOString());
    const products = ofEachProduct();
    expect(products.length).toBeGreaterThan(45);
    let owing = 0;
    for (const product of products) {
      const { endpoint, path, form } = product;
      const schema = formOf(endpoint, form === 'thin' ? form : '')?.body;
      if (schema === undefined) throw new Error(`${path} has no schema`);
      const text = String(await delivered(product, service));
      const body = JSON.parse(text) as Json;
      expect([path, deliveredFault(body, schema)]).toEqual([path, null]);
      const owed = owedMembers(body, schema).map((names) => names.join('.'));
      expect([path, wordsIn(body).sort()]).toEqual([path, [...owed, ...conditional(body)].sort()]);
      const report = verifyBody(parseJson(text), { trust: [sample.did], now: NOW });
      expect([path, report.checks.filter(({ status }) => status === 'fail')]).toEqual([path, []]);
      if (owed.length === 0) continue;
      owing += 1;
      if (!isSeries(product)) expect(withoutWords(text)).toBe(sample.text(path));
    }
    expect(owing).toBeGreaterThan(30);
  });

  it('is not in its delivered form when one of them is missing', async () => {
    const service = await compiledService(sample.data, new Date(NOW).toISOString());
    for (const product of ofEachProduct().filter(({ form }) => form !== 'thin')) {
      const schema = formOf(product.endpoint)?.body;
      if (schema === undefined) throw new Error(`${product.path} has no schema`);
      const body = JSON.parse(String(await delivered(product, service)));
      for (const path of owedMembers(body, schema)) {
        const fault = deliveredFault(without(body, path), schema);
        expect(fault).toBe(`${path.join('.')}: missing, and it follows from time`);
      }
    }
  });
});

function without(body: Json, [name = '', ...rest]: readonly string[]): unknown {
  if (rest.length > 0) {
    const inner = without(body[name] as Json, rest);
    return Array.isArray(body) ? body.with(Number(name), inner) : { ...body, [name]: inner };
  }
  return Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));
}

/** A delivered text as it was before the words went in; the other members keep their order. */
function withoutWords(text: string): string {
  return JSON.stringify(JSON.parse(text), function (this: Json, key, value) {
    const basis = Object.entries(REQUEST_TIME_FIELDS).find(([, fields]) =>
      (fields as readonly string[]).includes(key),
    );
    return basis !== undefined && Object.hasOwn(this, basis[0]) ? undefined : value;
  });
}

/** Copies of a body with one harmless member more, at each place of the objects at some paths. */
function* withOneMore(body: Json, paths: readonly (readonly string[])[]): Generator<Json> {
  for (const path of paths) {
    const size = Object.keys(memberAt(body, path) as Json).length;
    for (let at = 0; at <= size; at += 1) {
      const copy = structuredClone(body);
      const object = memberAt(copy, path) as Json;
      const members = Object.entries(object);
      members.splice(at, 0, ['harmless', true]);
      for (const name of Object.keys(object)) delete object[name];
      Object.assign(object, Object.fromEntries(members));
      yield copy;
    }
  }
}

function memberAt(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Json)[name], body);
}

/** A release of some bodies, which come back as they are delivered. */
async function served(bodies: readonly Json[]): Promise<string[]> {
  const paths = bodies.map((_, at) => `record/airquality.aqi/b${at}.json`);
  const files = new Map(
    bodies.map((body, at) => [paths[at] ?? '', Buffer.from(JSON.stringify(body))]),
  );
  const data = tinyData({ files });
  const release: ReleaseIndex = await openRelease({
    source: folderSource(data),
    issuerDid: null,
    baseUrl: null,
  });
  const read = paths.map((path) => release.body(path, FOR_EVERYBODY));
  return (await Promise.all(read)).map((body) => String(release.bytesAt(body, NOW)));
}

describe('a body with one harmless member more', () => {
  it.each<[string, string, (body: Json) => readonly (readonly string[])[]]>([
    ['a record', 'record/airquality.aqi/', () => [[], ['provenance']]],
    [
      'a bundle',
      'bundle/environment/us-denver',
      ({ legs }) => [[], ['provenance'], ...Object.keys(legs as Json).map((leg) => ['legs', leg])],
    ],
    [
      'the readings of a city',
      'air/us-denver',
      ({ readings }) => [
        ['provenance'],
        ...Object.keys(readings as Json).flatMap((at) => [
          ['readings', at],
          ['readings', at, 'provenance'],
        ]),
      ],
    ],
    ['a roster', 'roster/', () => [[], ['provenance']]],
    ['a free sample', 'free/sample/', () => [['sample'], ['sample', 'provenance']]],
  ])('keeps its words of request time: %s', async (_, prefix, paths) => {
    const found = sample.paths.find((path) => path.startsWith(prefix) && path.endsWith('.json'));
    const body = JSON.parse(sample.text(found ?? prefix)) as Json;
    const [right = '', ...others] = await served([body, ...withOneMore(body, paths(body))]);
    expect(wordsIn(JSON.parse(right)).length).toBeGreaterThanOrEqual(2);
    const plain = others.map((text) =>
      JSON.stringify(JSON.parse(text), (key, value) => (key === 'harmless' ? undefined : value)),
    );
    expect(new Set(plain)).toEqual(new Set([right]));
  });
});

let shop: CompiledSample;
beforeAll(async () => {
  shop = await compiledSample();
});

/** Every text of a JSON value with the place it stands at; names of members are ours and no sentences. */
function texts(value: unknown, at = ''): [string, string][] {
  if (typeof value === 'string') return [[at, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => texts(member, `${at}.${name}`));
}

/** Whether a text is a sentence: an id, an address, a time or a single word asserts nothing. */
const isSentence = (text: string): boolean => / /.test(text) && !/^https?:/.test(text);

function assertions(path: string, content: string): string[] {
  const found: [string, string][] = path.endsWith('.json')
    ? texts(JSON.parse(content))
    : content.split('\n').map((line, number) => [`line ${number + 1}`, line]);
  return found.flatMap(([at, text]) => {
    const word = isSentence(text) ? assertingWord(text) : null;
    return word === null ? [] : [`${path} ${at} "${word}": ${text.slice(0, 160)}`];
  });
}

describe('every sentence of the compiled sample', () => {
  it('describes: none forecasts, advises or recommends', () => {
    // What the search of the documents reads tells people how to run a shop: it says nothing of a reading.
    const scanned = shop.paths.filter(
      (path) => /\.(json|txt)$/.test(path) && path !== 'site/data/docs.json',
    );
    expect(scanned.length).toBeGreaterThan(1000);
    const found = scanned.flatMap((path) => assertions(path, shop.text(path)));
    expect(found).toEqual([]);
  });

  it('would be found in any member of any file', () => {
    const body = { rows: [{ note: 'no forecast: prices will rise soon' }], nature: 'no advice' };
    expect(assertions('a.json', JSON.stringify(body))).toEqual([
      'a.json .rows.0.note "will rise": no forecast: prices will rise soon',
    ]);
    expect(assertions('a.txt', 'one line\nwe recommend it')).toHaveLength(1);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { canonicalJson } from '../compiler/format/canonical.ts';
import { type Citation, contentOf } from '../compiler/format/citation.ts';
import { CORE_FIELDS, hashCore } from '../compiler/format/record-hash.ts';
import { parseVerifyEntry, type VerifyEntry } from '../compiler/format/release.ts';
import { formOf } from '../compiler/products/products.ts';
import { answer } from '../gatekeeper/heart/answers/answers.ts';
import type { Service } from '../gatekeeper/heart/answers/service.ts';
import { logLinesIn } from './gatekeeper/logged-service.ts';
import { compiledService, question } from './gatekeeper/tiny-service.ts';
import { SAMPLE_HOUR } from './shared-folder.ts';
import { type CompiledSample, compiledSample, sampleBodies } from './shop.ts';
import { removeFolders, sha256Text } from './snapshot-folder.ts';

type Json = { readonly [name: string]: unknown; readonly _citation?: Citation };
let sample: CompiledSample;
let service: Service;
let bodies: {
  path: string;
  schemaOf: (row: Parameters<typeof formOf>[0]) => z.ZodType | undefined;
  place: ReturnType<typeof sampleBodies>[0];
  body: Json;
}[];

/** Files that are described by their own format: well-known documents, not answers of ours. */
const DESCRIPTIONS = /^([a-z0-9]+\/){0,2}well-known\//;

beforeAll(async () => {
  sample = await compiledSample();
  service = await compiledService(sample.data, SAMPLE_HOUR);
  const answers = sample.paths.filter((path) => !DESCRIPTIONS.test(path));
  bodies = sampleBodies(answers).map((place) => ({
    place,
    path: place.path,
    schemaOf: (row) => formOf(row, place.form === 'thin' ? place.form : '')?.body,
    body: JSON.parse(sample.text(place.path)),
  }));
});
afterAll(removeFolders);

describe('every published body of the sample', () => {
  it('answers an operation that declares a strict schema', () => {
    const without = bodies.filter(({ place, schemaOf }) => schemaOf(place.endpoint) === undefined);
    expect([...new Set(without.map(({ place }) => place.endpoint.path))]).toEqual([]);
  });

  it('fits that schema, and no longer with one member more or one less', () => {
    const seen = new Map<string, number>();
    for (const { place, path, body, schemaOf } of bodies) {
      const schema = schemaOf(place.endpoint);
      if (schema === undefined) continue;
      expect([path, schema.safeParse(body).error?.issues ?? []]).toEqual([path, []]);
      const key = `${place.form} ${place.endpoint.path}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
      if ((seen.get(key) ?? 0) > 1) continue;
      expect(schema.safeParse({ ...body, strange: 1 }).success, key).toBe(false);
      const { nature, sample: wrapped, ...less } = body;
      expect(schema.safeParse(less).success, key).toBe(false);
    }
    expect(seen.size).toBeGreaterThan(30);
  });
});

interface Held {
  readonly path: string;
  readonly key: string;
  readonly record_hash: string;
  readonly node: Json;
}

/** Every object that tells the hash of a reading: who, when, and what it says of it. */
function heldIn(path: string, value: unknown, outer: Json = {}): Held[] {
  if (typeof value !== 'object' || value === null) return [];
  const node = value as Json;
  const own = {
    signal_id: node.signal_id ?? node.signal ?? outer.signal_id,
    entity: node.entity ?? outer.entity,
  };
  const inside = Object.entries(node)
    .filter(([name]) => name !== '_citation')
    .flatMap(([, member]) => heldIn(path, member, own));
  const { record_hash, observed_at } = node;
  if (typeof record_hash !== 'string' || typeof observed_at !== 'string') return inside;
  if (typeof own.signal_id !== 'string' || node.signal !== undefined) return inside;
  return [
    { path, key: `${own.signal_id} ${own.entity} ${observed_at}`, record_hash, node },
    ...inside,
  ];
}

/** Where readings of signals are delivered, by the first folder of a path. */
const PLACES = [
  'record',
  'ruler',
  'calibrated',
  'strata',
  'history',
  'series',
  'census',
  'bundle',
  'thin',
  'air',
  'precip',
  'lifecycle',
  'free/sample',
  'free/history-preview',
  'free/raw',
] as const;

describe('one reading of the sample', () => {
  const heldAll = (): Held[] =>
    bodies
      .filter(({ path }) => PLACES.some((place) => path.startsWith(`${place}/`)))
      .flatMap(({ path, body }) => heldIn(path, body));

  it('has one hash in all places, which is in the look-up shards', () => {
    const byKey = new Map<string, Set<string>>();
    const places = new Set<string>();
    for (const { key, record_hash, path } of heldAll()) {
      byKey.set(key, (byKey.get(key) ?? new Set()).add(record_hash));
      places.add(PLACES.find((place) => path.startsWith(`${place}/`)) ?? '');
    }
    expect([...places].sort()).toEqual([...PLACES].sort());
    expect([...byKey].filter(([, hashes]) => hashes.size !== 1)).toEqual([]);
    const files = sample.paths.map((path) => [path, sample.text(path)] as const);
    const logged = new Map(logLinesIn(files).map((line) => [line.record_hash, line]));
    for (const [key, [hash = '']] of byKey) expect(logged.get(hash)?.kind, key).toBe('reading');
    expect(byKey.size).toBeGreaterThan(4000);
  });

  it('recomputes from every object that carries its whole core, and from every census row', () => {
    const whole = heldAll().filter(({ node }) =>
      CORE_FIELDS.every((name) => Object.hasOwn(node, name)),
    );
    for (const { node, record_hash, path } of whole) {
      const core = hashCore(node as unknown as Parameters<typeof hashCore>[0]);
      expect(`sha256:${sha256Text(canonicalJson(core))}`, path).toBe(record_hash);
    }
    const rows = bodies
      .filter(({ path }) => path.startsWith('census/'))
      .flatMap(({ body }) => body.rows as unknown[]);
    const records = sample.paths.filter((path) => path.startsWith('record/'));
    expect(rows).toHaveLength(records.length);
    expect(whole.filter(({ path }) => path.startsWith('census/'))).toHaveLength(rows.length);
  });
});

/** Every look-up line of a release by its hash. */
function lookUps({ paths, text }: CompiledSample): Map<string, VerifyEntry> {
  const shards = paths.filter((path) => path.startsWith('verify/'));
  const entries = shards.flatMap((path) =>
    text(path).split('\n').slice(0, -1).map(parseVerifyEntry),
  );
  return new Map(entries.map((entry) => [entry.record_hash, entry]));
}

describe('decision points of the sample', () => {
  const pointsOf = (body: Json) =>
    (
      body.decision_points as
        | { points: { tag: string; current: string; swappable: string[]; how: string }[] }
        | undefined
    )?.points ?? [];

  it('swap exactly one tag of the request, and each call has an answer', async () => {
    const calls = new Set<string>();
    for (const { body } of bodies) {
      for (const { tag, current, swappable, how } of pointsOf(body)) {
        const asked = new URLSearchParams(how.slice(how.indexOf('?')));
        expect(asked.get(tag), how).toBe(swappable[0]);
        expect(swappable).not.toContain(current);
        calls.add(how);
      }
    }
    expect(calls.size).toBeGreaterThan(1000);
    for (const how of calls) {
      const answered = await answer(question(how.slice('GET '.length)), service);
      expect([how, answered.kind]).toEqual([how, 'content']);
    }
  });
});

describe('every sold body of the sample', () => {
  it('has a citation that looks up', () => {
    const listed = lookUps(sample);
    for (const { place, path, body } of bodies) {
      if (place.endpoint.priceUsd === null) continue;
      expect(listed.get(String(body._citation?.record_hash))?.file, path).toBe(path);
    }
  });

  it('binds its content, series apart, whose rows have a chain', () => {
    for (const { path, body } of bodies.filter(({ path }) =>
      /^(census|record|bundle)\//.test(path),
    )) {
      const content = `sha256:${sha256Text(canonicalJson(contentOf(body)))}`;
      expect(body._citation?.source.content_hash, path).toBe(content);
    }
  });
});

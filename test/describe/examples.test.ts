import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import {
  type ExampleBody,
  exampleBodies,
  requestText,
  storedBodies,
} from '../../compiler/describe/examples.ts';
import { inventedBodies } from '../../compiler/describe/invented-body.ts';
import { outline } from '../../compiler/describe/manifest.ts';
import { INVENTED_HASH } from '../../compiler/format/members.ts';
import { formOf } from '../../compiler/products/products.ts';
import type { Endpoint } from '../../compiler/products/shapes/product.ts';
import { SETTLEMENT_NATURE } from '../../compiler/products/shapes/resolve-bodies.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { type CompiledSample, compiledSample, sampleBodies } from '../shop.ts';
import { removeFolders } from '../snapshot-folder.ts';

type Body = Readonly<Record<string, unknown>>;

const ROWS: readonly Endpoint[] = BUILTIN.operations;
const inventedBody = inventedBodies(BUILTIN);
const HELD = ROWS.filter((row) => formOf(row)?.body !== undefined);
const PAID = ROWS.filter((row) => row.priceUsd !== null);

let sample: CompiledSample;
let bodies: ReadonlyMap<string, ExampleBody>;
beforeAll(async () => {
  sample = await compiledSample();
  bodies = exampleBodies(
    storedBodies({
      has: (path) => sample.paths.includes(path),
      under: (prefix) => sample.paths.filter((path) => path.startsWith(prefix)),
      read: (path) => Buffer.from(sample.text(path)),
    }),
    BUILTIN,
  );
});
afterAll(removeFolders);

describe('inventedBodies()', () => {
  it('is a whole body of its schema that says that it is invented', () => {
    for (const row of HELD) {
      const body = inventedBody(row);
      const issues = formOf(row)?.body?.safeParse(body).error?.issues ?? [];
      expect([row.path, issues]).toEqual([row.path, []]);
      expect(JSON.stringify(body)).toMatch(/invented/i);
      const { nature } = (body ?? {}) as { nature?: unknown };
      // Of a settlement answer the schema allows one sentence alone; its note says that it is invented.
      if (nature !== undefined && nature !== SETTLEMENT_NATURE)
        expect(nature).toMatch(/^invented example: /);
    }
  });

  it('has what an ordinary answer has beside what must be there', () => {
    for (const row of PAID.filter(({ answer }) => answer !== 'mint')) {
      const body = inventedBody(row) as Body;
      expect(body._citation).toMatchObject({ signature: 'invented-signature' });
      if ('provenance' in body) expect(body.provenance).toHaveProperty('freshness');
    }
  });

  it('is refused by the schema once a member is missing or of another type', () => {
    for (const row of HELD) {
      const schema = formOf(row)?.body;
      const [[name = '', value] = []] = Object.entries(inventedBody(row) ?? {});
      const { [name]: _, ...less } = inventedBody(row) as Body;
      const other = { ...less, [name]: typeof value === 'number' ? 'x' : 1 };
      expect([row.path, schema?.safeParse(less).success]).toEqual([row.path, false]);
      expect([row.path, schema?.safeParse(other).success]).toEqual([row.path, false]);
    }
  });

  it('is nothing for an operation without a schema', () => {
    expect(inventedBody(builtinOperation('/mcp'))).toBeNull();
  });
});

describe('exampleBodies()', () => {
  it('shows one for every operation that has a schema, each valid', () => {
    expect([...bodies.keys()]).toEqual(HELD.map(({ path }) => path));
    for (const row of HELD) {
      const { value } = bodies.get(row.path) ?? {};
      expect([row.path, formOf(row)?.body?.safeParse(value).error?.issues]).toEqual([
        row.path,
        undefined,
      ]);
    }
  });

  it('shows the free sample for a record and what the sample says of its add-ons', () => {
    const { sample: record } = JSON.parse(sample.text('free/sample/~.json'));
    expect(bodies.get('/gauge')).toEqual({ value: record, isInvented: false });
    for (const path of ['/gauge/ruler', '/gauge/calibrated', '/gauge/strata', '/gauge/lifecycle']) {
      expect([path, bodies.get(path)?.isInvented]).toEqual([path, false]);
      expect(bodies.get(path)?.value).not.toHaveProperty('_citation');
    }
    expect(bodies.get('/gauge/ruler')?.value).toMatchObject({ ruler: record.standard_ruler });
  });

  it('shows of an add-on what a purchase delivers, but for its citation and the time of the request', () => {
    const { sample: record } = JSON.parse(sample.text('free/sample/~.json'));
    for (const dim of ['ruler', 'calibrated', 'strata'] as const) {
      const { _citation, ...sold } = JSON.parse(
        sample.text(`${dim}/${record.signal_id}/${record.entity}.json`),
      );
      expect(bodies.get(`/gauge/${dim}`)?.value).toEqual(sold);
    }
  });

  it('invents everything else that is sold', () => {
    const real = PAID.filter(({ path }) => bodies.get(path)?.isInvented === false);
    expect(real.map(({ path }) => path)).toEqual([
      '/gauge',
      '/gauge/ruler',
      '/gauge/calibrated',
      '/gauge/strata',
      '/gauge/lifecycle',
    ]);
  });

  it('I52: shows no hash and no signature that no free file has', () => {
    const free = sample.paths
      .filter((path) => path.startsWith('free/'))
      .map(sample.text)
      .join('\n');
    const shown = JSON.stringify([...bodies.values()].map(({ value }) => value));
    const hashes = new Set(shown.match(/[0-9a-f]{64}|[A-Za-z0-9_-]{86}/g));
    const invented = INVENTED_HASH.slice('sha256:'.length);
    const notFree = [...hashes].filter((hash) => hash !== invented && !free.includes(hash));
    expect(notFree).toEqual([]);
    const sold = JSON.parse(sample.text('roster/trust/scorecard.json'));
    expect(free.includes(sold._citation.signature)).toBe(false);
  });
});

describe('outline()', () => {
  /** Members of an outline that no real body has: at the top, and below `legs`. */
  function unheardOf(example: Body, real: readonly Body[]): string[] {
    const names = (of: (body: Body) => object, where: string): string[] => {
      const known = new Set(real.flatMap((body) => Object.keys(of(body))));
      return Object.keys(of(example)).flatMap((name) => (known.has(name) ? [] : where + name));
    };
    return [...names((body) => body, ''), ...names(({ legs }) => legs ?? {}, 'legs.')];
  }

  it('names members of real bodies alone, with the legs that they have, and keeps the hash', () => {
    const whole = sampleBodies(sample.paths).filter(({ form }) => form === '');
    const stored = PAID.map((row) => {
      const found = whole.filter(({ endpoint }) => endpoint.path === row.path);
      return { row, real: found.map(({ path }): Body => JSON.parse(sample.text(path))) };
    }).filter(({ real }) => real.length > 0);
    expect(stored.length).toBeGreaterThan(40);
    for (const { row, real } of stored) {
      const shown = outline(bodies.get(row.path)?.value ?? {});
      expect([row.path, unheardOf(shown, real)]).toEqual([row.path, []]);
      const hashed = real.some((body) => 'record_hash' in body);
      expect([row.path, 'record_hash' in shown]).toEqual([row.path, hashed]);
    }
    const real = stored.find(({ row }) => row.path === '/gauge/region')?.real ?? [];
    expect(unheardOf({ current: {}, legs: { leading: {} } }, real)).toEqual([
      'current',
      'legs.leading',
    ]);
  });

  it('is never empty and stays short', () => {
    for (const row of PAID) {
      const text = JSON.stringify(outline(bodies.get(row.path)?.value ?? {}));
      expect([row.path, text.length > 50 && text.length < 1500]).toEqual([row.path, true]);
    }
  });
});

const HASH = `sha256:${'0a'.repeat(32)}`;

describe('requestText()', () => {
  it('puts a value into the path or the query, where the table has it', () => {
    const look = builtinOperation('/v/:record_hash');
    expect(requestText(look, { record_hash: HASH })).toBe(`/v/${HASH}`);
    const values = { signal_id: 'crypto.spot', entity: 'btc' };
    expect(requestText(builtinOperation('/gauge'), values)).toBe(
      '/gauge?entity=btc&signal_id=crypto.spot',
    );
  });

  it('refuses a path that a value is missing in', () => {
    const look = builtinOperation('/proof/:record_hash');
    expect(() => requestText(look, { hash: HASH })).toThrow(
      'Cannot ask "/proof/:record_hash": no value for "record_hash"',
    );
    expect(requestText(look, { record_hash: HASH })).toBe(`/proof/${HASH}`);
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { bodySchemaOf } from '../../../compiler/contract/bodies.ts';
import { ENDPOINTS, type Endpoint, endpointAt } from '../../../compiler/contract/endpoints.ts';
import { outputExample } from '../../../gatekeeper/offer/output-example.ts';
import { compiledSample, sampleBodies } from '../../compiled-sample.ts';
import { removeFolders } from '../../snapshot-folder.ts';

type Body = Readonly<Record<string, unknown>>;

const PAID = (ENDPOINTS as readonly Endpoint[]).filter((row) => row.priceUsd !== null);

afterAll(removeFolders);

/** What the schema of a row has against an example; what an example leaves out is no fault of it. */
function faults(row: Endpoint, example: Body): string[] {
  const issues = bodySchemaOf(row)?.safeParse(example).error?.issues ?? [];
  return issues
    .filter(({ path }) => valueAt(example, path) !== undefined)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);
}

function valueAt(example: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value, name) => (value as Body | undefined)?.[String(name)], example);
}

/** Members of an example that no body has: at the top, and below `legs`. */
function unheardOf(example: Body, bodies: readonly Body[]): string[] {
  const names = (of: (body: Body) => object, where: string): string[] => {
    const real = new Set(bodies.flatMap((body) => Object.keys(of(body))));
    return Object.keys(of(example)).flatMap((name) => (real.has(name) ? [] : where + name));
  };
  return [...names((body) => body, ''), ...names(({ legs }) => legs ?? {}, 'legs.')];
}

/** Values of an example whose type differs from that of a real body; metrics differ by signal, and null is any value. */
function otherTypes(example: unknown, real: unknown, where = ''): string[] {
  if (example === null || real === null || real === undefined) return [];
  if (typeof example !== typeof real) return [where];
  if (typeof example !== 'object' || Array.isArray(example)) return [];
  return Object.entries(example).flatMap(([name, value]) =>
    otherTypes(value, (real as Body)[name], `${where}.${name}`),
  );
}

describe('outputExample()', () => {
  it('outputExample() has fields for every paid row of the table', () => {
    for (const row of PAID) expect(Object.keys(outputExample(row)).length).toBeGreaterThan(1);
  });

  it('outputExample() names no member that the body of a row does not have, and no other value', () => {
    const held = PAID.filter((row) => bodySchemaOf(row) !== null);
    expect(held).toHaveLength(PAID.length);
    for (const row of held)
      expect([row.path, faults(row, outputExample(row))]).toEqual([row.path, []]);
  });

  it('the schema refuses an unknown member, and a wrong value inside one', () => {
    const row = endpointAt('/gauge/ruler');
    expect(faults(row, { ...outputExample(row), standard_ruler: {} })).toHaveLength(1);
    expect(faults(row, { ...outputExample(row), ruler: { band: 1 } })).toHaveLength(1);
  });

  it('outputExample() names only members of real bodies, and the legs that they have', async () => {
    const sample = await compiledSample();
    const whole = sampleBodies(sample.paths).filter(({ form }) => form === '');
    const bodiesOf = (row: Endpoint): Body[] =>
      whole
        .filter(({ endpoint }) => endpoint.path === row.path)
        .map(({ path }) => JSON.parse(sample.text(path)));
    const stored = PAID.filter((row) => bodiesOf(row).length > 0);
    expect(stored.length).toBeGreaterThan(30);
    for (const row of stored) {
      expect([row.path, unheardOf(outputExample(row), bodiesOf(row))]).toEqual([row.path, []]);
    }
    for (const row of stored) {
      expect([row.path, otherTypes(outputExample(row), bodiesOf(row)[0])]).toEqual([row.path, []]);
    }
    const figure = { legs: { lifecycle: { current: { state: 42 } } } };
    const [policy] = bodiesOf(endpointAt('/gauge/policy-region'));
    expect(otherTypes(figure, policy)).toEqual(['.legs.lifecycle.current.state']);
    const wrong = { current: {}, legs: { leading: {} } };
    const bodies = bodiesOf(endpointAt('/gauge/region'));
    expect(unheardOf(wrong, bodies)).toEqual(['current', 'legs.leading']);
  }, 60_000);

  it('outputExample() refuses a row that it cannot describe', () => {
    const row = { ...ENDPOINTS[0], file: 'unheard-of/{entity}.json', path: '/x' };
    expect(() => outputExample(row)).toThrow(/no example/);
  });
});

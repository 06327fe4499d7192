import { createPublicKey, hash, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import {
  FORMAT_DOCUMENTS,
  findStaticFile,
  LINKED_FILES,
  serviceLinks,
} from '../../compiler/catalog/static-files.ts';
import { toolsOf } from '../../compiler/catalog/tools.ts';
import { bodySchemas } from '../../compiler/describe/body-schemas.ts';
import { apiCatalog, registryEntry, serverCard } from '../../compiler/describe/describe.ts';
import type { ManifestEntry } from '../../compiler/describe/manifest.ts';
import { parseDidKey } from '../../compiler/format/did-key.ts';
import { ADD_ONS } from '../../compiler/products/add-ons.ts';
import type { Endpoint } from '../../compiler/products/shapes/product.ts';
import { jcs } from '../../compiler/system/jcs.ts';
import { smallSet } from '../small-set.ts';
import {
  compileFolder,
  fileOf,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

afterAll(removeFolders);

const ROWS: readonly Endpoint[] = BUILTIN.operations;
const KEPT = ROWS.filter((row) => row.answer !== 'gone');
const BASE = 'https://example.org';
let root = '';
let did = '';

beforeAll(async () => {
  const contact = 'mailto:ops@example.org';
  const { data, release } = await compileFolder(writeSnapshots(smallSet()), { contact });
  root = join(data, 'current');
  did = release.issuer_did;
});

const text = (path: string): string => readFileSync(fileOf(root, path), 'utf8');
const entries = (path = 'all/well-known/manifest.json'): ManifestEntry[] =>
  readJson(root, path).entries;

describe('describe() writes a manifest', () => {
  it('that holds every row but the retired, in the order of the table', () => {
    expect(entries().map(({ path, method }) => [path, method])).toEqual(
      KEPT.map(({ path, method }) => [path, method]),
    );
  });

  it('whose usual form leaves out what nothing is stored of', () => {
    const open = entries('well-known/manifest.json').map((entry) => entry.path);
    expect(open).toContain('/gauge');
    expect(open).not.toContain('/gauge/japan-region');
    expect(entries().find((entry) => entry.path === '/gauge/japan-region')?.sells_now).toBe(false);
  });

  it('whose usual form has no example of an answer, which all=1 has', () => {
    const examples = (path?: string) =>
      entries(path).filter(({ output_example }) => output_example !== undefined).length;
    expect(examples('well-known/manifest.json')).toBe(0);
    expect(examples()).toBeGreaterThan(20);
  });

  it('whose examples name what is stored, the example of the table first', () => {
    const of = (path: string) => entries().find((entry) => entry.path === path);
    expect(of('/gauge')?.input_example_request).toBe(
      '/gauge?entity=us-denver&signal_id=airquality.aqi',
    );
    expect(of('/gauge/raw')?.input_example_request).toBe(
      '/gauge/raw?entity=06714000&signal_id=hydrology.river-level',
    );
    expect(of('/v/:record_hash')?.input_example_request).toMatch(/^\/v\/sha256:[0-9a-f]{64}$/);
    expect(of('/gauge/watch')?.input_example_request).toMatch(/^\/gauge\/watch\?items=[a-z]+%3A/);
  });

  it('with the tools as the projection for MCP and the card as the one for A2A', () => {
    expect(readJson(root, 'mcp/well-known/manifest.json')).toEqual({
      tools: JSON.parse(JSON.stringify(toolsOf(BUILTIN))),
    });
    const { signatures, ...card } = readJson(root, 'well-known/agent-card.json');
    expect(readJson(root, 'a2a/well-known/manifest.json')).toEqual(card);
  });
});

describe('describe() writes an agent card', () => {
  const card = () => readJson(root, 'well-known/agent-card.json');

  it('that says what it speaks and what it does not', () => {
    expect(card()).toMatchObject({
      version: '2.0',
      capabilities: { streaming: false, pushNotifications: false },
      supportedInterfaces: [{ url: BASE, protocolBinding: 'HTTP+x402', protocolVersion: '1.0' }],
    });
    expect(card().description).toContain('NOT implemented');
    const legacy = readJson(root, 'well-known/agent.json');
    expect(legacy.preferredTransport).toBe('HTTP+x402');
  });

  it('signed with the issuer key, and not once a word is changed', () => {
    const { signatures, ...unsigned } = card();
    const [{ protected: header, signature }] = signatures;
    const { key_id } = readJson(root, 'release.json');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({
      alg: 'EdDSA',
      kid: key_id,
      typ: 'JOSE',
    });
    const x = Buffer.from(parseDidKey(did)).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const isSigned = (body: object): boolean => {
      const payload = Buffer.from(jcs(body)).toString('base64url');
      const bytes = Buffer.from(`${header}.${payload}`);
      return verify(null, bytes, key, Buffer.from(signature, 'base64url'));
    };
    expect(isSigned(unsigned)).toBe(true);
    expect(isSigned({ ...unsigned, version: '2.1' })).toBe(false);
  });
});

/** A schema of the document with those that it refers to, as a document of its own. */
function withDefinitions(schemas: object, name: string) {
  const text = JSON.stringify({ $ref: `#/components/schemas/${name}`, $defs: schemas });
  return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'));
}

describe('describe() writes an OpenAPI document', () => {
  const document = () => readJson(root, 'well-known/openapi.json');
  const sold = () => new Set(entries('well-known/manifest.json').map(({ path }) => path));

  it('with the answers of every operation', () => {
    const { paths, openapi, info } = document();
    expect([openapi, info.version, info.contact.email]).toEqual([
      '3.1.0',
      '1.0.0',
      'ops@example.org',
    ]);
    const rows = KEPT.filter(({ path }) => sold().has(path));
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) {
      const operation =
        paths[row.path.replace(/:([a-z_]+)$/, '{$1}')]?.[row.method.toLowerCase()] ?? {};
      expect('402' in operation.responses).toBe(row.priceUsd !== null || row.answer === 'basket');
      expect(operation.responses[200].content['application/json']).toHaveProperty('schema');
    }
    const operations = Object.values(paths).flatMap((item) => Object.keys(item as object));
    expect(operations).toHaveLength(rows.length);
  });

  const resolved = (response: { readonly $ref?: string }) => {
    const { $ref } = response;
    if ($ref === undefined) return response;
    return document().components.responses[$ref.slice('#/components/responses/'.length)];
  };
  const answerOf = (path: string, status: number | string): { readonly content: object } =>
    resolved(document().paths[path].get.responses[status]);
  const schemasOf = (path: string): (string | undefined)[] => {
    const { schema } = document().paths[path].get.responses[200].content['application/json'];
    return (schema.anyOf ?? [schema]).map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1));
  };

  it('with every form that a parameter can choose, and with one where none does', () => {
    const products = ADD_ONS.map(({ dim }) => `Gauge${dim[0]?.toUpperCase()}${dim.slice(1)}`);
    expect(schemasOf('/gauge')).toEqual(['Gauge', 'GaugeThin', 'Fact', ...products]);
    expect(schemasOf('/gauge/calibrated')).toEqual(['GaugeCalibrated', 'GaugeCalibratedThin']);
    expect(schemasOf('/gauge/nas-region')).toEqual(schemasOf('/gauge/region'));
    expect(schemasOf('/gauge/region')).toEqual(['GaugeRegion', 'GaugeRegionThin']);
    expect(schemasOf('/manifest')).toEqual(['Manifest', 'ManifestMcp', 'ManifestA2a']);
    expect(schemasOf('/gauge/census')).toEqual(['GaugeCensus']);
    expect(answerOf('/v/{record_hash}', 200).content).toHaveProperty('text/html');
    expect(answerOf('/gauge', 200).content).not.toHaveProperty('text/html');
  });

  it('with the refusals that no row names, in JSON-RPC for the tool server', () => {
    const failure = { $ref: '#/components/schemas/Failure' };
    expect(answerOf('/gauge', 'default').content).toEqual({
      'application/json': { schema: failure },
    });
    const { responses, requestBody } = document().paths['/mcp'].post;
    for (const status of [400, 'default']) {
      const { schema } = resolved(responses[status]).content['application/json'];
      expect(schema.anyOf).toEqual([{ $ref: '#/components/schemas/RpcAnswer' }, failure]);
    }
    expect(resolved(responses[202])).not.toHaveProperty('content');
    expect(requestBody.content['application/json'].example.method).toBe('tools/list');
  });

  it('in words of JSON Schema alone', () => {
    const formats = [...JSON.stringify(document()).matchAll(/"format":"([^"]+)"/g)];
    const named = new Set(formats.map(([, format]) => format));
    expect([...named].toSorted()).toEqual(['date', 'date-time', 'uri']);
  });

  it('with one example for each schema: a real one of what is free, else one that says that it is invented', () => {
    const { components } = document();
    const rows = BUILTIN.operations.filter(({ path }) => sold().has(path));
    const { nameOf } = bodySchemas(rows, BUILTIN);
    const answered = rows.map(nameOf).filter((name) => name !== null);
    expect(new Set(Object.keys(components.examples))).toEqual(new Set(answered));
    for (const [name, example] of Object.entries<{ summary: string; value: object }>(
      components.examples,
    )) {
      expect([name, Object.keys(example)]).toEqual([name, ['summary', 'description', 'value']]);
      const isInvented = JSON.stringify(example.value).includes('nvented');
      expect([name, example.summary.startsWith('INVENTED')]).toEqual([name, isInvented]);
    }
    expect(components.examples.Gauge.value).toEqual(readJson(root, 'free/sample/~.json').sample);
    expect(components.examples.GaugeCensus.summary).toMatch(/^INVENTED/);
  });

  it('with examples that meet the schemas beside them, and would not with another type', () => {
    const { components } = document();
    for (const [name, { value }] of Object.entries<{ value: object }>(components.examples)) {
      const schema = z.fromJSONSchema(withDefinitions(components.schemas, name));
      expect([name, schema.safeParse(value).error?.issues]).toEqual([name, undefined]);
      expect([name, schema.safeParse([value]).success]).toEqual([name, false]);
    }
  });

  it('with the other names of a parameter', () => {
    const named = (path: string): string[] =>
      document().paths[path].get.parameters.map(({ name }: { name: string }) => name);
    expect(named('/gauge')).toEqual(['signal_id', 'entity', 'issuer', 'dim', 'format']);
    expect(named('/gauge/census')).toEqual(['signal_id']);
  });

  it('with keys and log, and without what nothing is stored of', () => {
    const { paths, 'x-files': files } = document();
    expect(files.map(({ url }: { url: string }) => url)).toEqual(
      expect.arrayContaining([`${BASE}/.well-known/keys.json`, `${BASE}/log/checkpoint`]),
    );
    expect(paths).toHaveProperty(['/gauge']);
    expect(paths).not.toHaveProperty(['/gauge/japan-region']);
  });
});

describe('describe() without subscriptions', () => {
  const PATHS = ['manifest.json', 'agent-card.json', 'agent.json', 'openapi.json', 'llms.txt'];

  it('I57: names neither what sells a token nor what is opened by one, and is otherwise alike', async () => {
    const { data } = await compileFolder(writeSnapshots(smallSet()), { subscriptions: false });
    const without = join(data, 'current');
    const all = 'all/well-known/manifest.json';
    for (const path of [all, ...PATHS.map((name) => `well-known/${name}`)]) {
      expect([path, text(path).includes('/gauge/subscribe')]).toEqual([path, true]);
      const other = readFileSync(fileOf(without, path), 'utf8');
      expect([path, other.includes('/gauge/subscribe')]).toEqual([path, false]);
    }
    const gated = ['/gauge/subscribe', '/gauge/watch', '/gauge/watch-changes'];
    const kept = entries().filter(
      ({ path }) => ![...gated, '/gauge/manifest-sweep'].includes(path),
    );
    expect(readJson(without, all).entries).toEqual(kept);
  });
});

describe('describe() writes the small texts', () => {
  it('gives FORMAT.md away, and each document that it leads on to', () => {
    for (const { source, path } of FORMAT_DOCUMENTS) {
      const document = new URL(`../../compiler/format/${source}`, import.meta.url);
      expect(text(path)).toBe(readFileSync(document, 'utf8'));
    }
  });

  it('that name address, contact and key', () => {
    expect(text('well-known/llms.txt')).toContain(`${BASE}/openapi.json`);
    // What all that is sold takes alike is in no list of parameters.
    expect(text('well-known/llms.txt')).toContain('proof=0');
    expect(readJson(root, 'well-known/openapi.json').info['x-guidance']).toContain('proof=0');
    const [, , free = '', , gated = ''] = text('well-known/llms.txt').split('\n## ');
    expect(free).toContain('[/gauge/sample]');
    expect(free).not.toContain('[TOKEN]');
    expect(gated.match(/\[TOKEN\]/g)).toHaveLength(3);
    expect(gated).not.toContain('[FREE]');
    expect(text('well-known/robots.txt')).toMatch(/^User-agent: \*\nAllow: \/\n/);
    const security = text('well-known/security.txt');
    expect(security).toContain('Contact: mailto:ops@example.org\n');
    expect(security).toContain('Expires: 2027-11-19T12:00:00.000Z\n');
    expect(text('well-known/favicon.svg')).toMatch(/^<svg /);
    expect(readJson(root, 'well-known/did.json')).toMatchObject({
      id: 'did:web:example.org',
      verificationMethod: [{ controller: did, publicKeyMultibase: did.slice('did:key:'.length) }],
    });
  });
});

describe('describe() writes what agents read first', () => {
  it('a skill with the hash of its bytes, and every address in it answers', () => {
    const [skill, ...others] = readJson(root, 'well-known/agent-skills.json').skills;
    const bytes = text('well-known/skill.md');
    expect(others).toEqual([]);
    expect(skill).toEqual({
      name: 'official-readings',
      type: 'skill-md',
      description: expect.any(String),
      url: '/.well-known/agent-skills/official-readings/SKILL.md',
      digest: `sha256:${hash('sha256', bytes)}`,
    });
    expect(hash('sha256', bytes.replace('0.05', '5.00'))).not.toBe(skill.digest.slice(7));
    expect(findStaticFile(skill.url)?.path).toBe('well-known/skill.md');
    const [, front = ''] = bytes.split('---\n');
    expect(front).toBe(`name: ${skill.name}\ndescription: ${JSON.stringify(skill.description)}\n`);
    expect(skill.description.length).toBeLessThanOrEqual(1024);
    expect(skill.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    for (const step of [BASE, did, '--max-usd', '/gauge/search?q=', 'verify answer.json --issuer'])
      expect(bytes).toContain(step);
    for (const [, path = ''] of bytes.matchAll(/https:\/\/example\.org(\/[a-z./]+[a-z])/g)) {
      const isKnown = BUILTIN.operationByPath.has(path) || findStaticFile(path) !== null;
      expect([path, isKnown]).toEqual([path, true]);
    }
  });

  it('a registration that claims none', () => {
    expect(readJson(root, 'well-known/agent-registration.json')).toEqual({
      type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
      name: expect.any(String),
      description: expect.stringContaining('Descriptive only'),
      image: `${BASE}/og.png`,
      services: [
        { name: 'web', endpoint: `${BASE}/` },
        { name: 'MCP', endpoint: `${BASE}/mcp` },
        { name: 'DID', endpoint: did, version: 'v1' },
        { name: 'x402', endpoint: `${BASE}/.well-known/x402` },
      ],
      x402Support: true,
      active: true,
      registrations: [],
    });
  });

  it('subjects of what is sold, of stored signals alone', () => {
    const subjectsAt = (path: string) =>
      entries().find((entry) => entry.path === path)?.subjects ?? [];
    expect(subjectsAt('/gauge/region')).toEqual(expect.arrayContaining(['river level', 'flood']));
    expect(subjectsAt('/gauge')).toEqual(expect.arrayContaining(['river level']));
    expect(subjectsAt('/gauge')).not.toContain('earthquake');
    expect(subjectsAt('/gauge/catalog')).toEqual([]);
    for (const { path, subjects = [] } of entries())
      expect([path, subjects.join(', ').length <= 330]).toEqual([path, true]);
  });
});

const issuerAt = (baseUrl: string) => ({ name: 'Harbour', did: 'did:key:z', keyId: 'z', baseUrl });

interface Linkset {
  readonly linkset: readonly [
    { readonly anchor: string } & Readonly<
      Record<string, readonly { href: string; type: string }[]>
    >,
  ];
}
interface Entry {
  readonly $schema: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly remotes: readonly { readonly url: string }[];
}

describe.each(['https://tides.example', 'https://example.org/tides'])('doors at %s', (base) => {
  const issuer = issuerAt(base);

  it('the catalogue of APIs has every linked file but itself, behind the whole address', () => {
    const [api] = (apiCatalog(issuer) as Linkset).linkset;
    expect(api.anchor).toBe(base);
    for (const { url, rel, contentType } of LINKED_FILES) {
      const link = { href: base + url, type: contentType };
      if (rel === 'api-catalog') expect(api).not.toHaveProperty([rel]);
      else expect(api[rel]).toContainEqual(link);
    }
    expect(Object.keys(api)).toEqual(
      expect.arrayContaining(['service-desc', 'service-doc', 'service-meta']),
    );
    expect(api.item).toEqual([{ href: `${base}/mcp`, type: 'application/json' }]);
    expect(api['service-meta']?.map(({ href }) => href)).toEqual(
      ['keys.json', 'mcp/server-card.json', 'agent-skills/index.json', 'agent-registration.json']
        .concat(['x402', 'agent-card.json'])
        .map((name) => `${base}/.well-known/${name}`),
    );
  });

  it('the header names the description, the documents and the catalogue', () => {
    expect(serviceLinks(base)).toContain(`<${base}/openapi.json>; rel="service-desc"`);
    expect(serviceLinks(base)).toContain(`<${base}/.well-known/api-catalog>; rel="api-catalog"`);
    expect(serviceLinks(base)).not.toContain('service-meta');
  });

  it.each([serverCard, registryEntry])('%o keeps to the limits of its schema', (make) => {
    const entry = make(issuer) as Entry;
    expect(entry.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(entry.description.length).toBeLessThanOrEqual(100);
    expect(entry.version).toMatch(/^[0-9]+\.[0-9]+\.[0-9]+$/);
    expect(entry.remotes).toEqual([{ type: 'streamable-http', url: `${base}/mcp` }]);
  });
});

describe('the title of the tool server', () => {
  it.each([
    ['x'.repeat(100), 'x'.repeat(100)],
    ['x'.repeat(101), 'x'.repeat(100)],
    [`${'x'.repeat(99)}😀😀`, `${'x'.repeat(99)}😀`],
  ])('is the name, or as many whole characters of it as are allowed: %s', (name, title) => {
    const issuer = { ...issuerAt('https://tides.example'), name };
    expect((serverCard(issuer) as Entry).title).toBe(title);
    expect((registryEntry(issuer) as Entry).title).toBe(title);
  });
});

describe('the name of the tool server', () => {
  const nameAt = (base: string): string => (serverCard(issuerAt(base)) as Entry).name;

  it('is the host with its labels turned round', () => {
    expect(nameAt('https://tides.example.org')).toBe('org.example.tides/signals');
    expect(nameAt('http://localhost:4021')).toBe('localhost/signals');
  });

  it('keeps an address of digits, in the letters that a name may have', () => {
    expect(nameAt('http://127.0.0.1:4021')).toBe('127.0.0.1/signals');
    expect(nameAt('http://[::1]:4021')).toMatch(/^[a-zA-Z0-9.-]+\/signals$/);
  });

  it('keeps a long title within the limit', () => {
    const card = serverCard({ ...issuerAt('https://tides.example'), name: 'x'.repeat(300) });
    expect((card as Entry).title).toHaveLength(100);
  });
});

import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseDidKey } from '../../../compiler/contract/did-key.ts';
import { ENDPOINTS, type Endpoint } from '../../../compiler/contract/endpoints.ts';
import { TOOLS } from '../../../compiler/contract/tools.ts';
import type { ManifestEntry } from '../../../compiler/stages/describe/manifest.ts';
import { maskedExample } from '../../../compiler/stages/describe/masked-example.ts';
import { jcs } from '../../../compiler/stages/seal/jcs.ts';
import { smallSet } from '../../small-set.ts';
import {
  compileFolder,
  fileOf,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const ROWS: readonly Endpoint[] = ENDPOINTS;
const KEPT = ROWS.filter((row) => row.answer !== 'gone');
const BASE = 'https://example.org';
let root = '';
let did = '';

beforeAll(async () => {
  const contact = 'mailto:ops@example.org';
  const { data, release } = await compileFolder(writeSnapshots(smallSet()), { contact });
  root = join(data, 'current');
  did = release.issuer_did;
}, 30_000);

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

  it('whose examples name what is stored, the example of the table first', () => {
    const of = (path: string) => entries().find((entry) => entry.path === path);
    expect(of('/gauge')?.input_example_request).toBe(
      '/gauge?signal_id=airquality.aqi&entity=us-denver',
    );
    expect(of('/gauge/raw')?.input_example_request).toBe(
      '/gauge/raw?signal_id=hydrology.river-level&entity=06714000',
    );
    expect(of('/v/:record_hash')?.input_example_request).toMatch(/^\/v\/sha256:[0-9a-f]{64}$/);
    expect(of('/gauge/watch')?.input_example_request).toMatch(/^\/gauge\/watch\?items=[a-z]+%3A/);
  });

  it('with the tools as the projection for MCP and the card as the one for A2A', () => {
    expect(readJson(root, 'mcp/well-known/manifest.json')).toEqual({
      tools: JSON.parse(JSON.stringify(TOOLS)),
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

describe('describe() writes an OpenAPI document', () => {
  const document = () => readJson(root, 'well-known/openapi.json');

  it('with the answers of every operation', () => {
    const { paths, openapi, info } = document();
    expect([openapi, info.version, info.contact.email]).toEqual([
      '3.1.0',
      '1.0.0',
      'ops@example.org',
    ]);
    for (const row of KEPT) {
      const operation =
        paths[row.path.replace(/:([a-z_]+)$/, '{$1}')]?.[row.method.toLowerCase()] ?? {};
      expect('402' in operation.responses).toBe(row.priceUsd !== null);
      expect(operation.responses[200].content['application/json']).toHaveProperty('schema');
    }
    const operations = Object.values(paths).flatMap((item) => Object.keys(item as object));
    expect(operations).toHaveLength(KEPT.length);
  });

  const answerOf = (path: string, status: number | string): { readonly content: object } =>
    document().paths[path].get.responses[status];
  const schemasOf = (path: string): (string | undefined)[] => {
    const { schema } = document().paths[path].get.responses[200].content['application/json'];
    return (schema.anyOf ?? [schema]).map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1));
  };

  it('with every form that a parameter can choose, and with one where none does', () => {
    const products = ['GaugeRuler', 'GaugeCalibrated', 'GaugeStrata', 'GaugeHistory'];
    expect(schemasOf('/gauge')).toEqual(['Gauge', ...products]);
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
      const { schema } = responses[status].content['application/json'];
      expect(schema.anyOf).toEqual([{ $ref: '#/components/schemas/RpcAnswer' }, failure]);
    }
    expect(responses[202]).not.toHaveProperty('content');
    expect(requestBody.content['application/json'].example.method).toBe('tools/list');
  });

  it('in words of JSON Schema alone', () => {
    const formats = [...JSON.stringify(document()).matchAll(/"format":"([^"]+)"/g)];
    const named = new Set(formats.map(([, format]) => format));
    expect([...named].toSorted()).toEqual(['date', 'date-time', 'uri']);
  });

  it('that does not give away what is sold', () => {
    const paid = text('record/airquality.aqi/us-denver.json');
    const { summary_en, record_hash } = JSON.parse(paid);
    const shown = JSON.stringify(document().components.examples.Gauge);
    expect(shown).toContain('"signal_id":"airquality.aqi"');
    expect(summary_en.length).toBeGreaterThan(20);
    for (const secret of [summary_en, record_hash]) expect(shown).not.toContain(secret);
  });
});

describe('maskedExample()', () => {
  const schema = z.strictObject({
    price_usd: z.string().regex(/^\d+\.\d+$/),
    kind: z.enum(['a', 'b']),
    rows: z.array(z.strictObject({ value: z.number().min(1) })).min(3),
  });
  const body = { price_usd: '0.09', kind: 'b', rows: [{ value: 7 }, { value: 8 }, { value: 9 }] };

  it('fits the schema with nothing of the figures in it', () => {
    expect(maskedExample(body, schema)).toEqual({
      price_usd: '0.00',
      kind: 'a',
      rows: [{ value: 1 }, { value: 1 }, { value: 1 }],
    });
  });

  it('is nothing where no stand-in fits', () => {
    expect(
      maskedExample(
        { n: 5 },
        z.strictObject({ n: z.literal('x') }).refine(() => false),
      ),
    ).toBe(null);
  });
});

describe('describe() writes the small texts', () => {
  it('that name address, contact and key', () => {
    expect(text('well-known/llms.txt')).toContain(`${BASE}/openapi.json`);
    const [, free = '', , gated = ''] = text('well-known/llms.txt').split('\n## ');
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

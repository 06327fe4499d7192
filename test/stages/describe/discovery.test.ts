import { describe, expect, it } from 'vitest';
import { LINKED_FILES, serviceLinks } from '../../../compiler/contract/static-files.ts';
import {
  apiCatalog,
  registryEntry,
  serverCard,
} from '../../../compiler/stages/describe/describe.ts';

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

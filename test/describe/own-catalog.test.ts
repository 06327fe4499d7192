import { describe, expect, it } from 'vitest';
import { described, manifestBody } from '../../compiler/describe/manifest.ts';
import { openApi } from '../../compiler/describe/openapi.ts';
import { llmsText } from '../../compiler/describe/texts.ts';
import { TIDES } from '../tide-catalog.ts';

const NOTHING = { has: () => false, under: () => [], read: () => Buffer.alloc(0) };
const issuer = { name: 'Harbour', did: 'did:key:z', keyId: 'z', baseUrl: 'https://tides.example' };

describe('descriptions of an own catalogue', () => {
  const { entries, bodies } = described(NOTHING, TIDES, true);
  const offer = { entries: entries.map((entry) => ({ ...entry, sells_now: true })), bodies };
  const texts = {
    manifest: JSON.stringify(manifestBody(offer.entries)),
    openapi: JSON.stringify(openApi({ ...offer, catalog: TIDES, issuer, contact: null })),
    llms: llmsText({ issuer, catalog: TIDES, counts: new Map() }, offer.entries),
  };

  it.each(Object.entries(texts))('name in %s what it sells at its prices', (_, text) => {
    expect(text).toContain('/gauge/tide-region');
    expect(text).toMatch(/0\.4\b/);
  });

  it.each(Object.entries(texts))(
    'name in %s nothing that only the built-in one sells',
    (_, text) => {
      for (const foreign of ['/gauge/region', '/gauge/census', '/resolve?', '/trust/scorecard']) {
        expect(text).not.toContain(foreign);
      }
      for (const example of ['nas.ground_ops"', 'us-denver"', '"aviation"']) {
        expect(text).not.toContain(example);
      }
    },
  );

  it('show an invented body of the bundle with the legs of the line', () => {
    expect(bodies.get('/gauge/tide-region')?.value).toMatchObject({
      legs: { level: { leg: 'level', position: 1 }, waves: { leg: 'waves', position: 2 } },
    });
  });
});

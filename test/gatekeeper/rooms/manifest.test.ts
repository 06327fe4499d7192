import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { paymentManifest } from '../../../gatekeeper/rooms/manifest.ts';
import { jsonOf, tinyService } from '../tiny-service.ts';
import { tinyTokens } from '../tiny-tokens.ts';

const PAID = BUILTIN.operations.filter((row) => row.priceUsd !== null);

describe('paymentManifest()', () => {
  it('joins every paid operation that sells now with what is accepted here', async () => {
    const plain = await tinyService();
    const service = { ...plain, operator: { ...plain.operator, tokens: tinyTokens() } };
    const body = jsonOf(paymentManifest(service));
    expect(body).toMatchObject({
      version: 1,
      x402Version: 1,
      openapi: 'https://records.example/openapi.json',
      manifest: 'https://records.example/manifest?all=1',
    });
    const sold = PAID.filter(({ path }) => service.release.offers.get(path)?.sellsNow === true);
    expect(sold.length).toBeGreaterThan(3);
    expect(body.resources).toEqual(sold.map((row) => `https://records.example${row.path}`));
    const items = body.items as Record<string, { maxAmountRequired: string }[]>[];
    expect(items.map(({ resource }) => resource)).toEqual(body.resources);
    expect(items.map((item) => item.accepts?.[0]?.maxAmountRequired)).toEqual(
      items.map((item) => item.price_atomic),
    );
    expect(items[0]).toMatchObject({ path: '/gauge', method: 'GET', price_usd: '0.01' });
    const open = jsonOf(paymentManifest(plain)).resources as string[];
    const subscribe = 'https://records.example/gauge/subscribe';
    expect(open).toEqual(
      sold.map((row) => `https://records.example${row.path}`).filter((url) => url !== subscribe),
    );
    expect(body.resources).toContain(subscribe);
  });

  it('lists nothing that is not stored', async () => {
    const body = jsonOf(paymentManifest(await tinyService()));
    expect(body.resources).not.toContain('https://records.example/gauge/japan-region');
  });
});

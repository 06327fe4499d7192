import { describe, expect, it } from 'vitest';
import { ENDPOINTS, type Endpoint } from '../../../compiler/contract/endpoints.ts';
import { paymentManifest } from '../../../gatekeeper/answers/manifest.ts';
import { describedFiles } from '../described-files.ts';
import { jsonOf, tinyService } from '../tiny-service.ts';
import { tinyTokens } from '../tiny-tokens.ts';

const PAID = (ENDPOINTS as readonly Endpoint[]).filter((row) => row.priceUsd !== null);

describe('paymentManifest()', () => {
  it('joins every paid operation of the compiled manifest with what is accepted here', async () => {
    const bare = await tinyService({ files: describedFiles() });
    const service = { ...bare, operator: { ...bare.operator, tokens: tinyTokens() } };
    const body = jsonOf(await paymentManifest(service));
    expect(body).toMatchObject({
      version: 1,
      x402Version: 1,
      openapi: 'https://records.example/openapi.json',
      manifest: 'https://records.example/manifest?all=1',
    });
    expect(body.resources).toEqual(PAID.map((row) => `https://records.example${row.path}`));
    const items = body.items as Record<string, { maxAmountRequired: string }[]>[];
    expect(items.map((item) => item.accepts?.[0]?.maxAmountRequired)).toEqual(
      items.map((item) => item.price_atomic),
    );
    expect(items[0]).toMatchObject({ path: '/gauge', method: 'GET', price_usd: '0.01' });
  });

  it('leaves out what cannot be bought for want of a token secret', async () => {
    const service = await tinyService({ files: describedFiles() });
    const body = jsonOf(await paymentManifest(service));
    const sold = PAID.filter(({ path }) => path !== '/gauge/subscribe');
    expect(body.resources).toEqual(sold.map((row) => `https://records.example${row.path}`));
    const items = body.items as { resource: string }[];
    expect(items.map(({ resource }) => resource)).toEqual(body.resources);
  });

  it('is nothing for a release that was compiled without descriptions', async () => {
    expect(await paymentManifest(await tinyService())).toEqual({ kind: 'miss' });
  });
});

import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { channelsSchema } from '../../../compiler/products/shapes/free-body-schemas.ts';
import { channels, paymentManifest } from '../../../gatekeeper/rooms/channels.ts';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import { jsonOf, tinyService, tinyTokens } from '../tiny-service.ts';

describe('channels()', () => {
  it('names networks, asset and payee, and says loudly that no money moves', async () => {
    const service = await tinyService();
    const body = jsonOf(await channels(service));
    expect(body).toMatchObject({
      warning: expect.stringMatching(/^TEST-ONLY/),
      x402: { test_only: true, networks: ['base-sepolia', 'eip155:84532'] },
      mcp: { available: true },
      subscription: { configured: false, available: false },
      human_track: { phase_today: 'half_price' },
      fiat: { configured: false },
    });
    const real = { ...service, operator: { ...service.operator, settlement: 'relayer' as const } };
    expect(jsonOf(await channels(real))).not.toHaveProperty('warning');
  });

  it('says whether accounts with code can pay: where there is a chain to ask them on', async () => {
    const service = await tinyService();
    expect(jsonOf(await channels(service))).toMatchObject({ x402: { smart_accounts: false } });
    const real = { ...service, operator: { ...service.operator, settlement: 'relayer' as const } };
    expect(jsonOf(await channels(real))).toMatchObject({ x402: { smart_accounts: true } });
  });

  it('has the contract of each of several networks, as its schema says', async () => {
    const service = await tinyService();
    const { 'base-sepolia': first, 'polygon-amoy': second } = NETWORKS;
    const operator = { ...service.operator, networks: [first, second] as const };
    const body = jsonOf(await channels({ ...service, operator }));
    expect(channelsSchema.parse(body).x402).toMatchObject({
      networks: ['base-sepolia', 'eip155:84532', 'polygon-amoy', 'eip155:80002'],
      asset: first.asset,
      assets: [{ asset: first.asset }, { network: 'polygon-amoy', asset: second.asset }],
    });
    const alone = channelsSchema.parse(jsonOf(await channels(service)));
    expect(alone.x402).not.toHaveProperty('assets');
  });
});

describe('tokens beside USDC', () => {
  it('stand with their decimals after USDC, and their network is named once', async () => {
    const service = await tinyService();
    const first = NETWORKS['base-sepolia'];
    const extra = { name: 'Euro Test', version: '1' };
    const euro = { ...first, asset: `0x${'e1'.repeat(20)}`, extra, decimals: 18 };
    const operator = { ...service.operator, networks: [first, euro] as const };
    const body = jsonOf(await channels({ ...service, operator }));
    expect(channelsSchema.parse(body).x402).toMatchObject({
      networks: ['base-sepolia', 'eip155:84532'],
      asset_symbol: 'USDC',
      assets: [
        { asset: first.asset },
        { asset: euro.asset, asset_symbol: 'Euro Test', decimals: 18 },
      ],
    });
    expect(channelsSchema.parse(body).x402.assets?.[0]).not.toHaveProperty('decimals');
  });
});

describe('the human track', () => {
  it.each([
    ['2026-08-30T23:59:59Z', 'free'],
    ['2026-08-31T00:00:00Z', 'half_price'],
    ['2026-12-31T23:59:59Z', 'half_price'],
    ['2027-01-01T00:00:00Z', 'full_price'],
  ])('at %s is %s', async (time, phase) => {
    const body = jsonOf(await channels(await tinyService({}, Date.parse(time))));
    expect(body).toMatchObject({ human_track: { phase_today: phase } });
  });
});

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
    const listed = [...sold.map((row) => row.path), '/gauge/basket'];
    expect(body.resources).toEqual(listed.map((path) => `https://records.example${path}`));
    const items = body.items as Record<string, string>[];
    expect(items.map(({ resource }) => resource)).toEqual(body.resources);
    expect(items.slice(0, -1).map(({ price_usd }) => price_usd)).toEqual(
      sold.map(({ priceUsd }) => priceUsd),
    );
    expect(items[0]).toMatchObject({ method: 'GET', price_usd: '0.01' });
    const open = jsonOf(paymentManifest(plain)).resources as string[];
    const subscribe = 'https://records.example/gauge/subscribe';
    expect(open).toEqual(
      listed.map((path) => `https://records.example${path}`).filter((url) => url !== subscribe),
    );
    expect(body.resources).toContain(subscribe);
  });

  it('lists nothing that is not stored', async () => {
    const body = jsonOf(paymentManifest(await tinyService()));
    expect(body.resources).not.toContain('https://records.example/gauge/japan-region');
  });
});

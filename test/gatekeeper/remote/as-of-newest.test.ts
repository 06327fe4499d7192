import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOfShop, asOfTarget, asOfTime } from '../../as-of-shop.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { tideCatalog } from '../../tide-shop.ts';
import { closeGates, hostedGate } from './hosted-gate.ts';
import { closeSites, staticSite } from './static-site.ts';

const RELEASES = 2;
const EVENT = 'as_of_newest_only';

let shop: Awaited<ReturnType<typeof asOfShop>>;
beforeAll(async () => {
  shop = await asOfShop(RELEASES);
}, 60_000);
afterAll(async () => {
  await closeGates();
  await closeSites();
  removeFolders();
});

const gateOver = (data: string) =>
  hostedGate({ data, env: { SIGNALPRESS_ISSUER_DID: shop.issuer } });

describe('a shop that sells records of earlier times', () => {
  it('says of a host that it gives those of the newest release alone, and sells no other', async () => {
    const gate = await gateOver((await staticSite(shop.data)).url);
    const warnings = (await gate.events()).filter(({ event }) => event === EVENT);
    expect(warnings).toEqual([
      {
        event: EVENT,
        warning: expect.stringMatching(/^"\/gauge\/as-of" .* a folder, not from a host$/),
      },
    ]);
    const [older, newest] = [asOfTime(0), asOfTime(RELEASES - 1)];
    expect((await gate.buy(asOfTarget(newest))).status).toBe(200);
    const { status, text } = await gate.buy(asOfTarget(older));
    expect([status, gate.settled()]).toEqual([422, 1]);
    expect(JSON.parse(text).error).toContain(`from ${newest} to ${newest}`);
  });

  it('says nothing of a folder, which has the earlier ones', async () => {
    const gate = await gateOver(shop.data);
    expect((await gate.buy(asOfTarget(asOfTime(0)))).status).toBe(200);
    expect(gate.reported(EVENT)).toBe(false);
  });

  it('says nothing of a host once it sells them no more', async () => {
    await shop.publish(tideCatalog());
    const gate = await gateOver((await staticSite(shop.data)).url);
    expect((await gate.buy(asOfTarget(asOfTime(RELEASES)))).status).toBe(404);
    expect(gate.reported(EVENT)).toBe(false);
  });
});

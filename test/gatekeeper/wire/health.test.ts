import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paymentAt, type TinyGate, tinyGate } from '../tiny-gate.ts';
import { TINY_NOW } from '../tiny-release.ts';
import { emptyJournal } from '../tiny-service.ts';

/** It answers, if with nothing that helps. */
const none = async () => ({ verdict: 'none', detail: 'x', status: 500 }) as const;
const SILENT = { verify: none, settle: none, supported: none };

const WARNING = expect.stringMatching(/^TEST-ONLY.*no money moves/);

let gate: TinyGate;
beforeAll(async () => {
  gate = await tinyGate();
});
afterAll(() => gate.close());

const ask = (target: string, method = 'GET', at = gate): Promise<Response> =>
  fetch(at.url + target, { method });

describe('/healthz', () => {
  it('is not ready while the clock is behind the journal', async () => {
    for (const ahead of [0, 60_000]) {
      const at = await tinyGate({ journal: emptyJournal(TINY_NOW + ahead) });
      const answer = await ask('/healthz', 'GET', at);
      // It serves, so a balancer goes on.
      expect(answer.status).toBe(200);
      const health = (await answer.json()) as object;
      if (ahead === 0) expect(health).toMatchObject({ status: 'ready', sells: { ok: true } });
      else
        expect(health).toMatchObject({
          status: 'not_ready',
          why: [expect.stringMatching(/^the clock is behind the payment journal/)],
          serves: { ok: true },
          sells: { ok: false, reasons: [{ reason: 'clock_behind' }] },
          publishes: { ok: true },
          release: { sequence: 1 },
        });
      await at.close();
    }
  });

  it('I46: is told to whoever is over the rate limit, and nothing else is', async () => {
    const at = await tinyGate({ config: { rateLimit: 1 } });
    const statuses = async (target: string): Promise<Set<number>> => {
      const all = await Promise.all(Array.from({ length: 40 }, () => ask(target, 'GET', at)));
      return new Set(all.map(({ status }) => status));
    };
    expect(await statuses('/gauge/preview')).toContain(429);
    expect(await statuses('/healthz')).toEqual(new Set([200]));
    await at.close();
  });

  it('is not ready while payments cannot be written down', async () => {
    const full = { ...emptyJournal(), claim: () => Promise.reject(new Error('disk is full')) };
    const at = await tinyGate({ journal: full });
    const target = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
    const header = await paymentAt(at.url + target);
    expect((await ask('/healthz', 'GET', at)).status).toBe(200);
    const bought = await fetch(at.url + target, { headers: { 'x-payment': header } });
    expect(bought.status).toBe(503);
    const answer = await ask('/healthz', 'GET', at);
    expect(answer.status).toBe(200);
    const why = 'the payment journal cannot be written: see the log';
    expect(await answer.json()).toMatchObject({
      status: 'not_ready',
      why: [why],
      sells: { ok: false, reasons: [{ reason: 'journal_failing', why }] },
    });
    expect(at.logged).toContainEqual(
      expect.objectContaining({ event: 'journal_failing', ok: false, error: 'disk is full' }),
    );
    await at.close();
  });

  it('is not ready while the folder of releases is gone, and ready again when it is back', async () => {
    const at = await tinyGate();
    const [link, aside] = [join(at.dataDir, 'current'), join(at.dataDir, 'aside')];
    renameSync(link, aside);
    await at.checkRelease();
    const answer = await ask('/healthz', 'GET', at);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      status: 'not_ready',
      why: ['the folder of releases cannot be read'],
      serves: { ok: true },
      publishes: { ok: false, reasons: [{ reason: 'releases_lost' }] },
    });
    renameSync(aside, link);
    await at.checkRelease();
    expect(await (await ask('/healthz', 'GET', at)).json()).toMatchObject({ status: 'ready' });
    await at.close();
  });

  it('tells a balancer to go elsewhere while the files of the release are gone, and when it stops', async () => {
    const at = await tinyGate();
    const aside = `${at.dataDir}-aside`;
    renameSync(at.dataDir, aside);
    await at.checkRelease();
    const answer = await ask('/healthz', 'GET', at);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      serves: { ok: false, reasons: [{ reason: 'release_lost' }] },
      sells: { ok: true },
    });
    renameSync(aside, at.dataDir);
    await at.checkRelease();
    expect((await ask('/healthz', 'GET', at)).status).toBe(200);
    await at.close('SIGTERM');
    expect(at.logged.slice(-2)).toMatchObject([
      { event: 'stopping', state: 'serves', ok: false, signal: 'SIGTERM' },
      { event: 'stopped' },
    ]);
  });

  it('I58: says that payments are pretended, and that no secret is set for what the release offers', async () => {
    const body = await (await ask('/healthz')).json();
    const noSecret = expect.stringContaining('SIGNALPRESS_TOKEN_SECRET');
    expect(body).toMatchObject({ status: 'ready', warnings: [WARNING, noSecret] });
  });

  it.each([
    ['a price question', '/gauge', {}],
    ['a 402', '/gauge?entity=us-chicago&signal_id=airquality.aqi', {}],
    ['a refusal', '/gauge?entity=us-chicago&signal_id=airquality.aqi', { 'x-payment': 'none' }],
  ])(
    'I58: %s says in both versions that payments are pretended, and only then',
    async (_, target, headers) => {
      const settled = await tinyGate({
        config: { relayerKey: '11'.repeat(32) },
        facilitator: SILENT,
      });
      const stated = async (at: TinyGate): Promise<unknown[]> => {
        const answer = await fetch(at.url + target, { headers });
        const v1 = (await answer.json()) as { accepts: object[]; warning?: string };
        const required = answer.headers.get('payment-required') ?? '';
        const v2 = JSON.parse(Buffer.from(required, 'base64').toString('utf8'));
        expect(JSON.stringify([v1.accepts, v2.accepts])).not.toContain('TEST-ONLY');
        return [answer.status, v1.warning, v2.warning];
      };
      expect(await stated(gate)).toEqual([402, WARNING, WARNING]);
      expect(await stated(settled)).toEqual([402, undefined, undefined]);
      await settled.close();
    },
  );

  it('says who settles', async () => {
    const url = 'https://facilitator.example';
    const relayerKey = '11'.repeat(32);
    for (const [config, settlement] of [
      [{ facilitatorUrls: [url] }, 'facilitator'],
      [{ relayerKey }, 'relayer'],
    ] as const) {
      const at = await tinyGate({ config, facilitator: SILENT });
      const body = (await (await ask('/healthz', 'GET', at)).json()) as object;
      expect(body).toMatchObject({ status: 'ready', settlement });
      expect(body).not.toHaveProperty('facilitator');
      expect(JSON.stringify(body)).not.toContain('TEST-ONLY');
      await at.close();
    }
  });
});

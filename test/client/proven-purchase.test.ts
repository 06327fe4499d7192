import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientOptions, signalpressClient } from '../../compiler/client/signalpress-client.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { NOW_MS } from '../gatekeeper/payer.ts';
import { sampleGate } from '../sample-gate.ts';
import {
  compileFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { payingFetch } from './paying-fetch.ts';

const SIGNAL = 'hydrology.river-level';
const PARAMS = { signal_id: SIGNAL, entity: '08167000' } as const;
const TARGET = `/gauge?entity=08167000&signal_id=${SIGNAL}`;
const OTHER = TARGET.replace('08167000', '08158000');

let gate: Gatekeeper;
let issuer: string;
beforeAll(async () => {
  const times = { observed_at: '2026-11-20T09:00:00Z', collected_at: '2026-11-20T09:20:00Z' };
  const lines = ndjson(['08167000', '08158000'].map((at) => reading(at, { stage_ft: 4 }, times)));
  const { data } = await compileFolder(writeSnapshots({ [`2026-11-20/${SIGNAL}.ndjson`]: lines }));
  issuer = readJson(join(data, 'current'), 'release.json').issuer_did;
  gate = await sampleGate(data);
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

const client = (more: Partial<ClientOptions> = {}) =>
  signalpressClient({
    baseUrl: gate.url,
    issuer,
    pay: payingFetch,
    wait: async () => undefined,
    clock: () => NOW_MS,
    ...more,
  });

/** A service that changes what it sells on its way. */
const lying = (change: (text: string) => string): Partial<ClientOptions> => ({
  fetch: async (request) => {
    const answer = await fetch(request);
    const { status, headers } = answer;
    const text = await answer.text();
    const own = new Headers([...headers].filter(([name]) => name !== 'content-length'));
    return new Response(status === 200 ? change(text) : text, { status, headers: own });
  },
});
const stripped = (text: string): string => text.replaceAll(/"_proof":"[^"]*",/g, '');

describe('a purchase', () => {
  it('brings a proof that the client checks, be it alone or in a basket', async () => {
    const bought = await client({ demandsProof: true }).buy('/gauge', PARAMS);
    expect(bought.report?.checks).toContainEqual(
      expect.objectContaining({ check: 'logged', status: 'pass' }),
    );
    const basket = await client({ demandsProof: true }).buyBasket([TARGET]);
    expect(basket.report?.checks).toContainEqual(
      expect.objectContaining({ check: 'logged', where: 'parts[0].answer._proof', status: 'pass' }),
    );
  });

  it('without a proof is refused by who demands it, and taken by who does not', async () => {
    const demanding = client({ ...lying(stripped), demandsProof: true });
    const refusal = { code: 'unverified', message: expect.stringContaining('no proof') };
    await expect(demanding.buy('/gauge', PARAMS)).rejects.toMatchObject(refusal);
    await expect(demanding.buyBasket([TARGET])).rejects.toMatchObject(refusal);
    expect((await client(lying(stripped)).buy('/gauge', PARAMS)).report?.verdict).toBe('verified');
  });

  it('with a false proof is refused by everybody', async () => {
    const forged = (text: string): string => text.replace(/"_proof":"c2sp[^"]*index \d+/, '$&0');
    await expect(client(lying(forged)).buy('/gauge', PARAMS)).rejects.toMatchObject({
      code: 'unverified',
      message: expect.stringContaining('proof of inclusion'),
    });
  });

  it('has none where the request leaves it out, whoever demands it', async () => {
    const demanding = client({ demandsProof: true });
    const { text } = await demanding.buy('/gauge', { ...PARAMS, proof: '0' });
    expect(text).not.toContain('_proof');
    const basket = await demanding.buyBasket([`${TARGET}&proof=0`]);
    expect(basket.text).not.toContain('_proof');
    const mixed = [`${TARGET}&proof=0`, OTHER];
    expect((await demanding.buyBasket(mixed)).text.match(/"_proof":/g)).toHaveLength(1);
    const stripping = client({ ...lying(stripped), demandsProof: true });
    await expect(stripping.buyBasket(mixed)).rejects.toMatchObject({
      code: 'unverified',
      message: expect.stringContaining('no proof'),
    });
    expect((await demanding.buy('/gauge/subscribe', {}, { maxUsd: '100' })).body).toHaveProperty(
      'token',
    );
  });
});

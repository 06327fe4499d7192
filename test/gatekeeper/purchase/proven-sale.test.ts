import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseJson } from '../../../compiler/contract/strict-json.ts';
import { parseTlogProof } from '../../../compiler/contract/tlog-proof.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import type { RequirementsV1 } from '../../../gatekeeper/money/payment.ts';
import { type Gatekeeper, startGatekeeper } from '../../../gatekeeper/start.ts';
import {
  compileFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { NOW_MS, payer } from '../payer.ts';
import { tinyConfig } from '../tiny-gate.ts';

const SIGNAL = 'hydrology.river-level';
const [STEADY, MOVING] = ['08167000', '08158000'] as const;
const target = (entity: string) => `/gauge?entity=${entity}&signal_id=${SIGNAL}`;
const batch = (hour: string, entities: readonly string[]) =>
  ndjson(
    entities.map((entity) =>
      reading(
        entity,
        { stage_ft: Number(hour) },
        { observed_at: `2026-11-20T${hour}:00:00Z`, collected_at: `2026-11-20T${hour}:20:00Z` },
      ),
    ),
  );

let gate: Gatekeeper;
let [snapshots, data, did] = ['', '', ''];
beforeAll(async () => {
  snapshots = writeSnapshots({ [`2026-11-20/${SIGNAL}.ndjson`]: batch('09', [STEADY, MOVING]) });
  data = (await compileFolder(snapshots)).data;
  did = readJson(join(data, 'current'), 'release.json').issuer_did;
  gate = await startGatekeeper(tinyConfig(data), { clock: () => NOW_MS, log: () => undefined });
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

async function signed(path: string): Promise<string> {
  const { accepts } = (await (await fetch(gate.url + path)).json()) as {
    accepts: readonly [RequirementsV1];
  };
  return payer(NETWORKS['base-sepolia']).header(accepts[0]);
}

async function send(path: string, payment: string) {
  const response = await fetch(gate.url + path, { headers: { 'x-payment': payment } });
  return { status: response.status, text: await response.text() };
}

const buy = async (path: string) => send(path, await signed(path));

function sizeIn(text: string): number {
  const body = parseJson(text);
  const report = verifyBody(body, { trust: [did], now: NOW_MS, proof: 'demanded' });
  expect(report.verdict).toBe('verified');
  const { _proof } = body as { readonly _proof: string };
  return parseTlogProof(_proof).signed.size;
}

describe('a purchase with its proof', () => {
  it('is delivered again with the very bytes after the log grew; a new one is proven in the log of now', async () => {
    const payment = await signed(target(STEADY));
    const first = await send(target(STEADY), payment);
    expect(first.status).toBe(200);
    writeSnapshots({ [`2026-11-20T12Z/${SIGNAL}.ndjson`]: batch('12', [MOVING]) }, snapshots);
    await compileFolder(snapshots, { data, asOf: '2026-11-20T12:30:00Z' });
    await gate.checkRelease();
    expect(await send(target(STEADY), payment)).toEqual(first);
    expect(sizeIn((await buy(target(STEADY))).text)).toBeGreaterThan(sizeIn(first.text));
    expect(sizeIn((await buy(target(MOVING))).text)).toBeGreaterThan(sizeIn(first.text));
  });

  it('is bound to proof=0 where that was asked: a payment without it buys no other form', async () => {
    const without = `${target(STEADY)}&proof=0`;
    const payment = await signed(without);
    const sold = await send(without, payment);
    expect(JSON.parse(sold.text)).not.toHaveProperty('_proof');
    expect(await send(without, payment)).toEqual(sold);
    expect((await send(target(STEADY), payment)).status).toBe(402);
  });

  it('is refused without a charge where the log cannot be read; the same payment buys it once that can', async () => {
    const tiles = join(data, 'files/log/tile/0');
    const files = readdirSync(tiles, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name));
    const whole = files.map((file) => readFileSync(file));
    await gate.close();
    gate = await startGatekeeper(tinyConfig(data), { clock: () => NOW_MS, log: () => undefined });
    for (const file of files) writeFileSync(file, 'damaged');
    const payment = await signed(target(STEADY));
    const refused = await send(target(STEADY), payment);
    expect(refused).toMatchObject({ status: 503, text: expect.stringContaining('Not charged') });
    expect((await buy(`${target(STEADY)}&proof=0`)).status).toBe(200);
    for (const [at, file] of files.entries()) writeFileSync(file, whole[at] ?? '');
    // That the log was broken is remembered for a few seconds.
    const sold = await vi.waitFor(
      async () => {
        const answer = await send(target(STEADY), payment);
        expect(answer.status).toBe(200);
        return answer.text;
      },
      { timeout: 10_000, interval: 250 },
    );
    expect(sizeIn(sold)).toBeGreaterThan(0);
  });
});

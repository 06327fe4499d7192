import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { buyer, send } from './buyer.ts';
import { type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { openStall, PAYEE, type Stall } from './stall.ts';

/** The built command over the journal of a stall and a chain. */
const network = NETWORKS['base-sepolia'];
const GATE = resolve('build/gatekeeper/signalpress-gate.js');
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const alice = buyer(network, 'alice');
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

let chain: Chain;
let facilitator: ChainFacilitator;
beforeAll(async () => {
  chain = await startChain({ network });
  await chain.mint(alice.address, 1_000_000_000n);
  facilitator = await chainFacilitator(chain);
});
afterAll(async () => {
  await facilitator?.close();
  await chain?.close();
});

function ledger(stall: Stall, ...args: string[]) {
  const run = spawnSync(process.execPath, [GATE, 'ledger', ...args], {
    encoding: 'utf8',
    cwd: stall.dataDir,
    env: {
      PATH: process.env.PATH,
      SIGNALPRESS_STATE: stall.stateDir,
      SIGNALPRESS_PAY_TO: PAYEE,
      SIGNALPRESS_NETWORK: network.name,
      SIGNALPRESS_RPC_URL: chain.url,
      SIGNALPRESS_FACILITATOR_URL: facilitator.url,
    },
  });
  const findings = run.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, string>);
  return { code: run.status, findings, notes: run.stderr };
}

describe('ledger audit', () => {
  it('I61: agrees after sales, names a payment that no row knows, and says when it cannot compare', async () => {
    const stall = await openStall({ chain, facilitatorUrl: facilitator.url });
    const audit = (...args: string[]) =>
      ledger(stall, 'audit', '--days', '1', '--until', TOMORROW, '--format', 'ndjson', ...args);
    for (const version of [1, 2] as const) {
      const purchase = await alice.sign(stall.url, RECORD, { version });
      expect((await send(stall.url, purchase))?.status).toBe(200);
    }
    const agreed = audit();
    expect([agreed.code, agreed.findings]).toEqual([0, []]);
    expect(agreed.notes).toMatch(
      /compared from .* settled payments 2, transfers 2; missing 0, foreign 0, reorganised 0, undelivered 0/,
    );
    const foreign = await alice.sign(stall.url, RECORD);
    const transaction = await chain.submit(foreign.payment);
    const found = audit();
    expect([found.code, found.findings]).toEqual([
      1,
      [expect.objectContaining({ kind: 'foreign', transaction, reason: 'no row knows it' })],
    ]);
    // By default what is newer than ten minutes is left alone.
    expect(ledger(stall, 'audit', '--days', '1')).toMatchObject({ code: 0, findings: [] });
    await chain.client.request({ method: 'anvil_setChainId', params: [1] } as never);
    const silent = audit();
    await chain.client.request({ method: 'anvil_setChainId', params: [network.chainId] } as never);
    expect(silent.code).toBe(2);
    expect(silent.notes).toMatch(
      /not compared: base-sepolia: Cannot ask the chain node: ChainMismatch/,
    );
    await stall.close();
  });
});

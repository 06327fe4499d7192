import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOURNAL_NAME, openJournalFile } from '../../gatekeeper/heart/journal/journal-file.ts';
import { ledgerCommand } from '../../gatekeeper/heart/journal/ledger-command.ts';
import { sqliteJournal } from '../../gatekeeper/heart/journal/sqlite-journal.ts';
import { withBooks, writtenJournalFile } from '../../gatekeeper/heart/journal/with-journal.ts';
import { addBooksCommands } from '../../gatekeeper/operate/books/books-command.ts';
import { type Payback, payBack } from '../../gatekeeper/operate/books/refunds.ts';
import { loadConfig } from '../../gatekeeper/settings/load-config.ts';
import { openChain } from '../../gatekeeper/settle/chain/open-chain.ts';
import type { Journal } from '../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { signedText } from '../../gatekeeper/settle/payment.ts';
import { payer, type SignedPayment, windowAt } from '../gatekeeper/payer.ts';
import { buyer, send } from './buyer.ts';
import { type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { openStall, PAYEE, type Stall } from './stall.ts';

const network = NETWORKS['base-sepolia'];
const VALUE = 20_000n;
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
const alice = payer(network, 'alice');
const folder = mkdtempSync(join(tmpdir(), 'refunds-'));

type Key = `0x${string}`;
let chain: Chain;
let account: { readonly address: string; readonly key: Key };
let other: { readonly address: string; readonly key: Key };
beforeAll(async () => {
  chain = await startChain({ network });
  await chain.mint(alice.address, 1_000_000_000n);
  account = await chain.relayer();
  other = await chain.relayer();
});
afterAll(async () => {
  await chain?.close();
  rmSync(folder, { recursive: true });
});

let shops = 0;
/** A journal of its own and a payee of its own, so that no shop sees the sales of another. */
async function shop() {
  shops += 1;
  const stateDir = join(folder, String(shops));
  mkdirSync(stateDir);
  const path = join(stateDir, JOURNAL_NAME);
  const payTo = privateKeyToAccount(`0x${String(shops).padStart(64, '7')}`).address;
  const keyFile = join(stateDir, 'refund.key');
  const place = { stateDir, journal: 'sqlite' };
  const journal: Journal & { close(): void } = sqliteJournal({ path, clock: () => Date.now() });
  const claim = async (): Promise<{ key: string; payment: SignedPayment }> => {
    const payment = await alice.sign(payTo, String(VALUE), windowAt());
    const { from, nonce, validBefore } = payment.authorization;
    const key = `${network.name}|${network.asset}|${from}|${nonce}`.toLowerCase();
    const block = await chain.client.getBlock();
    await journal.claim({
      key,
      resource: 'GET /gauge?entity=a',
      version: 1,
      signed: signedText(payment),
      body: Buffer.from(`{"body":"${key}"}`),
      contentType: 'application/json',
      value: String(VALUE),
      validBefore: Number(validBefore),
      claimBlock: `${block.number}:${block.hash}`,
    });
    return { key, payment };
  };
  return {
    journal,
    place,
    payTo,
    /** Refused, and paid afterwards. */
    async late(): Promise<string> {
      const { key, payment } = await claim();
      await journal.conclude({ key, state: 'refused', detail: 'insufficient_funds' });
      await chain.submit(payment);
      return key;
    },
    /** Settled while nobody waited; its bytes are gone since, or not. */
    async unseen({ isKept = false, isWaiting = true } = {}): Promise<string> {
      const { key, payment } = await claim();
      const transaction = await chain.submit(payment);
      await journal.conclude({ key, state: 'settled', transaction, isWaiting });
      const db = openJournalFile(path);
      if (!isKept) db.exec('DELETE FROM body');
      db.close();
      return key;
    },
    async ledger(payer: { readonly key: Key }, ...args: string[]) {
      writeFileSync(keyFile, payer.key, { mode: 0o600 });
      const said = { out: '', notes: '', code: -1 };
      const options = { pay_to: payTo, network: network.name, rpc_url: chain.url, state: stateDir };
      const config = () =>
        loadConfig({
          options: { ...options, facilitator_url: 'http://127.0.0.1:9' },
          env: {},
          fileText: null,
        });
      const by = {
        place,
        config,
        clock: () => Date.now(),
        write: (text: string) => {
          said.out += text;
        },
        note: (text: string) => {
          said.notes += text;
        },
        setExitCode: (code: number) => {
          said.code = code;
        },
      };
      const command = ledgerCommand(by).exitOverride();
      addBooksCommands(command, by);
      const usual = ['refunds', '--days', '1', '--until', TOMORROW, '--format', 'ndjson'];
      await command.parseAsync([...usual, '--key', keyFile, ...args], { from: 'user' });
      const rows = said.out.split('\n').filter((line) => line !== '');
      return { ...said, rows: rows.map((row) => JSON.parse(row) as Record<string, string>) };
    },
    close: () => journal.close(),
  };
}

async function gained(work: () => Promise<unknown>): Promise<bigint> {
  const before = await chain.balanceOf(alice.address);
  await work();
  return (await chain.balanceOf(alice.address)) - before;
}

describe('ledger refunds', () => {
  it('I61: lists what is owed with its reason, and nothing that can still be delivered', async () => {
    const one = await shop();
    const gone = await one.unseen();
    await one.unseen({ isWaiting: false });
    const late = await one.late();
    await one.unseen({ isKept: true });
    const listed = await one.ledger(account);
    expect(listed.rows.map(({ state, key, reason }) => [state, key, reason])).toEqual([
      ['owed', gone, 'its answer is no longer kept'],
      ['owed', late, 'it was paid after it was refused as insufficient_funds'],
    ]);
    expect(listed.rows[0]).toMatchObject({
      payer: alice.address.toLowerCase(),
      value: String(VALUE),
      token: 'USDC',
      network: network.name,
      refund_transaction: '',
    });
    expect([listed.code, listed.notes]).toEqual([1, 'refunds: 0 paid back, 2 open\n']);
    one.close();
  });

  it('I61: pays each back once, however often it is asked, and says what the account lacks', async () => {
    const one = await shop();
    await one.unseen();
    await one.late();
    const poor = await gained(async () => {
      const said = await one.ledger(account, '--send');
      expect(said.code).toBe(1);
      expect(said.notes).toContain(
        `${account.address.toLowerCase()} holds too little; send it USDC`,
      );
    });
    expect(poor).toBe(0n);
    await chain.mint(account.address, 10n * VALUE);
    const paid = await gained(async () => {
      const said = await one.ledger(account, '--send');
      expect([said.code, said.notes]).toEqual([0, 'refunds: 2 paid back, 0 open\n']);
      for (const { state, refund_transaction } of said.rows) {
        expect(state).toBe('sent');
        const hash = refund_transaction as Key;
        expect((await chain.client.getTransactionReceipt({ hash })).status).toBe('success');
      }
    });
    expect(paid).toBe(2n * VALUE);
    const again = await gained(async () => {
      for (const by of [account, other]) {
        const said = await one.ledger(by, '--send');
        expect(said.rows.map(({ state }) => state)).toEqual(['sent', 'sent']);
      }
    });
    expect(again).toBe(0n);
    one.close();
  });

  it('I61: a crash between the transfer and its note pays once, also where another account goes on', async () => {
    const one = await shop();
    const key = await one.late();
    await chain.mint(account.address, 10n * VALUE);
    await chain.mint(other.address, 10n * VALUE);
    const crashing = await paybackOf(account.key);
    const paid = await gained(async () => {
      const crash = withBooks(
        one.place,
        async (books) => {
          const row = await books.row(key);
          if (row === null) throw new Error('no row');
          const settle: Payback['settler']['settle'] = async (...request) => {
            await crashing.settler.settle(...request);
            throw new Error('killed');
          };
          return payBack(row, { ...crashing, settler: { settle } }, books, Date.now());
        },
        writtenJournalFile,
      );
      await expect(crash).rejects.toThrow('killed');
      expect((await one.ledger(account)).rows).toMatchObject([{ state: 'sending', key }]);
      const said = await one.ledger(other, '--send');
      expect(said.rows).toMatchObject([{ state: 'sent', key }]);
      expect((await one.ledger(account, '--send')).rows).toMatchObject([{ state: 'sent' }]);
    });
    expect(paid).toBe(VALUE);
    crashing.close();
    one.close();
  });

  it('I61: a crash before the transfer leaves the debt to the same account alone, until it is dead', async () => {
    const one = await shop();
    const key = await one.unseen();
    for (const by of [account, other]) await chain.mint(by.address, 10n * VALUE);
    await withBooks(
      one.place,
      async (books) => {
        const row = await books.row(key);
        if (row === null) throw new Error('no row');
        expect(await books.beginRefund(row, account.address.toLowerCase(), Date.now())).toBe(true);
        // Who read the row before cannot begin it too.
        expect(await books.beginRefund(row, other.address.toLowerCase(), Date.now())).toBe(false);
      },
      writtenJournalFile,
    );
    const paid = await gained(async () => {
      const said = await one.ledger(other, '--send');
      expect(said.rows).toMatchObject([{ state: 'sending' }]);
      expect(said.notes).toContain(`${account.address.toLowerCase()} may still pay it back`);
      expect((await one.ledger(account, '--send')).rows).toMatchObject([{ state: 'sent' }]);
    });
    expect(paid).toBe(VALUE);
    one.close();
  });

  it('I61: holds back what was refused, where the payee got payments that no row knows', async () => {
    const one = await shop();
    const [late, gone] = [await one.late(), await one.unseen()];
    await chain.submit(await alice.sign(one.payTo, String(VALUE), windowAt()));
    await chain.mint(account.address, 10n * VALUE);
    const paid = await gained(async () => {
      const said = await one.ledger(account, '--send');
      expect(said.rows.map(({ state, key }) => [state, key])).toEqual([
        ['sent', gone],
        ['held', late],
      ]);
      expect(said.code).toBe(1);
    });
    expect(paid).toBe(VALUE);
    one.close();
  });
});

async function paybackOf(relayerKey: Key): Promise<Payback & { close(): void }> {
  const settings = { network, rpcUrl: chain.url, confirmations: 1, maxFeeGwei: '50', relayerKey };
  const state = { ask: () => () => {} };
  const by = { clock: () => Date.now(), report: () => {}, state };
  const { direct, evidence, close } = await openChain(settings, by);
  if (direct === null) throw new Error('nobody settles');
  const own = privateKeyToAccount(relayerKey);
  return { network, account: own, settler: direct, evidence, close };
}

describe('ledger audit', () => {
  const GATE = resolve('build/gatekeeper/signalpress-gate.js');
  const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
  const alice = buyer(network, 'alice');
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

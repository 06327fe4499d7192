import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  acceptClock,
  JOURNAL_NAME,
  newestTime,
  openJournalFile,
} from '../../../../gatekeeper/heart/journal/journal-file.ts';
import { ledgerCommand } from '../../../../gatekeeper/heart/journal/ledger-command.ts';
import {
  keepingSettlements,
  openJournal,
  watchingWrites,
} from '../../../../gatekeeper/heart/journal/open-journal.ts';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { journalCheck } from '../../../../gatekeeper/operate/doctor/local-checks.ts';
import type { Facilitator } from '../../../../gatekeeper/settle/facilitator.ts';
import type { Claim, Conclusion } from '../../../../gatekeeper/settle/journal.ts';
import type { Requirements } from '../../../../gatekeeper/settle/payment.ts';
import { startGatekeeper } from '../../../../gatekeeper/start.ts';
import { StartError } from '../../../../gatekeeper/wire/start-error.ts';
import { closeGates, paymentFor, shippedGate } from '../../fleet/remote/hosted-gate.ts';
import { examined } from '../../operate/doctor/examined.ts';
import { NOW_MS, NOW_S, payer } from '../../payer.ts';
import { freshJournal, TX } from '../../payment-bench.ts';
import { tinyConfig } from '../../tiny-gate.ts';
import { TINY_NOW, tinyData, tinyDataDir, writeTinyRelease } from '../../tiny-release.ts';
import { UNTOLD } from '../../tiny-service.ts';

const NEWEST = 'newest-release.json';
const PAID = '/gauge?entity=us-chicago&signal_id=airquality.aqi';

/** A state folder in which a journal was opened, and of which a gatekeeper served. */
async function servedState(): Promise<string> {
  const stateDir = mkdtempSync(join(tmpdir(), 'lost-'));
  await (await opened(stateDir)).close();
  writeFileSync(join(stateDir, NEWEST), '{}\n');
  return stateDir;
}

const opened = (stateDir: string) =>
  openJournal({ stateDir, journal: 'sqlite' }, { clock: () => TINY_NOW, lost: UNTOLD });

async function ledger(stateDir: string, ...args: string[]): Promise<string> {
  let out = '';
  const write = (text: string): void => {
    out += text;
  };
  const place = { stateDir, journal: 'sqlite' };
  const command = ledgerCommand({ place, write, note: write, clock: () => TINY_NOW });
  await command.exitOverride().parseAsync(args, { from: 'user' });
  return out;
}

/** A journal whose tables stood in a write-ahead log that is gone. */
function emptyDatabase(path: string): void {
  rmSync(path);
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.close();
}

/** Reads a journal as a command beside the gatekeeper does, in a process of its own, and ends. */
function readBeside(path: string): void {
  const program = `
    const db = new (require('libsql'))(process.argv[1], { readonly: true });
    db.prepare('SELECT count(*) FROM payment').get();
    db.close();`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', program, path], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
}

describe('a journal that was opened again', () => {
  it('keeps its log while others read it', async () => {
    const stateDir = await servedState();
    const books = await opened(stateDir);
    const log = join(stateDir, `${JOURNAL_NAME}-wal`);
    const before = statSync(log).ino;
    readBeside(join(stateDir, JOURNAL_NAME));
    expect(statSync(log).ino).toBe(before);
    expect(await books.journal.useOnce('a message', TINY_NOW + 1000)).toBe(true);
    await books.close();
  });
});

describe('a journal that is lost', () => {
  it.each<[string, (path: string) => void]>([
    ['is gone', (path) => rmSync(path)],
    ['is empty', (path) => writeFileSync(path, '')],
    ['holds no tables', emptyDatabase],
  ])('I16: is not taken for a new one where it %s', async (_, lose) => {
    const stateDir = await servedState();
    const path = join(stateDir, JOURNAL_NAME);
    lose(path);
    const names = () => readdirSync(stateDir).filter((name) => !/-(wal|shm)$/.test(name));
    const before = names();
    const message =
      `Cannot open payment journal "${path}": it is lost, for "${join(stateDir, NEWEST)}" shows that this shop has served; ` +
      'with an empty one, what was sold could be asked for and charged again; mount its disk, restore a backup ' +
      '(gatekeeper/README.md), move it with "ledger migrate", or correct SIGNALPRESS_STATE and SIGNALPRESS_JOURNAL; if it is lost for good, keep a copy of ' +
      'what is left and run "signalpress-gate ledger accept-loss"';
    await expect(opened(stateDir)).rejects.toBeInstanceOf(StartError);
    await expect(opened(stateDir)).rejects.toThrow(message);
    expect(names()).toEqual(before);
    const looked = journalCheck(examined({ config: { stateDir } }));
    await expect(looked).rejects.toThrow(message);
  });

  it('I16: is not taken for a new one where its write-ahead log is left, which stays as it is', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'lost-'));
    const log = join(stateDir, `${JOURNAL_NAME}-wal`);
    writeFileSync(log, 'what was committed last');
    await expect(opened(stateDir)).rejects.toThrow(`it is lost, for "${log}" shows`);
    expect(readdirSync(stateDir)).toEqual([`${JOURNAL_NAME}-wal`]);
  });

  it('is made anew once, when the operator says that it is lost for good', async () => {
    const stateDir = await servedState();
    const path = join(stateDir, JOURNAL_NAME);
    expect(await ledger(stateDir, 'accept-loss')).toBe(
      `nothing to accept: no payment journal is missing at "${path}"\n`,
    );
    rmSync(path);
    expect(await ledger(stateDir, 'accept-loss')).toMatch(
      /^accepted the loss: the payment journal "[^"]*payments\.db" is empty, and gatekeepers start; /,
    );
    await (await opened(stateDir)).close();
    rmSync(path);
    await expect(opened(stateDir)).rejects.toThrow('it is lost');
  });

  it('is none where nothing was sold yet, nor in a new shop', async () => {
    const stateDir = await servedState();
    await (await opened(stateDir)).close();
    await (await opened(mkdtempSync(join(tmpdir(), 'lost-')))).close();
    expect(await ledger(stateDir, 'list')).toBe('no payments\n');
  });
});

/** What the process still holds of a removed journal, put where it was. */
function saved(pid: string, stateDir: string): void {
  const folder = `/proc/${pid}/fd`;
  for (const name of readdirSync(folder)) {
    const target = readlinkSync(join(folder, name));
    const file = /\/(payments\.db(?:-wal)?) \(deleted\)$/.exec(target)?.[1];
    if (file !== undefined) copyFileSync(join(folder, name), join(stateDir, file));
  }
}

describe('a shop that sold, and lost its journal', () => {
  afterEach(closeGates);

  it.runIf(existsSync('/proc/self/fd'))(
    'I16: gets it back from the process that still holds it, as SIGNS.md says (needs a build)',
    async () => {
      const data = tinyData();
      const gate = await shippedGate({ data });
      const { accepts } = JSON.parse((await gate.get(PAID)).text);
      const headers = {
        'x-payment': await paymentFor(accepts[0]),
        'payment-identifier': 'pay_0123456789abcdef',
      };
      const first = await fetch(gate.url + PAID, { headers });
      expect([first.status, gate.settled()]).toEqual([200, 1]);
      for (const side of ['', '-wal', '-shm']) rmSync(join(gate.state, JOURNAL_NAME + side));
      expect((await gate.buy(PAID)).status).toBe(503);
      const told = JSON.stringify(await gate.events());
      const pid = /do not restart: put it back, or save it from .{0,3}\/proc\/(\d+)\/fd/.exec(
        told,
      )?.[1];
      saved(String(pid), gate.state);
      await gate.kill('SIGTERM');
      expect(await ledger(gate.state, 'list')).toContain(' settled ');
      const again = await shippedGate({ data, state: gate.state });
      const repeat = await fetch(again.url + PAID, { headers });
      expect([repeat.status, await repeat.text()]).toEqual([200, await first.text()]);
      expect(again.settled()).toBe(0);
    },
  );

  it('I16: does not start, so that a repeat is not settled again', async () => {
    let settled = 0;
    const facilitator: Facilitator = {
      verify: async () => ({ verdict: 'valid' }),
      settle: async () => {
        settled += 1;
        return { verdict: 'settled', transaction: `0x${settled}` };
      },
      supported: async () => ({ verdict: 'none', detail: 'down' }),
    };
    const config = tinyConfig(tinyDataDir());
    writeTinyRelease(config.dataDir);
    const start = () =>
      startGatekeeper(config, { clock: () => TINY_NOW, log: () => undefined, facilitator });
    const gate = await start();
    const { accepts } = (await (await fetch(gate.url + PAID)).json()) as {
      accepts: Requirements[];
    };
    const header = await payer(config.network).header(accepts[0] as Requirements);
    const answer = await fetch(gate.url + PAID, { headers: { 'x-payment': header } });
    expect([answer.status, settled]).toEqual([200, 1]);
    await gate.close();
    const path = join(config.stateDir, JOURNAL_NAME);
    rmSync(path);
    await expect(start()).rejects.toThrow('it is lost');
    expect([existsSync(path), settled]).toEqual([false, 1]);
  });
});

const CLOCK_BACK_MS_MAX = 5000;
const YEAR_MS = 365 * 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'clock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** A journal that noted one sale at each time. */
async function journalOf(times: readonly number[]) {
  files += 1;
  const path = join(folder, `${files}.db`);
  const by = { now: 0 };
  const journal = sqliteJournal({ path, clock: () => by.now });
  const sell = async (now: number): Promise<void> => {
    by.now = now;
    const key = `key ${now}`;
    const claim = { key, resource: 'GET /', version: 1, signed: 's', contentType: 't' } as const;
    await journal.claim({ ...claim, body: Buffer.from('x'), value: '1', validBefore: 1 });
    await journal.conclude({ key, state: 'settled', transaction: '0x1' });
  };
  for (const time of times) await sell(time);
  return { path, journal, sell, by };
}

function accepted(path: string, nowMs: number) {
  const db = openJournalFile(path);
  try {
    return acceptClock(db, nowMs);
  } finally {
    db.close();
  }
}

describe('acceptClock()', () => {
  it('I33: sets aside what a clock that ran ahead noted, in the running gatekeeper and after its restart', async () => {
    const { path, journal, by } = await journalOf([NOW_MS, NOW_MS + YEAR_MS]);
    by.now = NOW_MS + 60_000;
    expect(journal.newestMs()).toBe(NOW_MS + YEAR_MS);
    expect(accepted(path, by.now)).toEqual({ newestMs: NOW_MS + YEAR_MS, payments: 1 });
    expect(journal.newestMs()).toBe(by.now);
    journal.close();
    const again = sqliteJournal({ path, clock: () => by.now });
    expect(again.newestMs()).toBe(by.now);
    expect(await again.find(`key ${NOW_MS + YEAR_MS}`)).toMatchObject({ state: 'settled' });
    again.close();
  });

  it('I33: still notices a clock that is set back before the accepted time, or before a sale after it', async () => {
    const { path, journal, sell, by } = await journalOf([NOW_MS + YEAR_MS]);
    by.now = NOW_MS;
    accepted(path, by.now);
    by.now = NOW_MS - CLOCK_BACK_MS_MAX - 1;
    expect(journal.newestMs()).toBe(NOW_MS);
    await sell(NOW_MS + 1000);
    by.now = NOW_MS - CLOCK_BACK_MS_MAX - 1;
    expect(journal.newestMs()).toBe(NOW_MS + 1000);
    journal.close();
    const db = openJournalFile(path);
    expect(newestTime(db)).toBe(NOW_MS + 1000);
    db.close();
  });

  it('accepts nothing where nothing keeps payments away, and may be used twice', async () => {
    const { path, journal, sell } = await journalOf([NOW_MS]);
    expect(accepted(path, NOW_MS - CLOCK_BACK_MS_MAX)).toBeNull();
    const empty = await journalOf([]);
    expect(accepted(empty.path, 1)).toBeNull();
    empty.journal.close();
    await sell(NOW_MS + YEAR_MS);
    expect(accepted(path, NOW_MS)?.payments).toBe(1);
    await sell(NOW_MS + 2 * YEAR_MS);
    expect(accepted(path, NOW_MS)?.payments).toBe(2);
    journal.close();
  });
});

const KEPT_SETTLEMENTS_MAX = 10_000;

const claimOf = (key: string): Claim => ({
  key,
  resource: 'GET /gauge',
  version: 1,
  signed: 's',
  body: Buffer.from(key),
  contentType: 'text/plain',
  value: '1',
  validBefore: NOW_S + 300,
});

/** A journal whose disk can be full, with what really stands in it. */
function onDisk() {
  const disk = { isFull: false, tried: 0 };
  const inner = freshJournal();
  const conclude = async (conclusion: Conclusion): Promise<void> => {
    disk.tried += 1;
    if (disk.isFull) throw new Error('disk is full');
    await inner.conclude(conclusion);
  };
  return { disk, inner, journal: keepingSettlements({ ...inner, conclude }) };
}
const SETTLED = { state: 'settled', transaction: TX, settledMs: 1234 } as const;
const settledAs = (key: string): Conclusion => ({ key, ...SETTLED });

describe('keepingSettlements()', () => {
  it('I2: a settlement that could not be written is known, delivered and written later', async () => {
    const { disk, inner, journal } = onDisk();
    await journal.claim(claimOf('a'));
    disk.isFull = true;
    await expect(journal.conclude(settledAs('a'))).rejects.toThrow('full');
    expect(await inner.find('a')).toMatchObject({ state: 'settling' });
    expect(await journal.find('a')).toMatchObject(SETTLED);
    expect(await journal.unresolved(0, 10)).toEqual([]);
    disk.isFull = false;
    expect(await journal.find('a')).toMatchObject(SETTLED);
    expect(await inner.find('a')).toMatchObject(SETTLED);
    inner.close();
  });

  it('I2: writes what it kept with the next look for open payments, and only once', async () => {
    const { disk, inner, journal } = onDisk();
    disk.isFull = true;
    for (const key of ['a', 'b', 'open']) await journal.claim(claimOf(key));
    for (const key of ['a', 'b'])
      await expect(journal.conclude(settledAs(key))).rejects.toThrow('full');
    disk.isFull = false;
    expect((await journal.unresolved(0, 10)).map(({ key }) => key)).toEqual(['open']);
    for (const key of ['a', 'b']) expect(await inner.find(key)).toMatchObject({ state: 'settled' });
    const { tried } = disk;
    await journal.unresolved(0, 10);
    await journal.find('a');
    expect(disk.tried).toBe(tried);
    inner.close();
  });

  it('keeps no refusal and no doubt: the next answer may be another one', async () => {
    const { disk, inner, journal } = onDisk();
    await journal.claim(claimOf('a'));
    disk.isFull = true;
    for (const state of ['refused', 'unknown'] as const)
      await expect(journal.conclude({ key: 'a', state })).rejects.toThrow('full');
    expect(await journal.find('a')).toMatchObject({ state: 'settling' });
    expect((await journal.unresolved(0, 10)).map(({ key }) => key)).toEqual(['a']);
    inner.close();
  });

  it('gives way to what somebody else wrote meanwhile, and forgets a key that is not there', async () => {
    const { disk, inner, journal } = onDisk();
    await journal.claim(claimOf('a'));
    disk.isFull = true;
    for (const key of ['a', 'absent'])
      await expect(journal.conclude(settledAs(key))).rejects.toThrow('full');
    disk.isFull = false;
    await inner.conclude({ key: 'a', state: 'settled', transaction: '0xother' });
    expect(await journal.find('a')).toMatchObject({ transaction: '0xother' });
    expect(await journal.find('absent')).toBeNull();
    const { tried } = disk;
    await journal.unresolved(0, 10);
    expect(disk.tried).toBe(tried);
    inner.close();
  });

  it('keeps a bounded number, and asks a full disk once for all of them', async () => {
    const { disk, inner, journal } = onDisk();
    disk.isFull = true;
    await journal.claim(claimOf('last'));
    for (let at = 0; at < KEPT_SETTLEMENTS_MAX; at++) {
      await journal.conclude(settledAs(`${at}`)).catch(() => {});
    }
    await journal.conclude(settledAs('last')).catch(() => {});
    expect(await journal.find('last')).toMatchObject({ state: 'settling' });
    inner.close();
  });
});

const WRITE_FAILURE_MS = 30_000;

const CLAIM: Claim = {
  key: 'a',
  resource: 'GET /',
  version: 1,
  signed: 's',
  body: Buffer.from('x'),
  contentType: 't',
  value: '1',
  validBefore: 1,
};

describe('watchingWrites()', () => {
  it('tells that a claim failed until one succeeds, or for a while', async () => {
    const by = { isFull: false, isLost: false, now: NOW_MS };
    const inner = freshJournal();
    const claim = (one: Claim): Promise<boolean> =>
      by.isFull ? Promise.reject(new Error('full')) : inner.claim(one);
    const clock = () => by.now;
    const { journal, failure } = watchingWrites(
      { ...inner, claim },
      { clock, isLost: () => by.isLost },
    );
    expect(await journal.claim(CLAIM)).toBe(true);
    expect(failure()).toBeNull();
    by.isFull = true;
    await expect(journal.claim(CLAIM)).rejects.toThrow('full');
    expect(failure()).toBe('full');
    by.isFull = false;
    // Taken by the first claim, which is an answer and no failure.
    expect(await journal.claim(CLAIM)).toBe(false);
    expect(failure()).toBeNull();
    by.isFull = true;
    await expect(journal.claim(CLAIM)).rejects.toThrow('full');
    by.now += WRITE_FAILURE_MS - 1;
    expect(failure()).toBe('full');
    by.now += 1;
    expect(failure()).toBeNull();
    inner.close();
  });
});

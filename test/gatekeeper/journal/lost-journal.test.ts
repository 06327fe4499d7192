import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, describe, expect, it } from 'vitest';
import { journalCheck } from '../../../gatekeeper/doctor/journal-check.ts';
import { JOURNAL_NAME } from '../../../gatekeeper/journal/journal-file.ts';
import { ledgerCommand } from '../../../gatekeeper/journal/ledger-command.ts';
import { openJournal } from '../../../gatekeeper/journal/open-journal.ts';
import type { Facilitator } from '../../../gatekeeper/money/facilitator.ts';
import type { Requirements } from '../../../gatekeeper/money/payment.ts';
import { startGatekeeper } from '../../../gatekeeper/start.ts';
import { StartError } from '../../../gatekeeper/system/start-error.ts';
import { examined } from '../doctor/examined.ts';
import { payer } from '../payer.ts';
import { closeGates, paymentFor, shippedGate } from '../remote/hosted-gate.ts';
import { UNTOLD } from '../state/untold.ts';
import { tinyConfig } from '../tiny-gate.ts';
import { TINY_NOW, tinyDataDir, writeTinyRelease } from '../tiny-release.ts';

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
      const data = tinyDataDir();
      writeTinyRelease(data);
      const gate = await shippedGate({ data });
      const { accepts } = JSON.parse((await gate.get(PAID)).text);
      const headers = { 'x-payment': await paymentFor(accepts[0]) };
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

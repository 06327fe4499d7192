import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOURNAL_NAME } from '../../gatekeeper/heart/journal/journal-file.ts';
import { backUpJournal } from '../../gatekeeper/heart/journal/ledger.ts';
import { ledgerCommand } from '../../gatekeeper/heart/journal/ledger-command.ts';
import { postgresJournal } from '../../gatekeeper/heart/journal/postgres-journal.ts';
import { sqliteJournal } from '../../gatekeeper/heart/journal/sqlite-journal.ts';
import { withBooks } from '../../gatekeeper/heart/journal/with-journal.ts';
import { audit } from '../../gatekeeper/operate/books/audit.ts';
import { examine } from '../../gatekeeper/operate/doctor/doctor-command.ts';
import { clockCheck, journalCheck } from '../../gatekeeper/operate/doctor/local-checks.ts';
import { dashboardCommand } from '../../gatekeeper/rooms/dashboard/dashboard-command.ts';
import type { Config } from '../../gatekeeper/settings/config.ts';
import { claimOf } from '../gatekeeper/heart/journal/journal-suite.ts';
import {
  blockTimeMs,
  claimed,
  HEAD,
  keyOf,
  PAYEE,
  type Paid,
  paidChain,
  transactionOf,
} from '../gatekeeper/operate/books/paid-chain.ts';
import { examined, reported } from '../gatekeeper/operate/doctor/examined.ts';
import { NOW_MS } from '../gatekeeper/payer.ts';
import { TINY_NOW } from '../gatekeeper/tiny-release.ts';
import { UNTOLD } from '../gatekeeper/tiny-service.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'postgres-ledger-'));
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

let now = NOW_MS;
const log = (): void => {};

async function ledger(place: { stateDir?: string; journal: string }, ...args: string[]) {
  let [out, notes] = ['', ''];
  const command = ledgerCommand({
    place: { stateDir: folder, ...place },
    write: (text) => {
      out += text;
    },
    note: (text) => {
      notes += text;
    },
    clock: () => now,
  });
  await command.exitOverride().parseAsync(args, { from: 'user' });
  return { out, notes };
}

async function rows(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const found = await client.query(text);
  await client.end();
  return found.rows;
}

const saleOf = (at: number) =>
  claimOf(`base|0xasset|0x${'a'.repeat(40)}|0x${at.toString(16).padStart(64, '0')}`, {
    resource: at % 2 ? 'GET /gauge?entity=a' : 'GET /gauge/ruler?entity=a',
    value: '9007199254740993',
    ...(at % 3 === 0 ? { usd: `${at}` } : {}),
    // Repeated and large bodies, also of more than one page.
    body: Buffer.alloc(at % 7 === 0 ? 40_000 : 100, `${at % 120} `),
  });

/** A journal in a file with sales, refusals, doubts and an accepted clock. */
async function fileWith(sales: number): Promise<string> {
  const state = mkdtempSync(join(folder, 'state-'));
  const path = join(state, JOURNAL_NAME);
  const journal = sqliteJournal({ path, clock: () => now });
  await Promise.all(
    Array.from({ length: sales }, async (_, at) => {
      const { key } = saleOf(at);
      await journal.claim(saleOf(at));
      const ends = [
        { key, state: 'settled', transaction: `0x${at}` },
        { key, state: 'refused', detail: 'no\0money ü' },
        { key, state: 'unknown', detail: 'timeout' },
      ] as const;
      const end = at % 10 < 7 ? ends[0] : ends[at % 10 === 7 ? 1 : 2];
      if (at % 10 !== 9) await journal.conclude(end);
    }),
  );
  journal.close();
  const db = new Database(path);
  db.exec('INSERT INTO accepted_clock(at, newest, payment_id) VALUES (1, 2, 3)');
  const kept = join(mkdtempSync(join(folder, 'state-')), JOURNAL_NAME);
  backUpJournal(db, kept);
  db.close();
  return dirname(kept);
}

/** A copy of a journal that this process never opened: it holds a file for a while after it closed it. */
function copyOf(state: string): string {
  const copy = mkdtempSync(join(folder, 'state-'));
  copyFileSync(join(state, JOURNAL_NAME), join(copy, JOURNAL_NAME));
  return copy;
}

const migrate = (state: string, journal: string) =>
  ledger({ journal }, 'migrate', '--state', copyOf(state));

describe('ledger over PostgreSQL', () => {
  it('lists, sums and exports the same as over a file, and accepts a clock', async () => {
    const state = await fileWith(2500);
    const journal = await server.freshUrl();
    await migrate(state, journal);
    const forms = [
      ['list', '--limit', '7'],
      ['list', '--only', 'refused'],
      ['export'],
      ['export', '--format', 'ndjson', '--only', 'unknown'],
      ['revenue'],
      ['revenue', '--by', 'path'],
      ['revenue', '--by', 'payer', '--since', '2030-01-01'],
    ];
    for (const form of forms) {
      const file = await ledger({ journal: 'sqlite', stateDir: state }, ...form);
      const shared = await ledger({ journal }, ...form);
      expect(shared.notes).toBe(file.notes);
      expect(shared.out).toBe(file.out.replaceAll('\0', '\ufffd'));
      // The folder that somebody names goes before the database of the settings.
      expect(await ledger({ journal }, ...form, '--state', state)).toEqual(file);
    }
    const minute = () => new Date(now).toISOString().slice(0, 16);
    const accept = () => ledger({ journal }, 'accept-clock', '--utc', minute());
    expect((await accept()).out).toMatch(/^nothing to accept/);
    now -= 7 * DAY_MS;
    expect((await accept()).out).toMatch(/^accepted the clock at .* as they are \(2500\)/);
    now += 7 * DAY_MS;
  });

  it('shows the dashboard of the database', async () => {
    const state = await fileWith(200);
    const journal = await server.freshUrl();
    await migrate(state, journal);
    const page = async (place: { stateDir: string; journal: string }): Promise<string> => {
      const out = join(folder, 'page.html');
      const onListen = (): void => {};
      const command = dashboardCommand({ place, note: log, clock: () => now, onListen });
      await command.parseAsync(['--out', out], { from: 'user' });
      return readFileSync(out, 'utf8');
    };
    const shown = await page({ stateDir: 'none', journal });
    const ofFile = await page({ stateDir: state, journal: 'sqlite' });
    // A journal in a file has a disk of its own.
    const disk = /<div><dt>Disk<.*?<\/div>/s;
    expect(ofFile).toMatch(disk);
    expect(shown).toBe(ofFile.replace(disk, ''));
    expect(shown).toContain('/gauge/ruler');
  });

  it('says what to do where there is no journal, no server, or another tool makes the copy', async () => {
    const journal = await server.freshUrl();
    await expect(ledger({ journal }, 'list')).rejects.toThrow(/the database holds none; name the/);
    await expect(ledger({ journal }, 'backup', 'x')).rejects.toThrow(/use pg_dump/);
    const nobody = 'postgres://shop:hunter2@127.0.0.1:1/shop';
    await expect(ledger({ journal: nobody }, 'list')).rejects.toThrow(
      /at "127\.0\.0\.1:1\/shop": .*ECONNREFUSED.*; start the server, or correct SIGNALPRESS_JOURNAL/,
    );
    await expect(ledger({ journal: nobody }, 'list')).rejects.not.toThrow(/hunter2/);
  });
});

describe('ledger migrate', () => {
  it('moves every row, says how many, and goes on with them', async () => {
    const state = await fileWith(1500);
    const journal = await server.freshUrl();
    const first = await migrate(state, journal);
    expect(first.out).toMatch(
      /^moved and read back: payments 1500, bodies 240, accepted clocks 1; sha256:[0-9a-f]{64}\n/,
    );
    const again = await migrate(state, journal);
    expect(again.out).toMatch(/^nothing to move, the database holds exactly these rows: .* 1500,/);
    const moved = await postgresJournal({ url: journal, clock: () => now, lost: UNTOLD });
    const file = sqliteJournal({ path: join(state, JOURNAL_NAME), clock: () => now });
    for (let at = 0; at < 1500; at += 13) {
      const { key } = saleOf(at);
      const { detail, ...same } = (await file.find(key)) ?? { detail: '' };
      expect(await moved.find(key)).toEqual({
        ...same,
        detail: detail?.replace('\0', '\ufffd') ?? null,
      });
    }
    expect(await moved.takeTransaction('other', '0x0')).toBe(false);
    expect(await moved.claim(saleOf(0))).toBe(false);
    expect(await moved.claim(saleOf(7))).toBe(true);
    expect(await moved.claim(saleOf(9999))).toBe(true);
    expect((await moved.unresolved(0, 1000)).map(({ key }) => key)).toContain(saleOf(9999).key);
    await moved.close();
    file.close();
  });

  it('refuses a database with other rows, one in use, a file in use, no file and no database', async () => {
    const state = await fileWith(20);
    const journal = await server.freshUrl();
    const move = (to = journal, from = copyOf(state)) =>
      ledger({ journal: to }, 'migrate', '--state', from);
    await expect(move('sqlite')).rejects.toThrow(/no database is named; set SIGNALPRESS_JOURNAL/);
    await expect(move(journal, join(folder, 'none'))).rejects.toThrow(/missing; name its folder/);
    const used = copyOf(state);
    const file = sqliteJournal({ path: join(used, JOURNAL_NAME), clock: () => now });
    await expect(move(journal, used)).rejects.toThrow(/stop the gatekeeper that uses it/);
    file.close();
    const gate = await postgresJournal({ url: journal, clock: () => now, lost: UNTOLD });
    await expect(move()).rejects.toThrow(/gatekeepers use the database \(1\); stop them/);
    await gate.claim(saleOf(1));
    await gate.close();
    const closed = () => move().catch((error: Error) => error.message);
    await expect.poll(closed).toMatch(/holds other rows already \(payments 1, bodies 1, accepted/);
    expect(await rows(journal, 'SELECT count(*)::int AS n FROM signalpress.payment')).toEqual([
      { n: 1 },
    ]);
    // A file that was not moved is as it was, and a gatekeeper takes it up again.
    const same = copyOf(state);
    await expect(move(journal, same)).rejects.toThrow(/other rows/);
    const again = sqliteJournal({ path: join(same, JOURNAL_NAME), clock: () => now });
    expect(await again.find(saleOf(1).key)).toMatchObject({ state: 'settled' });
    again.close();
  });

  it('notices one row that differs in one cell', async () => {
    const state = await fileWith(20);
    const journal = await server.freshUrl();
    await migrate(state, journal);
    await rows(journal, "UPDATE signalpress.payment SET value = '1' WHERE id = 3");
    await expect(migrate(state, journal)).rejects.toThrow(/other rows/);
  });
});

const GATE = resolve('build/gatekeeper/main.js');

describe.skipIf(!existsSync(GATE))('ledger migrate killed (skipped when not built)', () => {
  const started = (state: string, journal: string): ChildProcess =>
    spawn(process.execPath, [GATE, 'ledger', 'migrate', '--state', state], {
      cwd: folder,
      stdio: 'ignore',
      env: { PATH: process.env.PATH, SIGNALPRESS_JOURNAL: journal },
    });
  const ended = (child: ChildProcess): Promise<number | null> =>
    new Promise((done) => child.once('exit', done));

  it('leaves nothing behind, and moves everything the next time', async () => {
    const state = await fileWith(6000);
    const journal = await server.freshUrl();
    let kills = 0;
    for (const afterMs of [300, 500, 700, 900, 1100]) {
      const child = started(state, journal);
      const end = ended(child);
      await new Promise((done) => setTimeout(done, afterMs));
      if (child.kill('SIGKILL')) kills += 1;
      await end;
      const made = "SELECT to_regclass('signalpress.payment') IS NOT NULL AS made";
      if ((await rows(journal, made))[0]?.made !== true) continue;
      const [found] = await rows(journal, 'SELECT count(*)::int AS n FROM signalpress.payment');
      expect([0, 6000]).toContain(found?.n);
    }
    expect(kills).toBeGreaterThan(0);
    expect(await ended(started(state, journal))).toBe(0);
    expect((await migrate(state, journal)).out).toMatch(
      /^nothing to move.* payments 6000, bodies 240/,
    );
  });
});

describe('the books of a journal in PostgreSQL', () => {
  const SPAN = { fromMs: NOW_MS - 86_400_000, untilMs: NOW_MS };

  it('I61: audit() compares them with the chain, as those in a file', async () => {
    const url = await server.freshUrl();
    const time = { now: NOW_MS };
    const journal = await postgresJournal({ url, clock: () => time.now, lost: UNTOLD });
    const paid: Paid[] = [];
    for (let at = 0; at < 4; at++) {
      const block = HEAD - 1000 - 100 * at;
      time.now = blockTimeMs(block) - 3000;
      await journal.claim(claimed(at, { claimBlock: `${BigInt(block - 2)}:0xaa` }));
      const end = { state: 'settled', transaction: transactionOf(at) } as const;
      await journal.conclude({ key: keyOf(at), ...end });
      paid.push({ at, block });
    }
    await journal.close();
    const found = () =>
      withBooks({ stateDir: '', journal: url }, (books) =>
        audit(books, { ...SPAN, payTo: PAYEE, nodes: [paidChain(paid).node] }),
      );
    expect(await found()).toMatchObject({ findings: [], gaps: [], sales: 4, transfers: 4 });
    paid.splice(2, 1, { at: 9, block: HEAD - 1200 });
    expect((await found()).findings).toMatchObject([
      { kind: 'missing', key: keyOf(2) },
      { kind: 'foreign', transaction: transactionOf(9) },
    ]);
  });

  it('I61: name what is owed, and begin and end each refund once', async () => {
    const url = await server.freshUrl();
    const journal = await postgresJournal({ url, clock: () => NOW_MS, lost: UNTOLD });
    for (const at of [0, 1, 2]) {
      await journal.claim(claimed(at));
      const end = { state: 'settled', transaction: transactionOf(at) } as const;
      await journal.conclude({ key: keyOf(at), ...end, isWaiting: at < 2 });
    }
    await journal.close();
    await withBooks({ stateDir: '', journal: url }, async (books) => {
      expect(await books.undeliverable()).toEqual([]);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('DELETE FROM signalpress.body');
      await client.end();
      const owed = await books.undeliverable();
      expect(owed.map(({ key }) => key)).toEqual([keyOf(0), keyOf(1)]);
      const [first] = owed;
      if (first === undefined) throw new Error('nothing is owed');
      expect(await books.beginRefund(first, '0xa', NOW_MS)).toBe(true);
      expect(await books.beginRefund(first, '0xb', NOW_MS)).toBe(false);
      const begun = await books.row(first.key);
      expect(begun).toMatchObject({ refund_from: '0xa', refund_at: NOW_MS, refund_tx: null });
      await books.endRefund(first.key, '0x1', NOW_MS + 1);
      await books.endRefund(first.key, '0x2', NOW_MS + 2);
      expect(await books.refunds()).toMatchObject([{ key: first.key, refund_tx: '0x1' }]);
      if (begun !== null) expect(await books.beginRefund(begun, '0xa', NOW_MS)).toBe(false);
    });
  });
});

describe('doctor and a journal in PostgreSQL', () => {
  const KEY = `base|0xasset|0x${'a'.repeat(40)}|0x${'1'.repeat(64)}`;
  const CHECKS = { journal: journalCheck, clock: clockCheck };

  const about = (journal: string) => examined({ config: { journal } as Partial<Config> });

  it('says that the first start makes its tables', async () => {
    const findings = reported(await examine(about(await server.freshUrl()), CHECKS));
    expect(findings[0]).toMatch(/^skipped: nothing in ".*" yet; the first start makes it$/);
    expect(findings[1]).toBe('skipped: no journal to compare the clock with');
  });

  it('finds open payments and a clock that is behind, and makes nothing', async () => {
    const url = await server.freshUrl();
    const clock = (): number => TINY_NOW + 3_600_000;
    const journal = await postgresJournal({ url, clock, lost: UNTOLD });
    await journal.claim(claimOf(KEY));
    await journal.close();
    const findings = reported(await examine(about(url), CHECKS));
    expect(findings[0]).toMatch(/^ok: ".*" is whole$/);
    expect(findings[1]).toMatch(/^warning: open payments: 1, the oldest since /);
    expect(findings[2]).toMatch(/^failed: Cannot take payments at /);
    expect(findings.join()).not.toContain(new URL(url).password || 'no password');
  });

  it('says what to do where the database is away, without its password', async () => {
    const findings = await examine(about('postgres://shop:hunter2@127.0.0.1:1/shop'), CHECKS);
    expect(findings.map(({ state }) => state)).toEqual(['failed', 'failed']);
    expect(JSON.stringify(findings)).toContain('start the server, or correct SIGNALPRESS_JOURNAL');
    expect(JSON.stringify(findings)).not.toContain('hunter2');
  });
});

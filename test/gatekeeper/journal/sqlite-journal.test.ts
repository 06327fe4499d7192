import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, describe, expect, it } from 'vitest';
import {
  acceptClock,
  openJournalFile,
  readJournalFile,
} from '../../../gatekeeper/journal/journal-file.ts';
import { ledgerRows } from '../../../gatekeeper/journal/ledger.ts';
import { SETTLED, sqliteJournal } from '../../../gatekeeper/journal/sqlite-journal.ts';
import { identifierHash } from '../../../gatekeeper/money/extensions.ts';
import { built } from '../../built.ts';
import { claimOf, clock, journalSuite } from './journal-suite.ts';

const folder = mkdtempSync(join(tmpdir(), 'journal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** The secret of a journal lies beside it, so each has a folder of its own. */
const fresh = (): string => join(mkdtempSync(join(folder, 'place-')), 'payments.db');

journalSuite({
  name: 'sqliteJournal',
  fresh: async () => fresh(),
  open: async (path, at, passedMs = at) => sqliteJournal({ path, clock: at, passedMs }),
  acceptClock: async (path, nowMs) => {
    const db = openJournalFile(path);
    acceptClock(db, nowMs);
    db.close();
  },
});

describe('sqliteJournal() and its file', () => {
  it('I59: keeps the secret beside the journal, for its owner alone, and makes a damaged one anew', () => {
    const place = mkdtempSync(join(folder, 'place-'));
    const path = join(place, 'payments.db');
    const one = sqliteJournal({ path, clock });
    const key = join(place, 'client.key');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(readFileSync(key, 'utf8')).toBe(Buffer.from(one.secret).toString('hex'));
    expect(readFileSync(path).includes(Buffer.from(one.secret))).toBe(false);
    one.close();
    writeFileSync(key, 'half');
    const two = sqliteJournal({ path, clock });
    expect(readFileSync(key, 'utf8')).toBe(Buffer.from(two.secret).toString('hex'));
    two.close();
  });

  it('I60: asks an index alone whether an account paid before', () => {
    const path = fresh();
    sqliteJournal({ path, clock }).close();
    const db = openJournalFile(path);
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${SETTLED}`).all(['base|0x1|0xa']);
    expect(JSON.stringify(plan)).toMatch(/SEARCH payment USING (COVERING )?INDEX payment_sale/);
    db.close();
  });

  it('I59: hashes the identifiers that a version of before wrote down as they came', async () => {
    const path = fresh();
    const one = sqliteJournal({ path, clock });
    const text = `0x${'a'.repeat(40)}|pay_0123456789abcdef`;
    const hashed = identifierHash(`0x${'A'.repeat(40)}`, 'pay_0123456789abcdef');
    await one.claim(claimOf('plain', { identifier: text }));
    await one.claim(claimOf('hashed', { identifier: 'sha256:00' }));
    one.close();
    const two = sqliteJournal({ path, clock });
    expect(await two.identifiedKey(hashed)).toBe('plain');
    expect(await two.identifiedKey(text)).toBeNull();
    expect(await two.identifiedKey('sha256:00')).toBe('hashed');
    expect(await two.claim(claimOf('again', { identifier: hashed }))).toBe(false);
    two.close();
  });

  it('I2: sqliteJournal() finds on the disk what another process noted, and nothing else', async () => {
    const path = fresh();
    const [one, two] = [sqliteJournal({ path, clock }), sqliteJournal({ path, clock })];
    await one.claim(claimOf('a'));
    expect(await two.find('a')).toBeNull();
    expect(await two.findOnDisk('b')).toBeNull();
    expect(await two.findOnDisk('a')).toMatchObject({ key: 'a', state: 'settling' });
    expect(await two.find('a')).toMatchObject({ key: 'a' });
    one.close();
    two.close();
  });

  it('sqliteJournal() commits what one tick asks for together, and one failure alone', async () => {
    const path = fresh();
    const journal = sqliteJournal({ path, clock });
    const wrong = { ...claimOf('bad'), resource: null as unknown as string };
    const writes = Array.from({ length: 50 }, (_, at) => journal.claim(claimOf(`k${at}`)));
    const bad = journal.claim(wrong);
    await expect(bad).rejects.toThrow();
    expect(await Promise.all(writes)).toEqual(Array(50).fill(true));
    const reader = new Database(path);
    expect(reader.prepare('SELECT count(*) AS n FROM payment').get()).toMatchObject({ n: 50 });
    reader.close();
    journal.close();
  });

  it('I49: sqliteJournal() is readable by its owner alone', async () => {
    const path = fresh();
    const journal = sqliteJournal({ path, clock });
    await journal.claim(claimOf('a'));
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o077).toBe(0);
    journal.close();
  });

  it('sqliteJournal() and its ledger read a file of a version that knew USDC alone', async () => {
    const path = fresh();
    const before = sqliteJournal({ path, clock });
    const key = `base|0xasset|0x${'a'.repeat(40)}|0x${'1'.repeat(64)}`;
    await before.claim(claimOf(key, { resource: 'GET /gauge?entity=a', value: '10000' }));
    before.close();
    const older = new Database(path);
    older.exec('DROP INDEX payment_unfinal');
    for (const name of ['usd', 'final_at', 'reorganised_at', 'claim_block'])
      older.exec(`ALTER TABLE payment DROP COLUMN ${name}`);
    older.close();
    const db = readJournalFile(path);
    expect([...ledgerRows(db, { time: 'created_at' })]).toMatchObject([{ usd: '0.01' }]);
    db.close();
    const again = sqliteJournal({ path, clock });
    expect(await again.find(key)).toMatchObject({ value: '10000' });
    expect(await again.claim(claimOf('b', { usd: '20000' }))).toBe(true);
    expect(await again.find('b')).toMatchObject({ usd: '20000' });
    again.close();
  });

  it('sqliteJournal() refuses a file of another format', () => {
    const path = fresh();
    const other = new Database(path);
    other.exec('PRAGMA user_version = 99');
    other.close();
    expect(() => sqliteJournal({ path, clock })).toThrow(/format is 99/);
  });
});

const BUILT = 'gatekeeper/journal/sqlite-journal.js';
const childProgram = (): string => `
import { sqliteJournal } from ${JSON.stringify(built(BUILT))};
const journal = sqliteJournal({ path: process.argv[1], clock: Date.now });
const body = Buffer.alloc(3000, 7);
for (let round = 0; ; round++) {
  await Promise.all(Array.from({ length: 8 }, async (_, at) => {
    const key = round + '-' + at;
    await journal.claim({ key, resource: 'r', version: 1, signed: 's', body, contentType: 't', value: '1', validBefore: 1, identifier: 'p|' + key });
    process.stdout.write('c ' + key + '\\n');
    await journal.conclude({ key, state: 'settled', transaction: '0x' + key });
    process.stdout.write('s ' + key + '\\n');
  }));
}`;

describe('sqliteJournal() killed (needs a build)', () => {
  it('I2: what sqliteJournal() promised is there after kill -9', async () => {
    const killed = Array.from({ length: 3 }, async (_, round) => {
      const path = fresh();
      return { path, output: await killedChild(path, 60 + round * 37) };
    });
    for (const { path, output } of await Promise.all(killed)) {
      expect(output.length).toBeGreaterThan(10);
      const journal = sqliteJournal({ path, clock });
      for (const line of output) {
        const [what, key = ''] = line.split(' ');
        const entry = await journal.find(key);
        expect(entry?.body).toHaveLength(3000);
        expect(await journal.identifiedKey(`p|${key}`)).toBe(key);
        if (what === 's')
          expect(entry).toMatchObject({ state: 'settled', transaction: `0x${key}` });
      }
      journal.close();
    }
  });
});

/** Lets a child write until it has spoken, waits, kills it, and returns the whole lines that it said. */
function killedChild(path: string, afterMs: number): Promise<string[]> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', childProgram(), path]);
    let out = '';
    child.stdout.on('data', (chunk) => {
      if (out === '') setTimeout(() => child.kill('SIGKILL'), afterMs);
      out += chunk;
    });
    child.on('error', failed);
    child.on('close', () => done(out.split('\n').slice(0, -1)));
  });
}

describe('onSync', () => {
  it('tells each wait for the disk, and nothing where nobody wrote', async () => {
    const waits: number[] = [];
    const onSync = (ms: number): number => waits.push(ms);
    const journal = sqliteJournal({ path: fresh(), clock, onSync });
    expect(waits).toEqual([]);
    await journal.claim(claimOf('a'));
    await journal.conclude({ key: 'a', state: 'settled', transaction: '0x1' });
    expect(waits).toHaveLength(2);
    for (const ms of waits) expect(ms).toBeGreaterThan(0);
    journal.close();
  });
});

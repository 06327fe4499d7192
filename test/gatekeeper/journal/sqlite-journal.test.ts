import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'libsql';
import { afterAll, describe, expect, it } from 'vitest';
import { GZIP_BYTES_MIN } from '../../../gatekeeper/journal/body-store.ts';
import { DEAD_AFTER_S, type JournalClaim } from '../../../gatekeeper/journal/journal.ts';
import { PURGE_INTERVAL_MS, sqliteJournal } from '../../../gatekeeper/journal/sqlite-journal.ts';
import { NOW_MS, NOW_S } from '../payer.ts';

const folder = mkdtempSync(join(tmpdir(), 'journal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const fresh = (): string => {
  files += 1;
  return join(folder, `${files}.db`);
};
const clock = () => NOW_MS;

const claimOf = (key: string, overrides: Partial<JournalClaim> = {}): JournalClaim => ({
  key,
  resource: 'GET /gauge?entity=a',
  version: 1,
  signed: 'a|b|10000|0|1|c|d',
  body: Buffer.from(`{"key":"${key}"}`),
  contentType: 'application/json',
  value: '10000',
  validBefore: NOW_S + 300,
  ...overrides,
});

describe('sqliteJournal()', () => {
  it('sqliteJournal() keeps a payment from claim to settlement, over a reopening', async () => {
    const path = fresh();
    const journal = sqliteJournal({ path, clock });
    expect(await journal.find('a')).toBeNull();
    expect(await journal.claim(claimOf('a'))).toBe(true);
    const open = { ...claimOf('a'), transaction: null, detail: null };
    expect(await journal.find('a')).toStrictEqual({ ...open, state: 'settling' });
    await journal.conclude({ key: 'a', state: 'unknown', detail: 'timeout' });
    await journal.conclude({ key: 'a', state: 'settled', transaction: '0x1' });
    journal.close();
    const again = sqliteJournal({ path, clock });
    const settled = { ...open, state: 'settled', transaction: '0x1' };
    expect(await again.find('a')).toStrictEqual(settled);
    again.close();
  });

  it('I3: sqliteJournal() lets one claim stand, also of two processes', async () => {
    const path = fresh();
    const [one, two] = [sqliteJournal({ path, clock }), sqliteJournal({ path, clock })];
    const claims = await Promise.all([
      one.claim(claimOf('a')),
      two.claim(claimOf('a', { resource: 'GET /other' })),
      one.claim(claimOf('a')),
    ]);
    expect(claims.filter(Boolean)).toHaveLength(1);
    one.close();
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

  it('I10: sqliteJournal() gives a refused key to the next claim, and only that', async () => {
    const journal = sqliteJournal({ path: fresh(), clock });
    for (const state of ['refused', 'settled', 'unknown'] as const) {
      await journal.claim(claimOf(state));
      await journal.conclude({ key: state, state, transaction: '0x1' });
      const claimed = await journal.claim(claimOf(state, { resource: 'GET /next' }));
      expect(claimed).toBe(state === 'refused');
    }
    expect(await journal.find('refused')).toMatchObject({
      state: 'settling',
      resource: 'GET /next',
      detail: null,
    });
    journal.close();
  });

  it('I46: sqliteJournal() tells at once what a payment is bound to, unless it is unknown or refused', async () => {
    const journal = sqliteJournal({ path: fresh(), clock });
    const bound = { resource: 'GET /gauge?entity=a', signed: 'a|b|10000|0|1|c|d' };
    expect(journal.bindingOf('settled')).toBeNull();
    for (const state of ['refused', 'settled', 'unknown'] as const) {
      await journal.claim(claimOf(state));
      expect(journal.bindingOf(state)).toStrictEqual(bound);
      await journal.conclude({ key: state, state, transaction: '0x1' });
      expect(journal.bindingOf(state)).toStrictEqual(state === 'refused' ? null : bound);
    }
    journal.close();
  });

  it('I11: sqliteJournal() gives a transaction to one payment, also before it is noted and after a restart', async () => {
    const path = fresh();
    const journal = sqliteJournal({ path, clock });
    for (const key of ['a', 'b']) await journal.claim(claimOf(key));
    expect(await journal.takeTransaction('a', '0xAB')).toBe(true);
    expect(await journal.takeTransaction('a', '0xab')).toBe(true);
    expect(await journal.takeTransaction('b', '0xab')).toBe(false);
    expect(await journal.takeTransaction('b', '0xcd')).toBe(true);
    await journal.conclude({ key: 'a', state: 'settled', transaction: '0xAB' });
    journal.close();
    const again = sqliteJournal({ path, clock });
    expect(await again.takeTransaction('a', '0xab')).toBe(true);
    expect(await again.takeTransaction('b', '0xAb')).toBe(false);
    expect(await again.takeTransaction('b', '0xcd')).toBe(true);
    again.close();
  });

  it('sqliteJournal() never changes what is settled, and refuses to conclude what it does not know', async () => {
    const journal = sqliteJournal({ path: fresh(), clock });
    await journal.claim(claimOf('a'));
    await journal.conclude({ key: 'a', state: 'settled', transaction: '0x1' });
    await expect(journal.conclude({ key: 'a', state: 'refused' })).rejects.toThrow(/not open/);
    await expect(journal.conclude({ key: 'b', state: 'settled' })).rejects.toThrow(/not open/);
    expect(await journal.find('a')).toMatchObject({ state: 'settled', transaction: '0x1' });
    journal.close();
  });

  it('sqliteJournal() returns every byte of a body, small or large', async () => {
    const journal = sqliteJournal({ path: fresh(), clock });
    for (const size of [0, 1, GZIP_BYTES_MIN - 1, GZIP_BYTES_MIN, 300_000]) {
      const body = Buffer.alloc(size, 'ab\u0000\u00ff');
      await journal.claim(claimOf(`${size}`, { body, contentType: 'text/csv' }));
      const found = await journal.find(`${size}`);
      expect(found?.body?.equals(body)).toBe(true);
      expect(found?.contentType).toBe('text/csv');
    }
    journal.close();
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

  it('sqliteJournal() forgets after the retention, and never before the authorization is dead', async () => {
    let now = NOW_MS;
    const journal = sqliteJournal({ path: fresh(), clock: () => now });
    await journal.claim(claimOf('old'));
    await journal.claim(claimOf('far', { validBefore: NOW_S + 86_400 * 90 }));
    await journal.claim(claimOf('endless', { validBefore: Number.MAX_SAFE_INTEGER }));
    now += 29 * 86_400_000;
    await journal.claim(claimOf('x'));
    expect(await journal.find('old')).not.toBeNull();
    now += 2 * 86_400_000 + PURGE_INTERVAL_MS;
    await journal.claim(claimOf('y'));
    expect(await journal.find('old')).toMatchObject({ body: null, value: '10000' });
    expect((await journal.find('far'))?.body).not.toBeNull();
    expect(await journal.find('endless')).toMatchObject({ validBefore: Number.MAX_SAFE_INTEGER });
    journal.close();
  });

  it('I9: sqliteJournal() forgets a refusal from the second on in which its authorization is dead, and no body before it', async () => {
    const validBefore = NOW_S + 86_400 * 90;
    const dead = (validBefore + DEAD_AFTER_S) * 1000;
    for (const [end, kept] of [
      [dead, true],
      [dead + 1000, false],
    ] as const) {
      let now = NOW_MS;
      const journal = sqliteJournal({ path: fresh(), clock: () => now });
      await journal.claim(claimOf('sold', { validBefore }));
      await journal.claim(claimOf('refused', { validBefore }));
      await journal.conclude({ key: 'refused', state: 'refused' });
      now = end;
      await journal.claim(claimOf('x'));
      const { body } = (await journal.find('sold')) ?? {};
      const entry = await journal.find('refused');
      expect([body !== null, entry !== null]).toEqual([true, kept]);
      journal.close();
    }
  });

  it('I49: sqliteJournal() is readable by its owner alone', async () => {
    const path = fresh();
    const journal = sqliteJournal({ path, clock });
    await journal.claim(claimOf('a'));
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o077).toBe(0);
    journal.close();
  });

  it('sqliteJournal() refuses a file of another format', () => {
    const path = fresh();
    const other = new Database(path);
    other.exec('PRAGMA user_version = 99');
    other.close();
    expect(() => sqliteJournal({ path, clock })).toThrow(/format is 99/);
  });
});

const BUILT = resolve('build/gatekeeper/journal/sqlite-journal.js');
const CHILD = `
import { sqliteJournal } from ${JSON.stringify(BUILT)};
const journal = sqliteJournal({ path: process.argv[1], clock: Date.now });
const body = Buffer.alloc(3000, 7);
for (let round = 0; ; round++) {
  await Promise.all(Array.from({ length: 8 }, async (_, at) => {
    const key = round + '-' + at;
    await journal.claim({ key, resource: 'r', version: 1, signed: 's', body, contentType: 't', value: '1', validBefore: 1 });
    process.stdout.write('c ' + key + '\\n');
    await journal.conclude({ key, state: 'settled', transaction: '0x' + key });
    process.stdout.write('s ' + key + '\\n');
  }));
}`;

describe.skipIf(!existsSync(BUILT))('sqliteJournal() killed (skipped when not built)', () => {
  it('I2: what sqliteJournal() promised is there after kill -9', async () => {
    for (let round = 0; round < 5; round++) {
      const path = fresh();
      const said = await killedChild(path, 100 + round * 37);
      expect(said.length).toBeGreaterThan(10);
      const journal = sqliteJournal({ path, clock });
      for (const line of said) {
        const [what, key = ''] = line.split(' ');
        const entry = await journal.find(key);
        expect(entry?.body).toHaveLength(3000);
        if (what === 's')
          expect(entry).toMatchObject({ state: 'settled', transaction: `0x${key}` });
      }
      journal.close();
    }
  }, 30_000);
});

/** Lets a child write until it has spoken, waits, kills it, and returns the whole lines that it said. */
function killedChild(path: string, afterMs: number): Promise<string[]> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD, path]);
    let out = '';
    child.stdout.on('data', (chunk) => {
      if (out === '') setTimeout(() => child.kill('SIGKILL'), afterMs);
      out += chunk;
    });
    child.on('error', failed);
    child.on('close', () => done(out.split('\n').slice(0, -1)));
  });
}

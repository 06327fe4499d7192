import { type ChildProcess, spawn } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { GroupCommit } from '../../../../gatekeeper/heart/journal/group-commit.ts';
import {
  acceptClock,
  openJournalFile,
  readJournalFile,
} from '../../../../gatekeeper/heart/journal/journal-file.ts';
import { soldBytes, soldHash } from '../../../../gatekeeper/heart/journal/journal-row.ts';
import {
  KeyFilter,
  livingHolders,
  SETTLED,
  sqliteJournal,
} from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { identifierHash } from '../../../../gatekeeper/settle/extensions.ts';
import { built } from '../../../command-runs.ts';
import { sha256Text } from '../../../snapshot-folder.ts';
import { NOW_MS, NOW_S } from '../../payer.ts';
import { ledgerRows } from '../../tiny-service.ts';
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
    expect(await ledgerRows(db)).toMatchObject([{ usd: '0.01' }]);
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

const BUILT = 'gatekeeper/heart/journal/sqlite-journal.js';
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

const bodyFolder = mkdtempSync(join(tmpdir(), 'bodies-'));
afterAll(() => rmSync(bodyFolder, { recursive: true, force: true }));

const claimFor = (key: string, body: Buffer) => ({
  key,
  resource: 'GET /gauge',
  version: 1 as const,
  signed: 'a|b|1|0|1|c|d',
  body,
  contentType: 'text/plain',
  value: '1',
  validBefore: NOW_S + 300,
});

describe('BodyStore', () => {
  it('stores a body once, whoever buys it, and gives each buyer its own', async () => {
    const path = join(bodyFolder, 'one.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    const same = Buffer.alloc(3000, 'same');
    const claims = Array.from({ length: 200 }, (_, at) => journal.claim(claimFor(`k${at}`, same)));
    await Promise.all([...claims, journal.claim(claimFor('other', Buffer.from('other')))]);
    expect((await journal.find('k7'))?.body?.equals(same)).toBe(true);
    expect((await journal.find('other'))?.body?.toString()).toBe('other');
    const db = readJournalFile(path);
    expect(db.prepare('SELECT count(*) AS n FROM body').get([])).toMatchObject({ n: 2 });
    db.close();
    journal.close();
  });

  it('I24: refuses to deliver a body that the disk changed', async () => {
    const path = join(bodyFolder, 'flip.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    await journal.claim(claimFor('k', Buffer.from('sold')));
    const db = openJournalFile(path);
    db.prepare('UPDATE body SET bytes = ?').run([Buffer.from('solt')]);
    db.close();
    await expect(journal.find('k')).rejects.toThrow(/hash does not match/);
    journal.close();
  });
});

describe('citations()', () => {
  const sealed = (digits: string, more = '') =>
    Buffer.from(`{"rows":[1]${more},"_citation":{"fact":"x","record_hash":"sha256:${digits}"}}\n`);
  const cited = (digits: string) => ({ fact: 'x', record_hash: `sha256:${digits}` });
  const [ONE, TWIN] = ['ab'.repeat(32), `${'ab'.repeat(31)}cd`];

  it('finds a sold body by its citation, whole or by a prefix, however long the body is', async () => {
    const path = join(bodyFolder, 'citing.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    const long = sealed(TWIN, `,"filler":"${'x'.repeat(400_000)}"`);
    await journal.claim(claimFor('a', sealed(ONE)));
    await journal.claim(claimFor('b', sealed(ONE, ',"cut":1')));
    await journal.claim(claimFor('c', long));
    expect(await journal.citations(TWIN)).toEqual([cited(TWIN)]);
    expect(await journal.citations(ONE)).toEqual([cited(ONE)]);
    expect(await journal.citations('abababab')).toHaveLength(2);
    journal.close();
  });

  it('finds nothing for what no sold body cites, and no body without a citation', async () => {
    const path = join(bodyFolder, 'uncited.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    const unsigned = [
      'day,value\n',
      '{"body":1}',
      `{"record_hash":"sha256:${ONE}"}`,
      '"_citation":',
    ];
    const odd = sealed(ONE.toUpperCase()).toString('utf8');
    for (const text of [...unsigned, odd]) await journal.claim(claimFor(text, Buffer.from(text)));
    for (const digits of [ONE, 'abababab', '00000000', TWIN]) {
      expect(await journal.citations(digits)).toEqual([]);
    }
    journal.close();
  });
});

describe('openJournalFile() of a journal without citations', () => {
  /** As the version before wrote it. */
  const older = (path: string): void => {
    const db = openJournalFile(path);
    db.exec(
      'DROP INDEX body_citation_hash; ALTER TABLE body DROP COLUMN citation_hash; ALTER TABLE body DROP COLUMN citation;',
    );
    db.exec('PRAGMA user_version = 2');
    db.close();
  };

  it('goes on with it, and knows the citations of what is sold from then on', async () => {
    const path = join(bodyFolder, 'older.db');
    const before = sqliteJournal({ path, clock: () => NOW_MS });
    await before.claim(claimFor('old', Buffer.from('sold')));
    before.close();
    older(path);
    const ledger = readJournalFile(path);
    expect(ledger.prepare('SELECT count(*) AS n FROM payment').get([])).toMatchObject({ n: 1 });
    ledger.close();
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    expect((await journal.find('old'))?.body?.toString()).toBe('sold');
    const hash = '1f'.repeat(32);
    const body = Buffer.from(`{"_citation":{"record_hash":"sha256:${hash}"}}`);
    await journal.claim(claimFor('new', body));
    expect(await journal.citations(hash)).toEqual([{ record_hash: `sha256:${hash}` }]);
    journal.close();
  });
});

describe('soldBytes()', () => {
  it('returns what was stored, and nothing else', () => {
    const body = Buffer.from('sold');
    expect(soldBytes(body, 'identity', soldHash(body))).toEqual(body);
    expect(() => soldBytes(body, 'identity', soldHash(Buffer.from('x')))).toThrow(/check the disk/);
  });
});

describe('soldHash()', () => {
  it('is the hash of the bytes, computed once for a buffer and again for another one', () => {
    const body = Buffer.from('sold');
    expect(soldHash(body).toString('hex')).toBe(sha256Text('sold'));
    expect(soldHash(Buffer.from('solt')).toString('hex')).toBe(sha256Text('solt'));
  });
});

const key = (nonce: number) => `base|0xa|0xb|0x${nonce.toString(16).padStart(64, '0')}`;

describe('KeyFilter', () => {
  it('never denies what was added, and denies nearly everything else', () => {
    const filter = new KeyFilter();
    for (let at = 0; at < 10_000; at++) filter.add(key(at * 7919));
    for (let at = 0; at < 10_000; at++) expect(filter.mayHave(key(at * 7919))).toBe(true);
    const wrong = Array.from({ length: 10_000 }, (_, at) => filter.mayHave(key(at * 7919 + 1)));
    expect(wrong.filter(Boolean).length).toBeLessThan(10);
  });

  it('holds keys without a nonce to be possible once one of them was added', () => {
    const filter = new KeyFilter();
    expect(filter.mayHave('none|zz')).toBe(false);
    filter.add('other|zz');
    expect(filter.mayHave('none|zz')).toBe(true);
  });
});

const place = (): string =>
  join(mkdtempSync(join(tmpdir(), 'signalpress-holders-')), 'payments.db');

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

/** Another process that holds a lock beside a journal. */
async function stranger(path: string): Promise<{ name: string; end(): Promise<void> }> {
  const program = `import(${JSON.stringify(built(BUILT))}).then(({ livingHolders }) => {
    console.log(livingHolders(${JSON.stringify(path)}).own);
    setInterval(() => {}, 1000);
  });`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const name = await new Promise<string>((done) =>
    child.stdout?.once('data', (text) => done(String(text).trim())),
  );
  const end = async (): Promise<void> => {
    const ended = new Promise((done) => child.once('close', done));
    child.kill('SIGKILL');
    await ended;
  };
  return { name, end };
}

describe('livingHolders()', () => {
  it('knows itself and those that live, and no others', () => {
    const path = place();
    const [one, other] = [livingHolders(path), livingHolders(path)];
    expect([one.isAlive(one.own), one.isAlive(other.own), other.isAlive(one.own)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(one.isAlive('00'.repeat(8))).toBe(false);
    other.close();
    expect([one.isAlive(other.own), one.isAlive(one.own)]).toEqual([false, true]);
    one.close();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it('notices that a process was killed, and clears up behind it', async () => {
    const path = place();
    const own = livingHolders(path);
    const { name, end } = await stranger(path);
    expect(own.isAlive(name)).toBe(true);
    await end();
    expect(own.isAlive(name)).toBe(false);
    const next = livingHolders(path);
    const left = readdirSync(join(path, '..')).filter((file) => file.includes(name));
    expect(left).toEqual([]);
    expect(next.isAlive(own.own)).toBe(true);
    own.close();
    next.close();
  });
});

describe('an SQLite journal that two processes use', () => {
  const bound = ({ resource, signed } = claimOf('k')) => ({ resource, signed });

  it('learns what the other one sold, before anybody asks for it by its claim', async () => {
    const path = place();
    const [one, other] = [sqliteJournal({ path, clock }), sqliteJournal({ path, clock })];
    await one.claim(claimOf('k|00000001'));
    expect(other.bindingOf('k|00000001')).toBe(null);
    await other.shared?.learn('k|00000001');
    expect(other.bindingOf('k|00000001')).toMatchObject(bound());
    await other.shared?.learn('k|00000002');
    expect(other.bindingOf('k|00000002')).toBe(null);
    one.close();
    other.close();
  });

  it('leaves a payment to the one that asks for it, until that one is gone or has noted its end', async () => {
    const path = place();
    const [one, other] = [sqliteJournal({ path, clock }), sqliteJournal({ path, clock })];
    await one.claim(claimOf('a'));
    expect(await one.unresolved(0, 9)).toHaveLength(1);
    expect(await other.unresolved(0, 9)).toEqual([]);
    expect(await other.shared?.take('a', bound())).toBe(false);
    await one.conclude({ key: 'a', state: 'unknown' });
    expect(await other.shared?.take('a', bound())).toBe(true);
    expect(await one.unresolved(0, 9)).toEqual([]);
    await other.conclude({ key: 'a', state: 'settled', transaction: '0x1' });
    expect(await one.shared?.take('a', bound())).toBe(false);
    await one.claim(claimOf('b'));
    one.close();
    expect(await other.unresolved(0, 9)).toHaveLength(1);
    expect(await other.shared?.take('b', { ...bound(), resource: 'GET /other' })).toBe(false);
    expect(await other.shared?.take('b', bound())).toBe(true);
    other.close();
  });
});

const commitFolder = mkdtempSync(join(tmpdir(), 'group-commit-'));
afterAll(() => rmSync(commitFolder, { recursive: true, force: true }));
let files = 0;

interface Bench {
  readonly db: Database.Database;
  readonly path: string;
  readonly commit: GroupCommit;
  add(value: number | null): Promise<unknown>;
  count(): unknown;
}

function bench(wal = (path: string) => `${path}-wal`): Bench {
  files += 1;
  const path = join(commitFolder, `${files}.db`);
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t(a INTEGER NOT NULL)');
  const commit = new GroupCommit({ db, path, walPath: wal(path) });
  const insert = db.prepare('INSERT INTO t VALUES(?)');
  const count = db.prepare('SELECT count(*) AS n FROM t');
  return {
    db,
    path,
    commit,
    add: (value) => commit.run(() => insert.run([value]).changes),
    count: () => (count.get([]) as { n: number }).n,
  };
}

describe('GroupCommit', () => {
  it('resolves for everybody who asked, also while a sync is running', async () => {
    const { add, count, commit } = bench();
    const first = add(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await Promise.all([first, add(2), add(3)])).toEqual([1, 1, 1]);
    expect(await add(4)).toBe(1);
    expect(count()).toBe(4);
    commit.close();
  });

  it('rejects the one bad write of a group and commits the others', async () => {
    const { add, count, commit } = bench();
    const results = await Promise.allSettled([add(1), add(null), add(3)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(count()).toBe(2);
    commit.close();
  });

  it('I17: calls nothing durable after a sync that failed, not even later writes', async () => {
    const { add } = bench(() => join(commitFolder, 'absent', 'wal'));
    await expect(add(1)).rejects.toThrow(/the disk refused a sync/);
    await expect(add(2)).rejects.toThrow(/the disk refused a sync/);
  });

  it.each(['', '-wal'])(
    'I17: writes nothing once the journal%s was removed or replaced, and goes on when it is back',
    async (side) => {
      const { add, count, path, commit } = bench();
      await add(1);
      const file = path + side;
      renameSync(file, `${file}.old`);
      await expect(add(2)).rejects.toThrow(
        `Cannot write to the journal: "${file}" was moved or removed in service; do not restart: put it back, or save it ` +
          `from "/proc/${process.pid}/fd" as gatekeeper/SIGNS.md says`,
      );
      writeFileSync(file, '');
      const many = await Promise.allSettled([add(3), add(4)]);
      const replaced = expect.objectContaining({
        message: `Cannot write to the journal: another file stands at "${file}"; put the first one back, or restart to use this one`,
      });
      expect(many).toEqual([
        { status: 'rejected', reason: replaced },
        { status: 'rejected', reason: replaced },
      ]);
      renameSync(`${file}.old`, file);
      expect(await add(5)).toBe(1);
      expect(count()).toBe(2);
      commit.close();
    },
  );

  it('I17: says what to do when there is no room, and goes on once there is', async () => {
    const { db, commit, count } = bench();
    const fill = db.prepare(
      'INSERT INTO t WITH RECURSIVE g(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM g WHERE n < 5000) SELECT n FROM g',
    );
    const grow = (): Promise<unknown> => commit.run(() => fill.run().changes);
    db.pragma('max_page_count = 4');
    await expect(grow()).rejects.toThrow(
      /^Cannot write to the journal: database or disk is full; make room/,
    );
    expect(count()).toBe(0);
    db.pragma('max_page_count = 4000');
    expect(await grow()).toBe(5000);
    commit.close();
  });

  it('rejects what waits when it is closed', async () => {
    const { add, commit } = bench();
    const waiting = add(1);
    commit.close();
    await expect(waiting).rejects.toThrow(/closed/);
  });
});

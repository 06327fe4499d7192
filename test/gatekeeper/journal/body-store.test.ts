import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openJournalFile, readJournalFile } from '../../../gatekeeper/journal/journal-file.ts';
import { soldBytes, soldHash } from '../../../gatekeeper/journal/journal-row.ts';
import { sqliteJournal } from '../../../gatekeeper/journal/sqlite-journal.ts';
import { sha256Text } from '../../sha256-text.ts';
import { NOW_MS, NOW_S } from '../payer.ts';

const folder = mkdtempSync(join(tmpdir(), 'bodies-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const claimOf = (key: string, body: Buffer) => ({
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
    const path = join(folder, 'one.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    const same = Buffer.alloc(3000, 'same');
    const claims = Array.from({ length: 200 }, (_, at) => journal.claim(claimOf(`k${at}`, same)));
    await Promise.all([...claims, journal.claim(claimOf('other', Buffer.from('other')))]);
    expect((await journal.find('k7'))?.body?.equals(same)).toBe(true);
    expect((await journal.find('other'))?.body?.toString()).toBe('other');
    const db = readJournalFile(path);
    expect(db.prepare('SELECT count(*) AS n FROM body').get([])).toMatchObject({ n: 2 });
    db.close();
    journal.close();
  });

  it('I24: refuses to deliver a body that the disk changed', async () => {
    const path = join(folder, 'flip.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    await journal.claim(claimOf('k', Buffer.from('sold')));
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
    const path = join(folder, 'citing.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    const long = sealed(TWIN, `,"filler":"${'x'.repeat(400_000)}"`);
    await journal.claim(claimOf('a', sealed(ONE)));
    await journal.claim(claimOf('b', sealed(ONE, ',"cut":1')));
    await journal.claim(claimOf('c', long));
    expect(await journal.citations(TWIN)).toEqual([cited(TWIN)]);
    expect(await journal.citations(ONE)).toEqual([cited(ONE)]);
    expect(await journal.citations('abababab')).toHaveLength(2);
    journal.close();
  });

  it('finds nothing for what no sold body cites, and no body without a citation', async () => {
    const path = join(folder, 'uncited.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    const unsigned = [
      'day,value\n',
      '{"body":1}',
      `{"record_hash":"sha256:${ONE}"}`,
      '"_citation":',
    ];
    const odd = sealed(ONE.toUpperCase()).toString('utf8');
    for (const text of [...unsigned, odd]) await journal.claim(claimOf(text, Buffer.from(text)));
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
    const path = join(folder, 'older.db');
    const before = sqliteJournal({ path, clock: () => NOW_MS });
    await before.claim(claimOf('old', Buffer.from('sold')));
    before.close();
    older(path);
    const ledger = readJournalFile(path);
    expect(ledger.prepare('SELECT count(*) AS n FROM payment').get([])).toMatchObject({ n: 1 });
    ledger.close();
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    expect((await journal.find('old'))?.body?.toString()).toBe('sold');
    const hash = '1f'.repeat(32);
    const body = Buffer.from(`{"_citation":{"record_hash":"sha256:${hash}"}}`);
    await journal.claim(claimOf('new', body));
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
    expect(soldHash(body)).toBe(soldHash(body));
    expect(soldHash(Buffer.from('solt')).toString('hex')).toBe(sha256Text('solt'));
  });
});

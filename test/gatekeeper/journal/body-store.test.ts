import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bodyHash, soldBytes, soldHash } from '../../../gatekeeper/journal/body-store.ts';
import { openJournalFile, readJournalFile } from '../../../gatekeeper/journal/journal-file.ts';
import { sqliteJournal } from '../../../gatekeeper/journal/sqlite-journal.ts';
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

describe('soldBytes()', () => {
  it('returns what was stored, and nothing else', () => {
    const body = Buffer.from('sold');
    expect(soldBytes(body, 'identity', bodyHash(body))).toEqual(body);
    expect(() => soldBytes(body, 'identity', bodyHash(Buffer.from('x')))).toThrow(/check the disk/);
  });
});

describe('soldHash()', () => {
  it('is the hash of the bytes, computed once for a buffer and anew for another one', () => {
    const body = Buffer.from('sold');
    expect(soldHash(body)).toEqual(bodyHash(body));
    expect(soldHash(body)).toBe(soldHash(body));
    expect(soldHash(Buffer.from('solt'))).toEqual(bodyHash(Buffer.from('solt')));
  });
});

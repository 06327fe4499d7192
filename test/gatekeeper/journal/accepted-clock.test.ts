import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  acceptClock,
  newestTime,
  openJournalFile,
} from '../../../gatekeeper/journal/journal-file.ts';
import { sqliteJournal } from '../../../gatekeeper/journal/sqlite-journal.ts';
import { NOW_MS } from '../payer.ts';

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

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PURGE_INTERVAL_MS } from '../../gatekeeper/heart/journal/journal-row.ts';
import { postgresJournal } from '../../gatekeeper/heart/journal/postgres-journal.ts';
import {
  acceptPostgresClock,
  journalClient,
} from '../../gatekeeper/heart/journal/postgres-ledger.ts';
import {
  claimOf,
  clock,
  journalSuite,
  type Opened,
} from '../gatekeeper/heart/journal/journal-suite.ts';
import { NOW_S } from '../gatekeeper/payer.ts';
import { UNTOLD } from '../gatekeeper/tiny-service.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

const lost = UNTOLD;

journalSuite({
  name: 'postgresJournal',
  fresh: () => server.freshUrl(),
  open: (url, at, passedMs = at) => postgresJournal({ url, clock: at, passedMs, lost }),
  acceptClock: async (url, nowMs) => {
    const client = await journalClient(url);
    await acceptPostgresClock(client, nowMs);
    await client.end();
  },
});

async function sql(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe('postgresJournal() of several gatekeepers', () => {
  const all: Opened[] = [];
  afterAll(async () => {
    for (const journal of all) await journal.close();
  });
  const openOn = async (url: string) => {
    const journal = await postgresJournal({ url, clock, lost });
    all.push(journal);
    return journal;
  };
  const pair = async () => {
    const url = await server.freshUrl();
    return { url, one: await openOn(url), two: await openOn(url) };
  };
  const shared = (journal: Opened) => {
    if (journal.shared === undefined) throw new Error('not shared');
    return journal.shared;
  };

  it('I3: gives each of 200 keys to one of two that race, over and over', async () => {
    const { one, two, url } = await pair();
    for (let round = 0; round < 5; round++) {
      const keys = Array.from({ length: 200 }, (_, at) => `${round}-${at}`);
      const of = (journal: Opened, resource: string) =>
        Promise.all(keys.map((key) => journal.claim(claimOf(key, { resource }))));
      const [first, second] = await Promise.all([of(one, 'GET /1'), of(two, 'GET /2')]);
      for (const [at, key] of keys.entries()) {
        expect([first[at], second[at]].filter(Boolean)).toHaveLength(1);
        const resource = first[at] ? 'GET /1' : 'GET /2';
        expect(await two.find(key)).toMatchObject({ resource });
      }
    }
    expect(await sql(url, 'SELECT count(*)::int AS n FROM signalpress.payment')).toEqual([
      { n: 1000 },
    ]);
  });

  it('adds the columns that a database of an older version lacks, and keeps its rows', async () => {
    const url = await server.freshUrl();
    const before = await openOn(url);
    await before.claim(claimOf('a'));
    await before.close();
    await sql(
      url,
      'ALTER TABLE signalpress.payment DROP COLUMN claim_block, DROP COLUMN identifier, DROP COLUMN final_at',
    );
    const [one, two] = await Promise.all([openOn(url), openOn(url)]);
    expect(await one.find('a')).toMatchObject({ key: 'a', state: 'settling' });
    expect(await two.claim(claimOf('b', { usd: '20000', identifier: '0xa|x' }))).toBe(true);
    expect(await one.find('b')).toMatchObject({ usd: '20000' });
    expect(await one.claim(claimOf('c', { identifier: '0xa|x' }))).toBe(false);
  });

  it('I3: lets nobody take a payment that another one asks for, and one that nobody does', async () => {
    const { one, two } = await pair();
    await one.claim(claimOf('a'));
    expect(await shared(two).take('a', claimOf('a'))).toBe(false);
    await one.conclude({ key: 'a', state: 'unknown', detail: 'timeout' });
    const other = claimOf('a', { resource: 'GET /other' });
    expect(await shared(two).take('a', other)).toBe(false);
    const [mine, yours] = await Promise.all([
      shared(one).take('a', claimOf('a')),
      shared(two).take('a', claimOf('a')),
    ]);
    expect([mine, yours].filter(Boolean)).toHaveLength(1);
    const loser = mine ? two : one;
    // Only whoever asks may say that it was refused.
    await expect(loser.conclude({ key: 'a', state: 'refused' })).rejects.toThrow(/not open/);
    await loser.conclude({ key: 'a', state: 'settled', transaction: '0x1' });
    expect(await one.find('a')).toMatchObject({ state: 'settled' });
    expect(await shared(one).take('a', claimOf('a'))).toBe(false);
  });

  it('I9: notes the refusal of a first call only while nobody else has asked', async () => {
    const { one, two, url } = await pair();
    const refusal = { state: 'refused', isFirst: true } as const;
    for (const key of ['alone', 'asked', 'asking']) await one.claim(claimOf(key));
    await one.conclude({ key: 'alone', ...refusal });
    // The session of the first one was lost for a while, in which the second one took what it held.
    await sql(url, "UPDATE signalpress.payment SET holder = NULL WHERE key LIKE 'ask%'");
    for (const key of ['asked', 'asking'])
      expect(await shared(two).take(key, claimOf(key))).toBe(true);
    await two.conclude({ key: 'asked', state: 'unknown', detail: 'timeout' });
    await two.close();
    for (const key of ['asked', 'asking']) {
      await expect(one.conclude({ key, ...refusal })).rejects.toThrow(/not open/);
    }
    expect(await one.find('alone')).toMatchObject({ state: 'refused' });
    expect(await one.find('asked')).toMatchObject({ state: 'unknown' });
    expect(await one.find('asking')).toMatchObject({ state: 'settling' });
    // What the chain proves counts from anybody.
    await one.conclude({ key: 'asking', state: 'refused' });
    expect(await one.find('asking')).toMatchObject({ state: 'refused' });
  });

  it('I2: a payment that is waited for is told as soon as its end is noted', async () => {
    const { one, two } = await pair();
    await one.claim(claimOf('a'));
    const waiting = shared(two).take('a', claimOf('a'));
    await one.conclude({ key: 'a', state: 'settled', transaction: '0x1' });
    expect(await waiting).toBe(false);
    expect(await two.find('a')).toMatchObject({ state: 'settled', transaction: '0x1' });
  });

  it('I2: lets the next one take what a gatekeeper held that ended', async () => {
    const { one, two } = await pair();
    await one.claim(claimOf('a'));
    expect(await shared(two).take('a', claimOf('a'))).toBe(false);
    await one.close();
    all.splice(all.indexOf(one), 1);
    expect(await shared(two).take('a', claimOf('a'))).toBe(true);
  });

  it('learns what others noted, and forgets what they refused', async () => {
    const { one, two } = await pair();
    await one.claim(claimOf('a'));
    expect(two.bindingOf('a')).toBeNull();
    await shared(two).learn('a');
    expect(two.bindingOf('a')).toMatchObject({ resource: 'GET /gauge?entity=a' });
    await one.conclude({ key: 'a', state: 'refused' });
    await shared(two).learn('a');
    expect(two.bindingOf('a')).toBeNull();
  });

  it('lists open payments in one gatekeeper alone, without those that another one asks for, and moves on', async () => {
    const { one, two } = await pair();
    for (const key of ['a', 'b']) await one.claim(claimOf(key));
    for (const key of ['c', 'd']) await two.claim(claimOf(key));
    await two.conclude({ key: 'd', state: 'unknown' });
    const keys = async (journal: Opened) => (await journal.unresolved(0, 10)).map(({ key }) => key);
    expect(await keys(one)).toEqual(['a', 'b', 'd']);
    expect(await keys(two)).toEqual([]);
    await one.close();
    all.splice(all.indexOf(one), 1);
    await expect.poll(() => keys(two)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('I33: learns with each claim the newest time that another one noted', async () => {
    const url = await server.freshUrl();
    let now = NOW_S * 1000;
    const ahead = await postgresJournal({ url, clock: () => now + 3_600_000, lost });
    const right = await postgresJournal({ url, clock: () => now, lost });
    await ahead.claim(claimOf('a'));
    now += 1;
    await right.claim(claimOf('b'));
    expect(right.newestMs()).toBe(now - 1 + 3_600_000);
    await ahead.close();
    await right.close();
  });

  it('I11: keeps no transaction twice, and gives it to nobody else', async () => {
    const url = await server.freshUrl();
    let now = NOW_S * 1000;
    const by = { clock: () => now, passedMs: () => now, lost };
    const journal = await postgresJournal({ url, ...by });
    all.push(journal);
    const other = await openOn(url);
    for (const key of ['a', 'b']) await journal.claim(claimOf(key));
    const taken = await Promise.all([
      journal.takeTransaction('a', '0xAA'),
      other.takeTransaction('b', '0xaa'),
    ]);
    expect(taken.filter(Boolean)).toHaveLength(1);
    const [mine, others] = taken[0] ? ['a', 'b'] : ['b', 'a'];
    await journal.conclude({ key: `${mine}`, state: 'settled', transaction: '0xAA' });
    now += PURGE_INTERVAL_MS + 3_600_000;
    await journal.claim(claimOf('c'));
    const left = 'SELECT tx FROM signalpress.taken_transaction';
    await expect.poll(() => sql(url, left)).toEqual([]);
    expect(await other.takeTransaction(`${others}`, '0xaa')).toBe(false);
    expect(await other.takeTransaction(`${mine}`, '0xaa')).toBe(true);
  });

  it('notes what no text of PostgreSQL can hold', async () => {
    const { one } = await pair();
    await one.claim(claimOf('a'));
    await one.conclude({ key: 'a', state: 'unknown', detail: 'a\0b' });
    expect(await one.find('a')).toMatchObject({ detail: 'a\ufffdb' });
  });

  it('I24: refuses to deliver a body that the database changed', async () => {
    const { one, url } = await pair();
    await one.claim(claimOf('a'));
    await sql(url, "UPDATE signalpress.body SET bytes = 'other'");
    await expect(one.find('a')).rejects.toThrow(/hash does not match/);
  });
});

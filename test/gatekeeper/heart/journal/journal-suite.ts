import { afterAll, describe, expect, it } from 'vitest';
import { PURGE_INTERVAL_MS } from '../../../../gatekeeper/heart/journal/journal-row.ts';
import { type Claim, DEAD_AFTER_S, type Journal } from '../../../../gatekeeper/settle/journal.ts';
import { NOW_MS, NOW_S } from '../../payer.ts';

const CLOCK_BACK_MS_MAX = 5000;
const GZIP_BYTES_MIN = 16_384;
const YEAR_MS = 365 * 86_400_000;

/** A journal of one engine that a test closes. */
export type Opened = Journal & { close(): void | Promise<void> };

/** What keeps journals: the scenarios are the same for all. */
export interface Engine {
  readonly name: string;
  /** Makes an empty place for a journal. */
  fresh(): Promise<string>;
  /** By the same clock it deletes what is old, where no other one is given. */
  open(place: string, clock: () => number, passedMs?: () => number | null): Promise<Opened>;
  /** Sets aside times ahead of this one, as `ledger accept-clock` does. */
  acceptClock(place: string, nowMs: number): Promise<unknown>;
}

export const clock = (): number => NOW_MS;

export const claimOf = (key: string, overrides: Partial<Claim> = {}): Claim => ({
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

/** What every journal promises. */
export function journalSuite(engine: Engine): void {
  const { name } = engine;
  const open: Opened[] = [];
  afterAll(async () => {
    for (const journal of open) await journal.close();
  });
  const opened = async (
    place: string,
    at: () => number = clock,
    passedMs?: () => number | null,
  ): Promise<Opened> => {
    const journal = await engine.open(place, at, passedMs);
    open.push(journal);
    return journal;
  };
  const closed = async (journal: Opened): Promise<void> => {
    open.splice(open.indexOf(journal), 1);
    await journal.close();
  };
  const fresh = async (at?: () => number): Promise<Opened> => opened(await engine.fresh(), at);

  describe(`${name}()`, () => {
    it(`${name}() keeps a payment from claim to settlement, over a reopening`, async () => {
      const place = await engine.fresh();
      const journal = await opened(place);
      expect(await journal.find('a')).toBeNull();
      expect(await journal.claim(claimOf('a'))).toBe(true);
      const shown = { identifier: null, client: null };
      const row = { ...claimOf('a'), ...shown, transaction: null, settledMs: null, detail: null };
      expect(await journal.find('a')).toStrictEqual({ ...row, state: 'settling' });
      await journal.conclude({ key: 'a', state: 'unknown', detail: 'timeout' });
      expect(await journal.find('a')).toMatchObject({ state: 'unknown', detail: 'timeout' });
      const end = { state: 'settled', transaction: '0x1', settledMs: 1_763_640_000_000 } as const;
      await journal.conclude({ key: 'a', ...end });
      await closed(journal);
      const again = await opened(place);
      expect(await again.find('a')).toStrictEqual({ ...row, ...end });
    });

    it(`I2: ${name}() knows the tokens that payments of before were in, however many there are`, async () => {
      const place = await engine.fresh();
      const journal = await opened(place);
      const tokens = ['avalanche|0xa', 'base|0xa', 'base|0xb', 'base-sepolia|0xa', 'sei|0xc'].map(
        (token) => `${token}${'0'.repeat(39)}`,
      );
      const [account, word] = [`0x${'1'.repeat(40)}`, 'f'.repeat(63)];
      const keys = tokens.flatMap((token) =>
        ['0', '7', 'f'].map((digit) => `${token}|${account}|0x${digit}${word}`),
      );
      for (const key of [...keys, 'receipt|a', `receipt|${'z'.repeat(200)}`]) {
        await journal.claim(claimOf(key));
      }
      expect(journal.tokens).toEqual([]);
      await closed(journal);
      const known = (await opened(place)).tokens.filter((token) => token !== 'receipt');
      expect([...known].sort()).toEqual([...tokens].sort());
    });

    it(`I3: ${name}() lets one claim stand, also of two processes`, async () => {
      const place = await engine.fresh();
      const [one, two] = [await opened(place), await opened(place)];
      const claims = await Promise.all([
        one.claim(claimOf('a')),
        two.claim(claimOf('a', { resource: 'GET /other' })),
        one.claim(claimOf('a')),
      ]);
      expect(claims.filter(Boolean)).toHaveLength(1);
    });

    it(`I2: ${name}() finds what another process noted, and nothing else`, async () => {
      const place = await engine.fresh();
      const [one, two] = [await opened(place), await opened(place)];
      await one.claim(claimOf('a'));
      expect(await two.findOnDisk('b')).toBeNull();
      expect(await two.findOnDisk('a')).toMatchObject({ key: 'a', state: 'settling' });
      expect(await two.find('a')).toMatchObject({ key: 'a' });
    });

    it(`${name}() keeps when a payment was settled, as it is told or else by its clock`, async () => {
      const place = await engine.fresh();
      const journal = await opened(place);
      for (const key of ['a', 'b']) await journal.claim(claimOf(key));
      await journal.conclude({ key: 'a', state: 'settled', transaction: '0x1', settledMs: 1234 });
      await journal.conclude({ key: 'b', state: 'settled', transaction: '0x2' });
      const late = { key: 'a', state: 'settled', transaction: '0x1', settledMs: 9999 } as const;
      await journal.conclude(late).catch(() => {});
      await closed(journal);
      const again = await opened(place);
      expect((await again.find('a'))?.settledMs).toBe(1234);
      expect((await again.find('b'))?.settledMs).toBeGreaterThan(1_000_000_000_000);
    });

    it(`I10: ${name}() gives a refused key to the next claim, and only that`, async () => {
      const journal = await fresh();
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
    });

    it(`I10: ${name}() gives an identifier to one payment that stands, over a reopening and between two processes`, async () => {
      const place = await engine.fresh();
      const [one, two] = [await opened(place), await opened(place)];
      const named = (key: string, identifier = 'sha256:ax') => claimOf(key, { identifier });
      expect(await one.identifiedKey('sha256:ax')).toBeNull();
      const claims = await Promise.all([
        one.claim(named('a')),
        two.claim(named('b')),
        one.claim(named('c')),
      ]);
      expect(claims.filter(Boolean)).toHaveLength(1);
      const first = ['a', 'b', 'c'][claims.indexOf(true)] ?? '';
      expect(await two.identifiedKey('sha256:ax')).toBe(first);
      expect(await two.claim(named('d', 'sha256:bx'))).toBe(true);
      expect(await two.claim(claimOf('e'))).toBe(true);
      await one.conclude({ key: first, state: 'settled', transaction: '0x1' });
      await closed(one);
      const again = await opened(place);
      expect(await again.claim(named('f'))).toBe(false);
      expect(await again.find('f')).toBeNull();
      expect(await again.identifiedKey('sha256:ax')).toBe(first);
    });

    it(`I59: ${name}() uses a message up once, for all who share it, and forgets it after its time`, async () => {
      const place = await engine.fresh();
      let now = NOW_MS;
      const [one, two] = [await opened(place, () => now), await opened(place, () => now)];
      const uses = [one, two, one].map((journal) => journal.useOnce('0xa|nonce', NOW_MS + 1000));
      expect((await Promise.all(uses)).filter(Boolean)).toHaveLength(1);
      expect(await two.useOnce('0xb|nonce', NOW_MS + 1000)).toBe(true);
      await closed(one);
      now += 1000;
      const again = await opened(place, () => now);
      expect(await again.useOnce('0xa|nonce', now)).toBe(false);
      now += 1;
      await again.useOnce('0xc|nonce', now);
      expect(await again.useOnce('0xa|nonce', now)).toBe(true);
    });

    it(`I59: ${name}() forgets no used message by a clock that jumps ahead and back`, async () => {
      let [now, passed] = [NOW_MS, NOW_MS as number | null];
      const journal = await opened(
        await engine.fresh(),
        () => now,
        () => passed,
      );
      const untilMs = NOW_MS + 3_600_000;
      expect(await journal.useOnce('0xa|nonce', untilMs)).toBe(true);
      for (const trusted of [NOW_MS, null]) {
        [now, passed] = [NOW_MS + YEAR_MS, trusted];
        expect(await journal.useOnce(`0xb|${trusted}`, now)).toBe(true);
        now = NOW_MS;
        expect(await journal.useOnce('0xa|nonce', untilMs)).toBe(false);
      }
      passed = untilMs + 1;
      await journal.useOnce('0xc|nonce', NOW_MS + YEAR_MS);
      expect(await journal.useOnce('0xa|nonce', untilMs)).toBe(true);
    });

    it(`I59: ${name}() has one secret for all who share it, over a reopening, and another elsewhere`, async () => {
      const place = await engine.fresh();
      const [one, two] = [await opened(place), await opened(place)];
      expect(one.secret).toHaveLength(32);
      expect([...two.secret]).toEqual([...one.secret]);
      await closed(one);
      await closed(two);
      expect([...(await opened(place)).secret]).toEqual([...two.secret]);
      expect([...(await fresh()).secret]).not.toEqual([...two.secret]);
    });

    it(`I10: ${name}() gives the identifier of a refused payment to the next one`, async () => {
      const journal = await fresh();
      const named = (key: string) => claimOf(key, { identifier: 'sha256:ax' });
      await journal.claim(named('a'));
      await journal.conclude({ key: 'a', state: 'refused', detail: 'no' });
      expect(await journal.identifiedKey('sha256:ax')).toBeNull();
      expect(await journal.claim(named('b'))).toBe(true);
      expect(await journal.claim(named('a'))).toBe(false);
      expect(await journal.identifiedKey('sha256:ax')).toBe('b');
    });

    it(`I1: ${name}() finds the newest settled sale of an account for a request, and no other`, async () => {
      const journal = await fresh();
      const nonce = (digit: string) => `0x${digit.repeat(64)}`;
      const buy = async (account: string, digit: string, resource = 'GET /a') => {
        const key = `${account}|${nonce(digit)}`;
        await journal.claim(claimOf(key, { resource }));
        return key;
      };
      const settle = (key: string) =>
        journal.conclude({ key, state: 'settled', transaction: `0x${key}` });
      expect(await journal.soldTo(['base|0x1|0xa'], 'GET /a')).toBeNull();
      expect(await journal.hasSettled('base|0x1|0xa')).toBe(false);
      const older = await buy('base|0x1|0xa', '9');
      const newer = await buy('polygon|0x2|0xa', '1');
      await buy('base|0x1|0xa', '3');
      const refused = await buy('base|0x1|0xa', '4');
      await journal.conclude({ key: refused, state: 'refused', detail: 'no' });
      expect(await journal.hasSettled('base|0x1|0xa'), 'open and refused ones').toBe(false);
      for (const key of [await buy('base|0x1|0xa', '5', 'GET /b'), newer, older]) await settle(key);
      await settle(await buy('base|0x1|0xb', '6'));
      const accounts = ['base|0x1|0xa', 'polygon|0x2|0xa'];
      expect(await journal.soldTo(accounts, 'GET /a')).toBe(newer);
      expect(await journal.soldTo(['base|0x1|0xa'], 'GET /a')).toBe(older);
      expect(await journal.soldTo(['polygon|0x2|0xb'], 'GET /a')).toBeNull();
      expect(await journal.soldTo(accounts, 'GET /c')).toBeNull();
      expect(await journal.hasSettled('base|0x1|0xa')).toBe(true);
      expect(await journal.hasSettled('polygon|0x2|0xb')).toBe(false);
    });

    it(`${name}() counts what is open and says since when`, async () => {
      const time = { now: NOW_MS };
      const journal = await fresh(() => time.now);
      expect(await journal.openPayments()).toEqual({ settling: 0, unknown: 0, oldestMs: null });
      for (const key of ['a', 'b', 'c', 'd']) {
        await journal.claim(claimOf(key));
        time.now += 1000;
      }
      expect(await journal.openPayments()).toEqual({ settling: 4, unknown: 0, oldestMs: NOW_MS });
      await journal.conclude({ key: 'a', state: 'settled', transaction: '0x1' });
      await journal.conclude({ key: 'b', state: 'refused', detail: 'no' });
      await journal.conclude({ key: 'c', state: 'unknown', detail: 'timeout' });
      const oldestMs = NOW_MS + 2000;
      expect(await journal.openPayments()).toEqual({ settling: 1, unknown: 1, oldestMs });
    });

    it(`I46: ${name}() tells at once what a payment is bound to, unless it is unknown or refused`, async () => {
      const journal = await fresh();
      const shown = { identifier: 'sha256:a', client: 'hash' };
      const bound = {
        resource: 'GET /gauge?entity=a',
        signed: 'a|b|10000|0|1|c|d',
        settledMs: null,
      };
      expect(journal.bindingOf('settled')).toBeNull();
      for (const state of ['refused', 'settled', 'unknown'] as const) {
        const known = { ...bound, ...shown, identifier: `sha256:${state}` };
        await journal.claim(claimOf(state, { ...shown, identifier: known.identifier }));
        expect(journal.bindingOf(state)).toStrictEqual(known);
        await journal.conclude({ key: state, state, transaction: '0x1', settledMs: 7 });
        const after = state === 'settled' ? { ...known, settledMs: 7 } : known;
        expect(journal.bindingOf(state)).toStrictEqual(state === 'refused' ? null : after);
      }
    });

    it(`I11: ${name}() gives a transaction to one payment, also before it is noted and after a restart`, async () => {
      const place = await engine.fresh();
      const journal = await opened(place);
      for (const key of ['a', 'b']) await journal.claim(claimOf(key));
      expect(await journal.takeTransaction('a', '0xAB')).toBe(true);
      expect(await journal.takeTransaction('a', '0xab')).toBe(true);
      expect(await journal.takeTransaction('b', '0xab')).toBe(false);
      expect(await journal.takeTransaction('b', '0xcd')).toBe(true);
      await journal.conclude({ key: 'a', state: 'settled', transaction: '0xAB' });
      await closed(journal);
      const again = await opened(place);
      expect(await again.takeTransaction('a', '0xab')).toBe(true);
      expect(await again.takeTransaction('b', '0xAb')).toBe(false);
      expect(await again.takeTransaction('b', '0xcd')).toBe(true);
    });

    it(`${name}() never changes what is settled, and refuses to conclude what it does not know`, async () => {
      const journal = await fresh();
      await journal.claim(claimOf('a'));
      await journal.conclude({ key: 'a', state: 'settled', transaction: '0x1' });
      await expect(journal.conclude({ key: 'a', state: 'refused' })).rejects.toThrow(/not open/);
      await expect(
        journal.conclude({ key: 'a', state: 'settled', transaction: '0x2' }),
      ).rejects.toThrow(/not open/);
      await expect(journal.conclude({ key: 'b', state: 'settled' })).rejects.toThrow(/not open/);
      expect(await journal.find('a')).toMatchObject({ state: 'settled', transaction: '0x1' });
    });

    it(`${name}() returns every byte of a body, small or large`, async () => {
      const journal = await fresh();
      for (const size of [0, 1, GZIP_BYTES_MIN - 1, GZIP_BYTES_MIN, 300_000]) {
        const body = Buffer.alloc(size, 'ab\u0000\u00ff');
        await journal.claim(claimOf(`${size}`, { body, contentType: 'text/csv' }));
        const found = await journal.find(`${size}`);
        expect(found?.body?.equals(body)).toBe(true);
        expect(found?.contentType).toBe('text/csv');
      }
    });

    it(`${name}() keeps what another token than USDC was worth, and of the newest claim`, async () => {
      const journal = await fresh();
      await journal.claim(claimOf('usdc'));
      expect(await journal.find('usdc')).not.toHaveProperty('usd');
      await journal.claim(claimOf('euro', { usd: '10000' }));
      await journal.conclude({ key: 'euro', state: 'refused' });
      expect(await journal.find('euro')).toMatchObject({ usd: '10000' });
      await journal.claim(claimOf('euro', { usd: '20000' }));
      expect(await journal.find('euro')).toMatchObject({ state: 'settling', usd: '20000' });
    });

    it(`I61: ${name}() keeps the newest block before a claim, and of the newest claim`, async () => {
      const journal = await fresh();
      await journal.claim(claimOf('a', { claimBlock: '7:0xaa' }));
      await journal.conclude({ key: 'a', state: 'refused' });
      expect(await journal.find('a')).toMatchObject({ claimBlock: '7:0xaa' });
      await journal.claim(claimOf('a', { claimBlock: '9:0xbb' }));
      expect(await journal.find('a')).toMatchObject({ state: 'settling', claimBlock: '9:0xbb' });
      await journal.conclude({ key: 'a', state: 'refused' });
      await journal.claim(claimOf('a'));
      expect(await journal.find('a')).not.toHaveProperty('claimBlock');
    });

    it(`I61: ${name}() lists what a node showed until it is final, and nothing else`, async () => {
      const journal = await fresh();
      const claimBlock = '7:0xaa';
      for (const key of ['a', 'b', 'c']) await journal.claim(claimOf(key, { claimBlock }));
      for (const key of ['open', 'refused']) await journal.claim(claimOf(key, { claimBlock }));
      await journal.claim(claimOf('unseen'));
      await journal.conclude({ key: 'refused', state: 'refused' });
      for (const [at, key] of ['a', 'b', 'c', 'unseen'].entries()) {
        const settledMs = NOW_MS + at * 1000;
        await journal.conclude({ key, state: 'settled', transaction: `0x${at}`, settledMs });
      }
      const keys = async (beforeMs: number, after = 0, limit = 10) =>
        (await journal.unfinal(after, limit, beforeMs)).map(({ key }) => key);
      expect(await keys(NOW_MS)).toEqual([]);
      expect(await keys(NOW_MS + 1001)).toEqual(['a', 'b']);
      expect(await keys(NOW_MS + 9000)).toEqual(['a', 'b', 'c']);
      expect(await keys(NOW_MS + 9000, 0, 2)).toEqual(['a', 'b']);
      const [first] = await journal.unfinal(0, 1, NOW_MS + 9000);
      expect(await keys(NOW_MS + 9000, first?.place)).toEqual(['b', 'c']);
      await journal.review({ key: 'a', state: 'final' });
      await journal.review({ key: 'b', state: 'moved', transaction: '0x9' });
      expect(await keys(NOW_MS + 9000)).toEqual(['b', 'c']);
      expect(await journal.find('b')).toMatchObject({ state: 'settled', transaction: '0x9' });
    });

    it(`I61: ${name}() knows what was settled while nobody waited, until it is delivered`, async () => {
      const place = await engine.fresh();
      const journal = await opened(place);
      for (const key of ['late', 'served', 'refused']) await journal.claim(claimOf(key));
      const end = { state: 'settled', isWaiting: true } as const;
      await journal.conclude({ key: 'late', transaction: '0x1', ...end });
      await journal.conclude({ key: 'served', transaction: '0x2', ...end, isWaiting: false });
      await journal.conclude({ key: 'refused', state: 'refused', isWaiting: true });
      await closed(journal);
      const again = await opened(place);
      expect(await again.find('late')).toMatchObject({ isWaiting: true });
      for (const key of ['served', 'refused'])
        expect(await again.find(key)).not.toHaveProperty('isWaiting');
      for (const key of ['late', 'nobody']) await again.delivered(key);
      expect(await again.find('late')).not.toHaveProperty('isWaiting');
      expect(await again.find('late')).toMatchObject({ state: 'settled', transaction: '0x1' });
    });

    it(`I61: ${name}() opens a payment again whose transfer vanished, unless it was final`, async () => {
      const journal = await fresh();
      const claimBlock = '7:0xaa';
      for (const key of ['gone', 'final']) {
        await journal.claim(claimOf(key, { claimBlock }));
        await journal.conclude({ key, state: 'settled', transaction: `0x${key}` });
      }
      await journal.review({ key: 'final', state: 'final' });
      for (const key of ['gone', 'final', 'nobody']) await journal.review({ key, state: 'gone' });
      expect(await journal.find('final')).toMatchObject({ state: 'settled' });
      const open = { state: 'unknown', transaction: null, settledMs: null };
      expect(await journal.find('gone')).toMatchObject({ ...open, detail: 'reorganised: 0xgone' });
      expect((await journal.unresolved(0, 10)).map(({ key }) => key)).toEqual(['gone']);
      expect(await journal.unfinal(0, 10, Number.MAX_SAFE_INTEGER)).toEqual([]);
      await journal.conclude({ key: 'gone', state: 'settled', transaction: '0xgone' });
      expect(await journal.unfinal(0, 10, Number.MAX_SAFE_INTEGER)).toHaveLength(1);
    });

    it(`${name}() stores many claims at once, and a bad one harms no other`, async () => {
      const journal = await fresh();
      const wrong = { ...claimOf('bad'), resource: null as unknown as string };
      const writes = Array.from({ length: 50 }, (_, at) => journal.claim(claimOf(`k${at}`)));
      await expect(journal.claim(wrong)).rejects.toThrow();
      expect(await Promise.all(writes)).toEqual(Array(50).fill(true));
      expect(await journal.find('bad')).toBeNull();
      expect(await journal.unresolved(0, 100)).toHaveLength(50);
    });

    it(`${name}() lists what is open, in its order, from a place on`, async () => {
      const journal = await fresh();
      for (const key of ['a', 'b', 'c', 'd']) await journal.claim(claimOf(key));
      await journal.conclude({ key: 'b', state: 'settled', transaction: '0x1' });
      await journal.conclude({ key: 'c', state: 'unknown', detail: 'x' });
      const rows = await journal.unresolved(0, 10);
      expect(rows.map(({ key }) => key)).toEqual(['a', 'c', 'd']);
      expect((await journal.unresolved(0, 2)).map(({ key }) => key)).toEqual(['a', 'c']);
      const behind = await journal.unresolved(rows[0]?.place ?? 0, 10);
      expect(behind.map(({ key }) => key)).toEqual(['c', 'd']);
    });

    it(`${name}() forgets after the retention, and never before the authorization is dead`, async () => {
      let now = NOW_MS;
      const journal = await fresh(() => now);
      await journal.claim(claimOf('old'));
      await journal.claim(claimOf('far', { validBefore: NOW_S + 86_400 * 90 }));
      await journal.claim(claimOf('endless', { validBefore: Number.MAX_SAFE_INTEGER }));
      now += 29 * 86_400_000;
      await journal.claim(claimOf('x'));
      expect(await journal.find('old')).not.toBeNull();
      now += 2 * 86_400_000 + PURGE_INTERVAL_MS;
      await journal.claim(claimOf('y'));
      await expect.poll(() => journal.find('old')).toMatchObject({ body: null, value: '10000' });
      expect((await journal.find('far'))?.body).not.toBeNull();
      expect(await journal.find('endless')).toMatchObject({ validBefore: Number.MAX_SAFE_INTEGER });
    });

    it(`I61: ${name}() deletes nothing by a clock that jumps 40 days, nor while nobody can tell the time`, async () => {
      const day = 86_400_000;
      const time: { now: number; passed: number | null } = { now: NOW_MS, passed: NOW_MS };
      const place = await engine.fresh();
      const journal = await opened(
        place,
        () => time.now,
        () => time.passed,
      );
      await journal.claim(claimOf('sold'));
      await journal.conclude({ key: 'sold', state: 'settled', transaction: '0x1' });
      await journal.claim(claimOf('refused'));
      await journal.conclude({ key: 'refused', state: 'refused' });
      const kept = async () => {
        await journal.claim(claimOf(`${time.now} ${time.passed}`));
        // What a clean-up would have done by now.
        await new Promise((resolve) => setTimeout(resolve, 50));
        const [sold, refused] = [await journal.find('sold'), await journal.find('refused')];
        return [sold?.body != null, refused !== null];
      };
      time.now += 40 * day;
      for (const passed of [NOW_MS, null, NOW_MS + day]) {
        time.passed = passed;
        expect(await kept()).toEqual([true, true]);
      }
      time.passed = time.now;
      await expect.poll(kept).toEqual([false, false]);
    });

    it(`I9: ${name}() forgets a refusal from the second on in which its authorization is dead, and no body before it`, async () => {
      const validBefore = NOW_S + 86_400 * 90;
      const dead = (validBefore + DEAD_AFTER_S) * 1000;
      for (const [end, kept] of [
        [dead, true],
        [dead + 1000, false],
      ] as const) {
        let now = NOW_MS;
        const journal = await fresh(() => now);
        await journal.claim(claimOf('sold', { validBefore }));
        await journal.claim(claimOf('refused', { validBefore }));
        await journal.claim(claimOf('gone'));
        await journal.conclude({ key: 'refused', state: 'refused' });
        await journal.conclude({ key: 'gone', state: 'refused' });
        now = end;
        await journal.claim(claimOf('x'));
        // What is certain to be forgotten shows that the clean-up is through.
        await expect.poll(() => journal.find('gone')).toBeNull();
        const { body } = (await journal.find('sold')) ?? {};
        const entry = await journal.find('refused');
        expect([body !== null, entry !== null]).toEqual([true, kept]);
      }
    });

    it(`I33: ${name}() knows its newest time, over a reopening and until another one is accepted`, async () => {
      const place = await engine.fresh();
      const by = { now: NOW_MS + YEAR_MS };
      const journal = await opened(place, () => by.now);
      expect(journal.newestMs()).toBe(0);
      await journal.claim(claimOf('ahead'));
      expect(journal.newestMs()).toBe(NOW_MS + YEAR_MS);
      by.now = NOW_MS;
      const again = await opened(place, () => by.now);
      expect(again.newestMs()).toBe(NOW_MS + YEAR_MS);
      await engine.acceptClock(place, by.now);
      for (const one of [journal, again]) await expect.poll(() => one.newestMs()).toBe(NOW_MS);
      by.now += 1000;
      await again.claim(claimOf('after'));
      expect(again.newestMs()).toBe(NOW_MS + 1000);
      by.now -= CLOCK_BACK_MS_MAX + 1001;
      expect(again.newestMs()).toBe(NOW_MS + 1000);
    });

    it(`${name}() finds citations of sold bodies, whole or by a prefix, and of no others`, async () => {
      const journal = await fresh();
      const [one, twin] = ['ab'.repeat(32), `${'ab'.repeat(31)}cd`];
      const cited = (digits: string) => ({ fact: 'x', record_hash: `sha256:${digits}` });
      const sealed = (digits: string, more = '') =>
        Buffer.from(`{"rows":[1]${more},"_citation":${JSON.stringify(cited(digits))}}\n`);
      await journal.claim(claimOf('a', { body: sealed(one) }));
      await journal.claim(claimOf('b', { body: sealed(one, ',"cut":1') }));
      const long = sealed(twin, `,"filler":"${'x'.repeat(400_000)}"`);
      await journal.claim(claimOf('c', { body: long }));
      await journal.claim(claimOf('d', { body: Buffer.from('day,value\n') }));
      expect(await journal.citations(twin)).toEqual([cited(twin)]);
      expect(await journal.citations(one)).toEqual([cited(one)]);
      expect(await journal.citations('abababab')).toHaveLength(2);
      for (const digits of ['00000000', 'abababac', one.toUpperCase()])
        expect(await journal.citations(digits)).toEqual([]);
    });
  });
}

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerCommand } from '../../gatekeeper/heart/journal/ledger-command.ts';
import { keepingSettlements, openJournal } from '../../gatekeeper/heart/journal/open-journal.ts';
import { postgresJournal } from '../../gatekeeper/heart/journal/postgres-journal.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import { ServiceState } from '../../gatekeeper/wire/service-state.ts';
import { claimOf, clock } from '../gatekeeper/heart/journal/journal-suite.ts';
import { payer } from '../gatekeeper/payer.ts';
import { tinyGate } from '../gatekeeper/tiny-gate.ts';
import { UNTOLD } from '../gatekeeper/tiny-service.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** Stands between a gatekeeper and its database. */
interface CuttingProxy {
  /** URL of the database through the proxy. */
  readonly url: string;
  /** What happens to connections from here on. */
  set(mode: ProxyMode): void;
  /** Cuts all connections now. */
  cut(): void;
  close(): Promise<void>;
}

type ProxyMode =
  | 'pass'
  /** What the gatekeeper says arrives, and the connection is cut before the answer does. */
  | 'lose-answers'
  /** Nobody is let in. */
  | 'closed'
  /** Nothing passes any more in either direction, and nothing is cut. */
  | 'frozen';

/** Time in which the database works on what arrived before its answer is lost. */
const WORK_MS = 150;

async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let mode: ProxyMode = 'pass';
  const server = createServer((client) => {
    if (mode === 'closed') return void client.destroy();
    const database = connect(Number(port), hostname);
    const end = (): void => {
      client.destroy();
      database.destroy();
    };
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => {
      if (mode !== 'frozen') database.write(bytes);
    });
    database.on('data', (bytes) => {
      if (mode === 'pass' || mode === 'closed') client.write(bytes);
      if (mode === 'lose-answers') setTimeout(end, WORK_MS);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    set(next) {
      mode = next;
    },
    cut,
    async close() {
      cut();
      await new Promise((done) => server.close(done));
    },
  };
}

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

type Events = { readonly event?: unknown; readonly error?: unknown }[];

async function open(url: string) {
  const events: Events = [];
  const state = new ServiceState({ clock, log: (entry) => events.push(entry) });
  const journal = await postgresJournal({ url, clock, lost: state.trouble('journal_lost') });
  return { journal, events };
}

async function rows(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const found = await client.query(text);
  await client.end();
  return found.rows;
}

const tick = (ms: number) => new Promise((done) => setTimeout(done, ms));

describe('postgresJournal() whose answers are lost', () => {
  it('I3: takes a claim of its own that was committed for its own, and that of another one for another', async () => {
    const url = await server.freshUrl();
    const proxy = await cuttingProxy(url);
    const { journal } = await open(proxy.url);
    const other = (await open(url)).journal;
    // The body is there and the statements are prepared, so that the next round trip is the commit.
    await journal.claim(claimOf('warm', { body: Buffer.from('same') }));
    await other.claim(claimOf('others', { body: Buffer.from('same') }));
    proxy.set('lose-answers');
    const mine = journal.claim(claimOf('mine', { body: Buffer.from('same') }));
    await expect.poll(() => other.find('mine')).toMatchObject({ state: 'settling' });
    const others = journal.claim(claimOf('others', { body: Buffer.from('same') }));
    await tick(300);
    proxy.set('pass');
    expect(await mine).toBe(true);
    expect(await others).toBe(false);
    expect(await other.claim(claimOf('mine'))).toBe(false);
    expect(await rows(url, 'SELECT count(*)::int AS n FROM signalpress.payment')).toEqual([
      { n: 3 },
    ]);
    await journal.close();
    await other.close();
    await proxy.close();
  });

  it('I2: notes an end once, also when the answer to that is lost', async () => {
    const url = await server.freshUrl();
    const proxy = await cuttingProxy(url);
    const { journal } = await open(proxy.url);
    const other = (await open(url)).journal;
    const ends = [
      { key: 'a', state: 'settled', transaction: '0x1' },
      { key: 'b', state: 'refused', detail: 'no' },
    ] as const;
    for (const end of ends) {
      await journal.claim(claimOf(end.key));
      proxy.set('lose-answers');
      const noted = journal.conclude(end);
      await expect.poll(() => other.find(end.key)).toMatchObject({ state: end.state });
      proxy.set('pass');
      await noted;
    }
    expect(await journal.find('a')).toMatchObject({ state: 'settled', transaction: '0x1' });
    await journal.close();
    await other.close();
    await proxy.close();
  });

  it('I1: claims nothing while the database is away, says so, and goes on when it is back', async () => {
    const proxy = await cuttingProxy(await server.freshUrl());
    const { journal, events } = await open(proxy.url);
    await journal.claim(claimOf('a'));
    proxy.set('closed');
    proxy.cut();
    await expect.poll(() => journal.isLost()).toBe(true);
    await expect(journal.claim(claimOf('b'))).rejects.toThrow();
    proxy.set('pass');
    await expect.poll(() => journal.isLost()).toBe(false);
    expect(await journal.claim(claimOf('b'))).toBe(true);
    expect(events.map(({ event }) => event)).toEqual(['journal_lost', 'journal_back']);
    expect(JSON.stringify(events)).not.toContain('only-for-tests');
    await journal.close();
    await proxy.close();
  });

  it('I2: hides a short restart: a claim and an end wait for it', async () => {
    const proxy = await cuttingProxy(await server.freshUrl());
    const { journal } = await open(proxy.url);
    await journal.claim(claimOf('a'));
    proxy.set('closed');
    proxy.cut();
    const both = [
      journal.claim(claimOf('b')),
      journal.conclude({ key: 'a', state: 'settled', transaction: '0x1' }),
    ];
    await tick(700);
    proxy.set('pass');
    expect(await Promise.all(both)).toEqual([true, undefined]);
    await journal.close();
    await proxy.close();
  });

  it('I2: keeps a settlement in memory while the database is away, and writes it with the next pass', async () => {
    const url = await server.freshUrl();
    const proxy = await cuttingProxy(url);
    const { journal: inner } = await open(proxy.url);
    const journal = keepingSettlements(inner);
    await journal.claim(claimOf('a'));
    proxy.set('closed');
    proxy.cut();
    const settled = { key: 'a', state: 'settled', transaction: '0x1' } as const;
    await expect(journal.conclude(settled)).rejects.toThrow();
    proxy.set('pass');
    await expect.poll(() => inner.isLost()).toBe(false);
    const leader = (await open(url)).journal;
    await leader.unresolved(0, 1);
    // Whoever does not look after open payments writes its own settlements all the same.
    expect(await journal.unresolved(0, 10)).toEqual([]);
    expect(await leader.find('a')).toMatchObject({ state: 'settled', transaction: '0x1' });
    await inner.close();
    await leader.close();
    await proxy.close();
  });

  it('I3: still holds what it asks for after its session was lost, and lets go what it could not conclude', async () => {
    const url = await server.freshUrl();
    const proxy = await cuttingProxy(url);
    const { journal } = await open(proxy.url);
    const other = (await open(url)).journal;
    await journal.claim(claimOf('held'));
    await journal.claim(claimOf('left'));
    proxy.set('closed');
    proxy.cut();
    await expect(journal.conclude({ key: 'left', state: 'unknown' })).rejects.toThrow();
    proxy.set('pass');
    await expect.poll(() => journal.isLost()).toBe(false);
    expect(await other.shared?.take('held', claimOf('held'))).toBe(false);
    const taken = async () => other.shared?.take('left', claimOf('left'));
    await expect.poll(taken).toBe(true);
    await journal.close();
    await other.close();
    await proxy.close();
  });

  it('says in /healthz that the database is away, and charges nobody until it is back', async () => {
    const proxy = await cuttingProxy(await server.freshUrl());
    const gate = await tinyGate({ config: { journal: proxy.url } });
    const health = async () => (await fetch(`${gate.url}/healthz`)).json();
    expect(await health()).toMatchObject({ status: 'ready' });
    proxy.set('closed');
    proxy.cut();
    await expect.poll(health).toMatchObject({
      status: 'not_ready',
      why: ['the payment journal cannot be written: see the log'],
      serves: { ok: true },
      sells: { ok: false, reasons: [{ reason: 'journal_lost' }] },
    });
    proxy.set('pass');
    await expect.poll(health).toMatchObject({ status: 'ready' });
    expect(JSON.stringify(gate.logged)).toMatch(/journal_lost.*journal_back/);
    expect(JSON.stringify(gate.logged)).not.toContain('only-for-tests');
    await gate.close();
    await proxy.close();
  });

  it('is slow before it is lost when the database freezes, and says each once', async () => {
    const proxy = await cuttingProxy(await server.freshUrl());
    const gate = await tinyGate({ config: { journal: proxy.url }, pollMs: 3_600_000 });
    const told = () =>
      gate.logged.flatMap(({ state, event }) => (state === undefined ? [] : [event]));
    const target = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
    const { accepts } = (await (await fetch(gate.url + target)).json()) as {
      accepts: [RequirementsV1];
    };
    proxy.set('frozen');
    const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
    const bought = fetch(gate.url + target, { headers: { 'x-payment': header } });
    await expect.poll(told).toEqual(['journal_slow']);
    await expect.poll(told).toEqual(['journal_slow', 'journal_lost', 'journal_quick']);
    proxy.set('pass');
    proxy.cut();
    await expect.poll(() => told().at(-1)).toBe('journal_back');
    expect(told()).toHaveLength(4);
    await (await bought).text();
    await gate.close();
    await proxy.close();
  });

  it('ends in time although the database froze', async () => {
    const proxy = await cuttingProxy(await server.freshUrl());
    const { journal } = await open(proxy.url);
    await journal.claim(claimOf('a'));
    proxy.set('frozen');
    const started = performance.now();
    await journal.close();
    expect(performance.now() - started).toBeLessThan(8000);
    await proxy.close();
  });

  it('notices a database that freezes without a word', async () => {
    const proxy = await cuttingProxy(await server.freshUrl());
    const { journal } = await open(proxy.url);
    proxy.set('frozen');
    await expect.poll(() => journal.isLost(), { interval: 200 }).toBe(true);
    proxy.set('pass');
    proxy.cut();
    await expect.poll(() => journal.isLost()).toBe(false);
    expect(await journal.claim(claimOf('a'))).toBe(true);
    await journal.close();
    await proxy.close();
  });
});

describe('postgresJournal() on a server that is killed', () => {
  it('I2: loses no claim and no end that it confirmed, and confirms no claim twice', async () => {
    const url = await server.freshUrl();
    const [one, two] = [(await open(url)).journal, (await open(url)).journal];
    const claimed: string[] = [];
    const settled: string[] = [];
    let isOver = false;
    // Each space of keys has a worker at either gatekeeper, so each key is raced for.
    const work = async (journal: typeof one, space: number): Promise<void> => {
      for (let at = 0; !isOver; at++) {
        const key = `key ${space} ${at}`;
        try {
          if (!(await journal.claim(claimOf(key)))) continue;
          claimed.push(key);
          await journal.conclude({ key, state: 'settled', transaction: `0x${space}${at}` });
          settled.push(key);
        } catch {
          // It says that it did not; whether it stands all the same is not promised.
        }
      }
    };
    const workers = Array.from({ length: 16 }, (_, at) => work(at % 2 ? one : two, at >> 1));
    const more = async (): Promise<void> => {
      const enough = claimed.length + 50;
      await expect.poll(() => claimed.length).toBeGreaterThan(enough);
    };
    for (let kill = 0; kill < 3; kill++) {
      await more();
      await server.kill();
      await server.start();
    }
    await more();
    isOver = true;
    await Promise.all(workers);
    expect(new Set(claimed).size).toBe(claimed.length);
    const found = await rows(url, 'SELECT key, state FROM signalpress.payment');
    const states = new Map(found.map(({ key, state }) => [key, state]));
    expect(claimed.filter((key) => !states.has(key))).toEqual([]);
    expect(settled.filter((key) => states.get(key) !== 'settled')).toEqual([]);
    await one.close();
    await two.close();
  });
});

describe('openJournal() of a database', () => {
  const by = { clock, lost: UNTOLD };
  const refusal = (journal: string) =>
    openJournal({ stateDir: 'unused', journal }, by).then(
      () => 'opened',
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it('opens a good one, also by many at once', async () => {
    const journal = await server.freshUrl();
    const places = Array.from({ length: 5 }, () =>
      openJournal({ stateDir: 'unused', journal }, by),
    );
    for (const opened of await Promise.all(places)) await opened.close();
  });

  it('I49: refuses one that is not there or does not let us in, and names neither user nor password', async () => {
    const url = new URL(await server.freshUrl());
    const { port } = url;
    url.pathname = '/none';
    expect(await refusal(url.href)).toMatch(
      /Cannot open payment journal at "127\.0\.0\.1:[0-9]+\/none": .* correct SIGNALPRESS_JOURNAL$/,
    );
    const stranger = `postgres://postgres:hunter2@127.0.0.1:${port}/postgres`;
    expect(await refusal(stranger)).toMatch(/password authentication failed/);
    expect(await refusal(stranger)).not.toContain('hunter2');
  });

  it('refuses tables of another version by name', async () => {
    const journal = await server.freshUrl();
    await (await openJournal({ stateDir: 'unused', journal }, by)).close();
    await rows(journal, 'UPDATE signalpress.format SET version = 99');
    expect(await refusal(journal)).toMatch(/its format is 99, but this version writes 1; run the/);
  });

  it('I2: refuses a database that forgets what it confirms', async () => {
    const journal = await server.freshUrl();
    const name = new URL(journal).pathname.slice(1);
    await rows(journal, `ALTER DATABASE ${name} SET synchronous_commit = off`);
    expect(await refusal(journal)).toMatch(/synchronous_commit is off, so it may forget payments/);
    await rows(journal, `ALTER DATABASE ${name} SET synchronous_commit = on`);
    expect(await refusal(journal)).toBe('opened');
    const careless = await startPostgres({ fsync: 'off' });
    expect(await refusal(await careless.freshUrl())).toMatch(/fsync is off/);
    await careless.close();
  });
});

describe('a journal in PostgreSQL that is lost', () => {
  const folder = (): string => mkdtempSync(join(tmpdir(), 'lost-'));

  async function sql(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  const hasTables = async (url: string) =>
    (await sql(url, "SELECT to_regclass('signalpress.payment') IS NOT NULL AS has"))[0]?.has;

  async function acceptLoss(place: { stateDir: string; journal: string }): Promise<string> {
    let out = '';
    const write = (text: string): void => {
      out += text;
    };
    const command = ledgerCommand({ place, write, note: write, clock });
    await command.exitOverride().parseAsync(['accept-loss'], { from: 'user' });
    return out;
  }

  it.each(['newest-release.json', 'payments.db'])(
    'I16: is not made anew beside %s, until the operator says that it is lost for good',
    async (name) => {
      const place = { stateDir: folder(), journal: await server.freshUrl() };
      const opening = () => openJournal(place, { clock, lost: UNTOLD });
      const trace = join(place.stateDir, name);
      writeFileSync(trace, 'a trace');
      await expect(opening()).rejects.toThrow(`it is lost, for "${trace}" shows`);
      await expect(opening()).rejects.toThrow('move it with "ledger migrate"');
      expect(await hasTables(place.journal)).toBe(false);
      expect(await acceptLoss(place)).toMatch(/^accepted the loss: /);
      await (await opening()).close();
      expect(await acceptLoss(place)).toMatch(/^nothing to accept: /);
      expect(existsSync(trace)).toBe(true);
    },
  );

  it('I16: is not made anew in service, and goes on once there is one', async () => {
    const place = { stateDir: folder(), journal: await server.freshUrl() };
    const logged: Readonly<Record<string, unknown>>[] = [];
    const log = (entry: Readonly<Record<string, unknown>>) => void logged.push(entry);
    const { journal, isLost, close } = await openJournal(place, {
      clock,
      lost: new ServiceState({ clock, log }).trouble('journal_lost'),
    });
    expect(await journal.claim(claimOf('a'))).toBe(true);
    await sql(place.journal, 'DROP SCHEMA signalpress CASCADE');
    const end =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()';
    await sql(place.journal, end);
    const lost = () =>
      logged.filter(({ event }) => event === 'journal_lost').map(({ error }) => error);
    await expect
      .poll(lost)
      .toContainEqual(
        expect.stringContaining('it is lost, for this gatekeeper shows that this shop has served'),
      );
    expect([isLost(), await hasTables(place.journal)]).toEqual([true, false]);
    await expect(journal.claim(claimOf('b'))).rejects.toThrow();
    await acceptLoss(place);
    await expect.poll(isLost).toBe(false);
    expect(await journal.claim(claimOf('b'))).toBe(true);
    await close();
    rmSync(place.stateDir, { recursive: true });
  });

  it('is none in a new shop, nor for a gatekeeper that joins', async () => {
    const journal = await server.freshUrl();
    for (const stateDir of [folder(), folder()]) {
      const { close } = await openJournal({ stateDir, journal }, { clock, lost: UNTOLD });
      writeFileSync(join(stateDir, 'newest-release.json'), '{}');
      await close();
      const again = await openJournal({ stateDir, journal }, { clock, lost: UNTOLD });
      await again.close();
    }
  });
});

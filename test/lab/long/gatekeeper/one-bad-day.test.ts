import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  acceptClock,
  openJournalFile,
  readJournalFile,
} from '../../../../gatekeeper/heart/journal/journal-file.ts';
import type { LedgerRow } from '../../../../gatekeeper/heart/journal/ledger.ts';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import type { Facilitator, SettleOutcome } from '../../../../gatekeeper/settle/facilitator.ts';
import type { Journal } from '../../../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { type Gatekeeper, startGatekeeper } from '../../../../gatekeeper/start.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { NOW_S, payer } from '../../../gatekeeper/payer.ts';
import { tinyConfig } from '../../../gatekeeper/tiny-gate.ts';
import {
  TINY_BASE_URL,
  TINY_NOW,
  tinyDataDir,
  tinyFiles,
  writeTinyRelease,
} from '../../../gatekeeper/tiny-release.ts';
import { ledgerRows } from '../../../gatekeeper/tiny-service.ts';

const PURCHASES = 120;
const CLIENTS = 20;
const EVENTS = 60;
const STORED = 'record/airquality.aqi/us-chicago.json';
const PAID = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
const NETWORK = NETWORKS['base-sepolia'];
const HOUR_MS = 3_600_000;
/** The longest that is taken, for clocks run ahead here. */
const WINDOW_S = 3890;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** The same numbers in every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** All that can be wrong at once, and what really moved. */
class Day {
  now = TINY_NOW;
  mood: 'well' | 'down' | 'lost' = 'well';
  isFull = false;
  releases = 1;
  restarts = 0;
  /** Nonces that the token took. */
  readonly transfers = new Set<string>();
  /** Settlements of one nonce that were asked for while another was on its way. */
  overlaps = 0;
  readonly #asked = new Set<string>();
  readonly folder = mkdtempSync(join(tmpdir(), 'bad-day-'));
  readonly path = join(this.folder, 'payments.db');
  readonly config = tinyConfig(tinyDataDir());
  gate: Gatekeeper | null = null;

  readonly facilitator: Facilitator = {
    verify: async () =>
      this.mood === 'down' ? { verdict: 'none', detail: 'down' } : { verdict: 'valid' },
    settle: async ({ paymentPayload }) => this.#settled(paymentPayload.payload.authorization),
    supported: async () => ({ verdict: 'none', detail: 'down' }),
  };

  /** The token takes a nonce once; a facilitator that is asked again names the first transfer. */
  async #settled({ nonce }: { nonce: string }): Promise<SettleOutcome> {
    const { mood } = this;
    if (mood === 'down') return { verdict: 'none', detail: 'down' };
    if (this.#asked.has(nonce)) this.overlaps += 1;
    this.#asked.add(nonce);
    this.transfers.add(nonce);
    await pause(1);
    this.#asked.delete(nonce);
    if (mood === 'lost') return { verdict: 'none', detail: 'timeout' };
    return { verdict: 'settled', transaction: nonce };
  }

  async open(): Promise<void> {
    const inner = sqliteJournal({ path: this.path, clock: () => this.now });
    const whenRoom =
      <T extends unknown[], R>(write: (...args: T) => Promise<R>) =>
      (...args: T): Promise<R> =>
        this.isFull ? Promise.reject(new Error('full')) : write(...args);
    const journal: Journal = {
      ...inner,
      claim: whenRoom(inner.claim),
      conclude: whenRoom(inner.conclude),
    };
    const by = { clock: () => this.now, log: () => {}, facilitator: this.facilitator, journal };
    const gate = await startGatekeeper(this.config, by);
    const close = async (): Promise<void> => {
      await gate.close();
      inner.close();
    };
    this.gate = { ...gate, close };
  }

  async restart(): Promise<void> {
    const { gate } = this;
    this.gate = null;
    await gate?.close();
    await this.open();
    this.restarts += 1;
  }

  async publish(): Promise<void> {
    this.releases += 1;
    const files = tinyFiles();
    const text = String(files.get(STORED)).replaceAll('paid', `release ${this.releases}`);
    files.set(STORED, Buffer.from(text));
    writeTinyRelease(this.config.dataDir, { sequence: this.releases, files });
    await this.gate?.checkRelease();
  }

  /** The clock is set right, and the operator says so to the journal. */
  correctClock(): void {
    this.now = TINY_NOW;
    const db = openJournalFile(this.path);
    acceptClock(db, this.now);
    db.close();
  }
}

const EVENT: readonly ((day: Day) => unknown)[] = [
  (day) => (day.mood = 'down'),
  (day) => (day.mood = 'lost'),
  (day) => (day.mood = 'well'),
  (day) => (day.mood = 'well'),
  (day) => (day.isFull = true),
  (day) => (day.isFull = false),
  (day) => (day.isFull = false),
  (day) => (day.now = TINY_NOW + HOUR_MS),
  (day) => (day.now = TINY_NOW - HOUR_MS),
  (day) => day.correctClock(),
  (day) => day.correctClock(),
  (day) => day.publish(),
  (day) => day.restart(),
];

interface Story {
  readonly nonce: string;
  readonly header: string;
  /** What came back with 200, each time. */
  readonly bodies: string[];
  status: number;
  outages: number;
}

const shop = challenger({
  baseUrl: TINY_BASE_URL,
  payTo: tinyConfig('unused').payTo,
  network: NETWORK,
  serviceName: 'Tiny',
});

async function signed(index: number): Promise<Story> {
  const nonce = `0x${index.toString(16).padStart(64, '0')}`;
  const window = { validAfter: '0', validBefore: String(NOW_S + WINDOW_S), nonce };
  const terms = shop.terms(builtinOperation('/gauge'), PAID, 1)[0];
  const header = await payer(NETWORK, `client ${index % 7}`).header(terms, window);
  return { nonce, header, bodies: [], status: 0, outages: 0 };
}

/** Sends the same payment until there is an answer that is no outage. */
async function insist(day: Day, story: Story): Promise<void> {
  for (story.status = 503; story.status === 503; await pause(5)) {
    try {
      const asked = await fetch((day.gate?.url ?? '') + PAID, {
        headers: { 'x-payment': story.header, 'payment-identifier': `day-${story.nonce.slice(2)}` },
      });
      const text = await asked.text();
      story.status = asked.status;
      if (asked.status === 200) story.bodies.push(text);
      if (asked.status === 503) story.outages += 1;
      // Time passes while a client waits.
      if (asked.status === 503) day.now += 5;
    } catch {
      // It restarts: the client comes again.
    }
  }
}

async function badDay(seed: number): Promise<{ day: Day; stories: readonly Story[] }> {
  const day = new Day();
  writeTinyRelease(day.config.dataDir);
  await day.open();
  const stories = await Promise.all(Array.from({ length: PURCHASES }, (_, at) => signed(at)));
  const [first, ...waiting] = stories;
  // Before anything is sold, nothing tells a clock that is an hour behind from a right one.
  for (let time = 0; first !== undefined && time < 2; time++) await insist(day, first);
  const clients = Array.from({ length: CLIENTS }, async () => {
    for (let story = waiting.shift(); story !== undefined; story = waiting.shift()) {
      await insist(day, story);
      await insist(day, story);
    }
  });
  const next = random(seed);
  for (let event = 0; event < EVENTS; event++) {
    await EVENT[next(EVENT.length)]?.(day);
    await pause(10);
  }
  [day.mood, day.isFull] = ['well', false];
  day.correctClock();
  await day.restart();
  await Promise.all(clients);
  // Who was served while the disk was full, before a restart, is booked when the same payment comes again: nobody else asks.
  for (const story of stories) await insist(day, story);
  await day.gate?.close();
  return { day, stories };
}

type NonceState = Pick<LedgerRow, 'nonce' | 'state'>;

/** What clients, token and journal do not agree on; a 402 after a transfer would make a buyer sign twice. */
function faultsOf(
  stories: readonly Story[],
  taken: ReadonlySet<string>,
  rows: readonly NonceState[],
) {
  const state = new Map(rows.map((row) => [row.nonce, row.state]));
  return stories.flatMap(({ nonce, status, bodies }) => {
    const faults = [];
    if (status !== 200) faults.push(`${nonce} ended with ${status}`);
    if (bodies.length !== 3) faults.push(`${nonce} was delivered ${bodies.length} times`);
    if (new Set(bodies).size > 1) faults.push(`${nonce} bought two answers`);
    if (taken.has(nonce) !== (status === 200)) faults.push(`${nonce} and the token differ`);
    if (taken.has(nonce) !== (state.get(nonce) === 'settled'))
      faults.push(`${nonce} and the journal`);
    return faults;
  });
}

describe('one bad day', () => {
  it('I50: facilitator down, disk full, clock wrong, restarts and new releases together: nothing is lost, nothing unpaid, and the journal agrees', async () => {
    const { day, stories } = await badDay(50);
    const db = readJournalFile(day.path);
    const rows = await ledgerRows(db);
    db.close();
    expect(faultsOf(stories, day.transfers, rows)).toEqual([]);
    expect([day.overlaps, rows.length, day.transfers.size]).toEqual([0, PURCHASES, PURCHASES]);
    expect(Math.min(day.restarts, day.releases)).toBeGreaterThan(2);
    expect(stories.filter(({ outages }) => outages > 0).length).toBeGreaterThan(PURCHASES / 20);
    expect(new Set(stories.flatMap(({ bodies }) => bodies)).size).toBeGreaterThan(1);
    rmSync(day.folder, { recursive: true });
  });

  it('would find what is lost, unpaid, doubled or not in the journal', async () => {
    const good = { ...(await signed(1)), status: 200, bodies: ['a', 'a', 'a'] };
    const { nonce } = good;
    const [taken, none] = [new Set([nonce]), new Set<string>()];
    const rows = [{ nonce, state: 'settled' }];
    expect(faultsOf([good], taken, rows)).toEqual([]);
    expect(faultsOf([{ ...good, status: 402, bodies: [] }], taken, rows)).toHaveLength(3);
    expect(faultsOf([{ ...good, bodies: ['a', 'a', 'b'] }], taken, rows)).toHaveLength(1);
    expect(faultsOf([good], none, [])).toHaveLength(1);
    expect(faultsOf([good], taken, [{ nonce, state: 'unknown' }])).toHaveLength(1);
  });
});

/**
 * The session of one gatekeeper with the database: a connection of its own that holds an advisory lock under a number
 * that no other session has. Whatever the gatekeeper works on carries that number, so that every other one can see
 * whether it still lives: no clock decides it. When the connection ends, PostgreSQL frees the lock at once.
 *
 * Until a lost session is back, nothing is claimed and so nobody is asked for money. The new session has a new number and
 * takes over what the old ones of the same process held.
 */
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { messageOf } from '../../../compiler/format/errors.ts';
import { shownPlace } from '../../settings/settings.ts';
import type { Trouble } from '../../wire/service-state.ts';
import { StartError } from '../../wire/start-error.ts';
import {
  atMost,
  connectionOptions,
  hasTables,
  isTransient,
  makeTables,
  NEWEST_OF,
} from './connection.ts';
import { lostJournal } from './journal-file.ts';

/** Time between two looks at the session: it also learns the newest time that other gatekeepers noted. */
const PING_MS = 5000;
/** Waits before a lost session is opened again, and the one that repeats after them. */
const REOPEN_PAUSES_MS = [50, 200, 500, 1000];
const LONGEST_PAUSE_MS = 3000;
/** Attempts at the start, some 30 s: a server that starts at the same time may have to recover first. */
const START_TRIES = 12;
/** Rows at the end of the journal that are looked at for its newest time. */
export const NEWEST_ROWS = 1000;
/** Numbers that were drawn by somebody who is still there, after the sequence began again. */
const NUMBER_TRIES = 5;

/** Second numbers of the advisory locks of the journal; sessions have those above 0. */
const LOCK_RECONCILE = 0;
export const LOCK_PURGE = -1;

const STATE = `
SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commits,
  current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS is_standby`;
const NUMBER = `
SELECT 'signalpress.payment'::regclass::oid::bigint AS class, nextval('signalpress.session')::integer AS number`;
const LOCK = 'SELECT pg_try_advisory_lock($1, $2) AS locked';
// What an earlier session of this process held is still being worked on.
const ADOPT = `
UPDATE signalpress.payment SET holder = $1
WHERE state <> 'settled' AND state IN ('settling', 'unknown') AND holder = ANY($2::integer[])`;

const stateRow = z.object({
  fsync: z.string(),
  commits: z.string(),
  encoding: z.string(),
  is_standby: z.boolean(),
});
const numberRow = z.object({ class: z.number(), number: z.number() });
const lockRow = z.object({ locked: z.boolean() });
const newestRow = z.object({ ms: z.number() });

interface SessionOptions {
  readonly url: string;
  readonly lost: Pick<Trouble, 'begin' | 'end'>;
  readonly atPing: () => Promise<void>;
  readonly trace?: () => string | null;
}

type AskSession = (text: string, values?: unknown[]) => Promise<pg.QueryResult>;

interface Live {
  readonly client: pg.Client;
  readonly ask: AskSession;
  /** First number of all advisory locks of this journal: the id of its table, as a signed integer. */
  readonly lockClass: number;
  readonly number: number;
  leads: boolean;
}

export class Session {
  readonly #options: SessionOptions;
  #live: Live | null = null;
  #lockClass = 0;
  readonly #numbers: number[] = [];
  #newestMs = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #reopening: Promise<void> = Promise.resolve();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Opens it for the first time; waits for a server that starts at the same time. */
  async open(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#connect();
        break;
      } catch (error) {
        if (error instanceof StartError || !isTransient(error) || tries === START_TRIES)
          throw error;
      }
      await pause(REOPEN_PAUSES_MS[tries - 1] ?? LONGEST_PAUSE_MS);
    }
    this.#ping();
  }

  isLost(): boolean {
    return this.#live === null;
  }

  /** Number under which this gatekeeper works; throws while the database is lost. */
  number(): number {
    if (this.#live === null) throw new Error(LOST);
    return this.#live.number;
  }

  numbers(): readonly number[] {
    return this.#numbers;
  }

  lockClass(): number {
    return this.#lockClass;
  }

  newestMs(): number {
    return this.#newestMs;
  }

  note(newestMs: number): void {
    this.#newestMs = Math.max(this.#newestMs, newestMs);
  }

  /** Asks the database for its newest time, which may be earlier since an operator accepted a clock. */
  async refresh(): Promise<void> {
    const live = this.#live;
    if (live === null) throw new Error(LOST);
    const { rows } = await live.ask(NEWEST_OF, [NEWEST_ROWS]);
    this.#newestMs = newestRow.parse(rows[0]).ms;
  }

  /** Whether this gatekeeper is the one that looks after open payments: until its session ends, nobody else is. */
  async leads(): Promise<boolean> {
    const live = this.#live;
    if (live === null) throw new Error(LOST);
    if (live.leads) return true;
    const { rows } = await live.ask(LOCK, [live.lockClass, LOCK_RECONCILE]);
    live.leads = lockRow.parse(rows[0]).locked;
    return live.leads;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#reopening;
    const live = this.#live;
    this.#live = null;
    if (live !== null) await atMost(live.client.end());
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(connectionOptions(this.#options.url));
    let isOver = false;
    client.on('error', () => {});
    client.on('end', () => {
      isOver = true;
      this.#lose(client, LOST);
    });
    try {
      await client.connect();
      const ask = oneAfterAnother(client);
      await checkState(ask);
      await this.#refuseLost(client);
      await makeTables(client);
      const live = { client, ask, ...(await numbered(ask)), leads: false };
      await ask(ADOPT, [live.number, this.#numbers]);
      const { rows } = await ask(NEWEST_OF, [NEWEST_ROWS]);
      if (isOver) throw new Error(LOST);
      this.#newestMs = newestRow.parse(rows[0]).ms;
      this.#lockClass = live.lockClass;
      this.#numbers.push(live.number);
      this.#live = live;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }

  /** Without tables it is a new journal, or one that is lost. */
  async #refuseLost(client: pg.Client): Promise<void> {
    const { trace, url } = this.#options;
    // Looked for first: gatekeepers that start together make the tables before they leave a trace.
    const found = trace?.() ?? null;
    const isUsed = found !== null || this.#numbers.length > 0;
    if (isUsed && !(await hasTables(client))) throw lostJournal(shownPlace(url), found);
  }

  #lose(client: pg.Client, why: string): void {
    if (this.#live?.client !== client) return;
    this.#live = null;
    if (this.#isClosed) return;
    this.#options.lost.begin(why);
    this.#reopening = this.#reopen(why);
  }

  async #reopen(lost: string): Promise<void> {
    let reported = lost;
    for (let tries = 0; !this.#isClosed; tries++) {
      await pause(REOPEN_PAUSES_MS[tries] ?? LONGEST_PAUSE_MS);
      if (this.#isClosed) return;
      try {
        await this.#connect();
        this.#options.lost.end();
        return;
      } catch (error) {
        const why = messageOf(error);
        // How it is away changes with each try; that it refuses us is something else.
        const isAway = !(error instanceof StartError) && isTransient(error);
        if (isAway || why === reported) continue;
        this.#options.lost.begin(why, { tries: tries + 1 });
        reported = why;
      }
    }
  }

  #ping(): void {
    this.#timer = setTimeout(() => {
      void this.#pinged().finally(() => {
        if (!this.#isClosed) this.#ping();
      });
    }, PING_MS).unref();
  }

  /** A database that no longer answers, or no longer keeps what it confirms, is as good as lost. */
  async #pinged(): Promise<void> {
    const live = this.#live;
    if (live === null) return;
    try {
      await checkState(live.ask);
      await this.refresh();
      await this.#options.atPing();
    } catch (error) {
      this.#lose(live.client, messageOf(error));
      // A server that froze would never answer a farewell.
      const { connection } = live.client as pg.Client & { connection?: { stream?: Socket } };
      connection?.stream?.destroy();
    }
  }
}

const LOST = 'the connection to the database of the payment journal is lost';

/** What is confirmed must be on the disk, here and not on a copy that may lag behind. */
const UNFIT: readonly (readonly [
  is: (state: z.infer<typeof stateRow>) => boolean,
  fault: string,
])[] = [
  [
    ({ is_standby }) => is_standby,
    'it is a standby, which cannot be written; name the primary in SIGNALPRESS_JOURNAL',
  ],
  [
    ({ fsync }) => fsync === 'off',
    'its setting fsync is off, so it may forget payments; turn it on',
  ],
  [
    ({ commits }) => commits === 'off',
    'its setting synchronous_commit is off, so it may forget payments; turn it on for this user and database',
  ],
  [
    ({ encoding }) => encoding !== 'UTF8',
    'its encoding is not UTF8; make a database with that encoding',
  ],
];

/** Throws a StartError for a database that may forget what it confirmed, or cannot be written. */
export async function checkState(ask: AskSession): Promise<void> {
  const state = stateRow.parse((await ask(STATE)).rows[0]);
  const fault = UNFIT.find(([is]) => is(state))?.[1];
  if (fault !== undefined)
    throw new StartError(`Cannot use the database of the payment journal: ${fault}`);
}

/** A connection works on one statement at a time. */
function oneAfterAnother(client: pg.Client): AskSession {
  let last: Promise<unknown> = Promise.resolve();
  return (text, values = []) => {
    const asked = last.then(() => client.query(text, values));
    last = asked.catch(() => {});
    return asked;
  };
}

/** Takes a number that no live session has, and holds it for as long as the connection lasts. */
async function numbered(ask: AskSession): Promise<Pick<Live, 'lockClass' | 'number'>> {
  for (let tries = 0; tries < NUMBER_TRIES; tries++) {
    const found = numberRow.parse((await ask(NUMBER)).rows[0]);
    const lockClass = found.class | 0;
    const locked = await ask(LOCK, [lockClass, found.number]);
    if (lockRow.parse(locked.rows[0]).locked) return { lockClass, number: found.number };
  }
  throw new Error('no number is free for this gatekeeper; restart it');
}

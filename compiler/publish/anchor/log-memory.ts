/**
 * Where the newest size and root of a log are remembered outside of the data folder, as the text of a checkpoint without
 * signatures. PostgreSQL and a store that knows `If-Match` swap it in one step, so that of two machines one goes on. What
 * is published can only be read, and a file is seen by one machine: both stop restored and lost folders, not two machines.
 */

import { existsSync, mkdirSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type pg from 'pg';
import { LOG_URL } from '../../catalog/static-files.ts';
import { plainAddress } from '../../format/addresses.ts';
import { answerBytes } from '../../format/answer-bytes.ts';
import {
  type Checkpoint,
  checkpointText,
  NOTE_CHARS_MAX,
  openNote,
  parseCheckpoint,
} from '../../format/checkpoint.ts';
import { codeOf } from '../../format/errors.ts';
import { readPlain, replaceFile } from '../../system/plain-file.ts';
import { asked, type Fetch, refusal } from '../../verify/monitor/log-client.ts';
import { isSameLog, type LogMemory } from '../log/log-turn.ts';

const WAIT_MS = 20_000;

/** What a setting or an option names, as `signalpress compile --help` explains it. */
export interface MemoryPlace {
  readonly place: string;
  /** The folder that it has to be outside of. */
  readonly data: string;
  /** One header of each request to a store, `Name: value`; none for null. */
  readonly auth: string | null;
  readonly fetch: Fetch;
}

/** The memory at a place; throws a RangeError for what is none. */
export function openLogMemory({ place, data, auth, fetch }: MemoryPlace): LogMemory {
  if (/^postgres(ql)?:\/\//.test(place)) return postgresMemory(place);
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(place)) return fileMemory(place, data);
  const address = plainAddress(place);
  if (address?.isSafe !== true) {
    throw new RangeError(
      `Cannot remember the log at "${place.slice(0, 200)}": neither a file, postgres://… nor https://… without user, password or query`,
    );
  }
  const { href } = address;
  if (href.endsWith(LOG_URL)) return publishedMemory(href, fetch);
  const colon = auth?.indexOf(':') ?? -1;
  const own = auth === null ? {} : { [auth.slice(0, colon)]: auth.slice(colon + 1).trim() };
  return storeMemory(href, { fetch, headers: own });
}

function checkpointIn(text: string): Checkpoint {
  const found = openNote(text)?.checkpoint ?? parseCheckpoint(text);
  if (found !== null) return found;
  throw new RangeError('what it holds is not the checkpoint of a log');
}

/** What only tells: the checkpoint that a host, a shop or a mirror gives away. */
function publishedMemory(url: string, fetch: Fetch): LogMemory {
  const read = (): Promise<Checkpoint | null> =>
    asked(url, { fetch, waitMs: WAIT_MS }, async (response) => {
      if (response.status === 404) return null;
      if (response.status !== 200) throw refusal(response);
      return checkpointIn(Buffer.from(await answerBytes(response, NOTE_CHARS_MAX)).toString());
    });
  // What was published meanwhile, another machine did.
  return { name: url, read, swap: async (expected) => isSameLog(await read(), expected) };
}

/** An object of a store that takes PUT with `If-Match` and `If-None-Match`. */
function storeMemory(
  url: string,
  { fetch, headers }: { readonly fetch: Fetch; readonly headers: Readonly<Record<string, string>> },
): LogMemory {
  const look = () =>
    asked(url, { fetch, waitMs: WAIT_MS, headers }, async (response) => {
      const { status } = response;
      if (status === 404) return { known: null, condition: { 'if-none-match': '*' } };
      if (status !== 200) throw refusal(response);
      const etag = response.headers.get('etag');
      if (etag === null || etag.startsWith('W/')) throw new RangeError('it gives no strong ETag');
      const text = Buffer.from(await answerBytes(response, NOTE_CHARS_MAX)).toString();
      return { known: checkpointIn(text), condition: { 'if-match': etag } };
    });
  return {
    name: url,
    read: async () => (await look()).known,
    async swap(expected, next) {
      const { known, condition } = await look();
      if (isSameLog(known, next)) return true;
      if (!isSameLog(known, expected)) return false;
      const body = checkpointText(next);
      const put = { method: 'PUT', body, headers: { ...headers, ...condition } } as const;
      return asked(url, { fetch, waitMs: WAIT_MS, ...put }, async (response) => {
        if (response.ok) return true;
        if (response.status === 412 || response.status === 409) return false;
        throw refusal(response);
      });
    },
  };
}

/** A file beside the data folder, which one machine sees. */
function fileMemory(path: string, data: string): LogMemory {
  if (!relative(resolve(data), resolve(path)).startsWith('..')) {
    throw new RangeError(
      `Cannot remember the log in "${path}": it would be lost and restored with "${data}"; name a file elsewhere`,
    );
  }
  const read = (): Checkpoint | null =>
    existsSync(path) ? checkpointIn(readPlain(path, NOTE_CHARS_MAX).toString('utf8')) : null;
  return {
    name: path,
    read: async () => read(),
    async swap(expected, next) {
      const known = read();
      if (!isSameLog(known, expected)) return isSameLog(known, next);
      mkdirSync(dirname(resolve(path)), { recursive: true });
      replaceFile(path, checkpointText(next));
      return true;
    },
  };
}

const MAKE_TABLE = `BEGIN; SELECT pg_advisory_xact_lock(7241020118);
CREATE SCHEMA IF NOT EXISTS signalpress;
CREATE TABLE IF NOT EXISTS signalpress.log_memory(
  one boolean PRIMARY KEY DEFAULT true CHECK (one), checkpoint text NOT NULL); COMMIT`;
const READ = 'SELECT checkpoint FROM signalpress.log_memory';
const FIRST = 'INSERT INTO signalpress.log_memory(checkpoint) VALUES ($1) ON CONFLICT DO NOTHING';
const SWAP = 'UPDATE signalpress.log_memory SET checkpoint = $2 WHERE checkpoint = $1';
/** The codes of PostgreSQL for a schema and a table that are not there. */
const ABSENT = ['3F000', '42P01'];

/** One row of a database, which each shop has for itself. */
function postgresMemory(url: string): LogMemory {
  const within = async <T>(use: (client: pg.Client) => Promise<T>): Promise<T> => {
    const { default: driver } = await import('pg');
    const client = new driver.Client({
      connectionString: url,
      application_name: 'signalpress',
      connectionTimeoutMillis: WAIT_MS,
      query_timeout: WAIT_MS,
      // Where nothing else is set, what is confirmed is on the disk.
      options: '-c synchronous_commit=on',
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await use(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const known = async (client: pg.Client): Promise<string | null> => {
    const { rows } = await client.query<{ checkpoint: string }>(READ).catch((error: unknown) => {
      if (ABSENT.includes(codeOf(error) ?? '')) return { rows: [] };
      throw error;
    });
    return rows[0]?.checkpoint ?? null;
  };
  const { host, pathname } = new URL(url);
  return {
    name: `postgres://${host}${pathname}`,
    read: () =>
      within(async (client) => {
        const text = await known(client);
        return text === null ? null : checkpointIn(text);
      }),
    swap: (expected, next) =>
      within(async (client) => {
        const text = await known(client);
        const found = text === null ? null : checkpointIn(text);
        if (!isSameLog(found, expected)) return isSameLog(found, next);
        if (text === null) await client.query(MAKE_TABLE);
        const values = text === null ? [checkpointText(next)] : [text, checkpointText(next)];
        const { rowCount } = await client.query(text === null ? FIRST : SWAP, values);
        return rowCount === 1;
      }),
  };
}

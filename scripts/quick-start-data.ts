import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { KEYS_URL } from '../compiler/catalog/static-files.ts';
import { compile } from '../compiler/cli/compile.ts';
import { readIssuerKey, writeIssuerKey } from '../compiler/publish/keys/key-store.ts';
import type { Reading } from '../compiler/readings/reading.ts';
import {
  importDisk,
  importSummaryText,
  readPayload,
  runImport,
} from '../compiler/sources/import-command.ts';
import { mergeBatch } from '../compiler/sources/merge-batch.ts';
import { sourceOf } from '../compiler/sources/sources.ts';
import { issuerDid, signingKey } from '../compiler/system/sealer.ts';
import type { Config } from '../gatekeeper/settings/config.ts';
import { loadConfig } from '../gatekeeper/settings/load-config.ts';
import { HEALTH_PATH } from '../gatekeeper/wire/request.ts';
import { type ExamplePayload, examplePayloads } from './sample/example-payloads.ts';
import { sampleFiles } from './sample/sample-files.ts';
import { sampleClock, sampleHour } from './sample/sample-times.ts';
import { writeSample } from './sample/write-sample.ts';

/** Folder of the shop that `npm start` starts: its key, its releases, its books. */
export const QUICK_START = '.signalpress/quick-start';

/** Says in every citation that most of what is compiled here was generated; 32 characters, so that no catalogue cuts it. */
const ISSUER_NAME = 'Signalpress quick start, sample';
/** Signals of the sample that give way to the genuine feed. */
const GENUINE = '/earthquake.';

interface QuickStart {
  readonly root: string;
  readonly baseUrl: string;
  readonly now: Date;
  /** Plays an operator with the data key that the line `grid-reliability` needs. */
  readonly isKeyed?: boolean;
}

/**
 * Generates the sample up to this hour, imports the genuine feed and the examples beside it, and compiles all of it; what
 * was imported, in words.
 */
export async function prepareData({ root, baseUrl, now, isKeyed = false }: QuickStart) {
  const snapshots = join(root, 'snapshots');
  const asOf = sampleClock(now);
  const hour = sampleHour(asOf);
  rmSync(snapshots, { recursive: true, force: true });
  const files = [...sampleFiles({ hour, isKeyed })].filter(([path]) => !path.includes(GENUINE));
  writeSample(snapshots, new Map(files));
  const examples = examplePayloads(hour).map((payload) => importExample(payload, snapshots));
  const imported = [
    `Generated the sample up to ${hour}: ${files.length} files`,
    importFeed(snapshots),
    ...examples,
  ].join('\n');
  const file = keyFile(root);
  if (!existsSync(file)) writeIssuerKey(file);
  const summary = await compile({
    snapshots,
    data: dataFolder(root),
    asOf,
    issuerName: ISSUER_NAME,
    baseUrl,
    seed: readIssuerKey(file),
    workers: 2,
    // generated again at each start: without the key, or from a newer program, some of it is no longer there
    allowShrink: true,
  });
  return { imported, summary };
}

const dataFolder = (root: string): string => join(root, 'dist-data');
const keyFile = (root: string): string => join(root, 'issuer.key');

/** Who signs what is compiled in this folder; null before the first compile. */
export function issuerOf(root: string): string | null {
  const file = keyFile(root);
  return existsSync(file) ? issuerDid(signingKey(readIssuerKey(file))) : null;
}

/** The settings with a secret of the quick start's own, so that it sells subscriptions too. */
export function withSubscriptions(settings: Config, root: string): Config {
  const file = join(root, 'token.secret');
  if (!existsSync(file)) {
    mkdirSync(root, { recursive: true });
    writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
  }
  return { ...settings, tokenSecret: readFileSync(file, 'utf8') };
}

/** The feed of the USGS that the development dependency vega-datasets ships unchanged. */
export const FEED = join('node_modules', 'vega-datasets', 'data', 'earthquakes.json');

function importFeed(out: string): string {
  if (!existsSync(FEED)) {
    throw new Error(
      `Cannot import "${FEED}": not there; run "npm ci" with development dependencies, in the top folder of the repository`,
    );
  }
  return importSummaryText(runImport({ source: 'usgs-earthquakes', file: FEED, out }, importDisk));
}

/** Settings of a gatekeeper that pretends payments; everything wrong with the address is said at once. */
export function demoSettings(
  root: string,
  address: {
    port: string | undefined;
    baseUrl?: string | undefined;
    /** "1" where payments are pretended on a public address. */
    testPayments?: string | undefined;
  },
): Config {
  const env = {
    SIGNALPRESS_PORT: address.port,
    SIGNALPRESS_BASE_URL: address.baseUrl,
    SIGNALPRESS_TEST_PAYMENTS: address.testPayments,
    SIGNALPRESS_DATA: dataFolder(root),
    SIGNALPRESS_STATE: join(root, 'state'),
  };
  return loadConfig({ options: {}, env, fileText: null });
}

/** "1" shows the line of which the source needs a data key. */
const GRID = 'SIGNALPRESS_SAMPLE_GRID';

/** Whether the operator's data key is played; throws for anything but 1 and 0. */
export function playsKey(env: Readonly<Record<string, string | undefined>>): boolean {
  const text = env[GRID] ?? '';
  if (['', '0', '1'].includes(text)) return text === '1';
  throw new Error(`Cannot read ${GRID} "${text}": neither 0 nor 1; set it to 1, or leave it out`);
}

const USED: readonly string[] = [
  'SIGNALPRESS_PORT',
  'SIGNALPRESS_BASE_URL',
  'SIGNALPRESS_TEST_PAYMENTS',
  GRID,
];

/** Names the settings in the environment that the quick start leaves alone, one line; '' for none. */
export function unusedText(env: Readonly<Record<string, string | undefined>>): string {
  const unused = Object.keys(env).filter((name) => {
    return name.startsWith('SIGNALPRESS_') && env[name] !== '' && !USED.includes(name);
  });
  if (unused.length === 0) return '';
  return `Set, and not used here: ${unused.sort().join(', ')}; only ${USED.join(', ')} are\n`;
}

/** The settings with the address that is compiled in: a free port in place of 0, at which nobody could ask. */
export async function servedAt(settings: Config): Promise<Config & { readonly baseUrl: string }> {
  const port = await tryPort(settings.port);
  return { ...settings, port, baseUrl: settings.baseUrl ?? `http://127.0.0.1:${port}` };
}

/** Listens on a loopback port for a moment and says which it was, for 0 one that nobody listens on. */
export function tryPort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}

/** How whatever comes from an example says what it is. */
const EXAMPLE_LABEL = 'example of our own making: generated, not observed';

/** Imports a payload of our own making with the importer of its agency, and names ourselves as its source; in words. */
function importExample({ source, bytes, note }: ExamplePayload, out: string): string {
  const payload = { bytes, note, subject: `example of ${source}` };
  const { readings, rows, ...rest } = readPayload(sourceOf(source), payload);
  const labelled = {
    ...rest,
    readings: mapValues(readings, (reading) => labelledReading(reading, source)),
    rows: mapValues(rows ?? new Map(), (row: object) => ({
      ...row,
      source: `example-of-${source}`,
      source_ref: null,
      source_tier: null,
      grade: EXAMPLE_LABEL,
    })),
  };
  const count = [...readings.values()].flat().length;
  const files = mergeBatch(labelled, note.fetched_at, importDisk.snapshots(out));
  return [
    `Imported an example in the format of ${source}, of our own making: ${count} readings`,
    ...files.map(({ path }) => `  wrote     ${path}`),
  ].join('\n');
}

function mapValues<Key, From, To>(
  lists: ReadonlyMap<Key, readonly From[]>,
  change: (item: From) => To,
): Map<Key, To[]> {
  return new Map([...lists].map(([key, list]) => [key, list.map(change)]));
}

/** The importer names the agency and the address of the payload as evidence, which never answered this. */
function labelledReading({ evidence: _, ...reading }: Reading, source: string): Reading {
  return {
    ...reading,
    sources: [
      {
        name: `Signalpress example in the format of ${source}, made up`,
        weight: 1,
        role: 'generated',
        independent: true,
      },
    ],
    source_ref: null,
    source_tier: null,
    grade: EXAMPLE_LABEL,
    scope: EXAMPLE_LABEL,
    validation_status: EXAMPLE_LABEL,
    uncertainty: 'none stated: generated values',
  };
}

/** A shop on this machine answers in milliseconds; whoever needs longer is none. */
const PATIENCE_MS = 3000;

const healthSchema = z.object({
  status: z.enum(['ready', 'not_ready']),
  why: z.array(z.string()).optional(),
  settlement: z.string(),
  release: z.object({ sequence: z.number(), as_of: z.string() }),
});
const keysSchema = z.object({ keys: z.array(z.object({ did: z.string() })) });

/**
 * Looks for the shop of an issuer at a port of this machine. Throws where a shop takes real payments, or cannot sell at
 * this moment: a demo beside it would hide that.
 */
export async function runningShop(port: number, issuer: string | null, patienceMs = PATIENCE_MS) {
  if (port === 0) return { absent: 'SIGNALPRESS_PORT is 0, which is no port to look at' };
  const url = `http://127.0.0.1:${port}`;
  const health = await answerOf(url + HEALTH_PATH, healthSchema, patienceMs);
  if (health === 'nobody') return { absent: `Nothing listens on port ${port}` };
  if (health === 'stranger') return { absent: `Another program listens on port ${port}` };
  if (health.settlement !== 'test') {
    const state = 'it takes real payments, and the demo only pretends to pay';
    throw cannotBuy(url, port, state);
  }
  const listed = await answerOf(url + KEYS_URL, keysSchema, patienceMs);
  const dids = typeof listed === 'string' ? [] : listed.keys.map(({ did }) => did);
  if (issuer === null || !dids.includes(issuer)) {
    return { absent: `Port ${port} serves the files of another issuer` };
  }
  if (health.status !== 'ready') {
    throw cannotBuy(url, port, `it is not ready (${health.why?.join(', ')})`);
  }
  return { url, issuer, sequence: health.release.sequence, asOf: health.release.as_of };
}

function cannotBuy(url: string, port: number, state: string): Error {
  return new Error(
    `Cannot buy from the shop at "${url}": ${state}; ` +
      `stop that shop, or let the demo look at another port: SIGNALPRESS_PORT=${port + 1} npm run demo`,
  );
}

/** The JSON of an address; 'nobody' where no program listens, 'stranger' where it answers something else, or nothing. */
async function answerOf<T>(
  url: string,
  schema: z.ZodType<T>,
  patienceMs: number,
): Promise<T | 'nobody' | 'stranger'> {
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const response = await fetch(url, { redirect: 'error', signal });
    const answer = schema.safeParse(await response.json());
    return answer.success ? answer.data : 'stranger';
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const isRefused = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
    return isRefused ? 'nobody' : 'stranger';
  }
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../../../gatekeeper/start.ts';
import { built } from '../../../command-runs.ts';
import { OPERATIONS, type Operation, WITHOUT_DATA } from '../../../conformance-table.ts';
import { startGate } from '../../../gate.ts';
import { NOW_MS, payer } from '../../../gatekeeper/payer.ts';
import { quickStartData } from '../../../quick-start.ts';
import { makeFolder, readJson, removeFolders } from '../../../snapshot-folder.ts';

const NETWORK = NETWORKS['base-sepolia'];
const SOLD = OPERATIONS.filter(({ price }) => price !== null);
/** Days of the test payer and of a start in another season. */
const NOW = new Date(NOW_MS);
const MONTHS_LATER = new Date('2027-03-01T05:40:00Z');

const START = { top: makeFolder(), baseUrl: 'http://127.0.0.1:4021' };
const DATA = join(START.top, '.signalpress/quick-start/dist-data');
let gate: Gatekeeper;
let imported = '';

function open(now: Date): Promise<Gatekeeper> {
  const options = { data: DATA, state: makeFolder(), test_payments: '1' };
  const env = { SIGNALPRESS_TOKEN_SECRET: 'a secret for tests alone of 32 characters or more' };
  return startGate(options, { env, clock: () => now.getTime() });
}

beforeAll(async () => {
  imported = (await quickStartData({ ...START, now: NOW, isKeyed: true })).text;
  gate = await open(NOW);
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

const urlOf = ({ path, valid }: Operation): string =>
  gate.url + path + (valid === '' ? '' : `?${valid}`);

async function buy(url: string): Promise<Response> {
  const { accepts } = (await (await fetch(url)).json()) as { accepts: [RequirementsV1] };
  return fetch(url, { headers: { 'x-payment': await payer(NETWORK).header(accepts[0]) } });
}

async function bodyOf(query: string) {
  const response = await buy(`${gate.url}/gauge?${query}`);
  expect([query, response.status]).toEqual([query, 200]);
  return (await response.json()) as {
    readonly entity_name: string;
    readonly observed_at: string;
    readonly sources: readonly { name: string }[];
    readonly provenance: {
      readonly freshness: string;
      readonly data_lineage: readonly { readonly evidence?: object }[];
    };
  };
}

describe('the shop of the quick start, with the data key played', () => {
  it('has 64 operations to sell', () => {
    expect(SOLD).toHaveLength(64);
  });

  it.each(SOLD)('$path asks for a price, then sells', async (row) => {
    const asked = await fetch(urlOf(row));
    expect([row.path, asked.status]).toEqual([row.path, 402]);
    const sold = await buy(urlOf(row));
    expect([row.path, sold.status]).toEqual([row.path, 200]);
    expect((await sold.text()).length).toBeGreaterThan(100);
  });

  it('shows today: what an hourly source said is fresh', async () => {
    const { observed_at, provenance, entity_name } = await bodyOf(
      'signal_id=airquality.aqi&entity=us-denver',
    );
    expect(observed_at.slice(0, 10)).toBe(NOW.toISOString().slice(0, 10));
    expect([provenance.freshness, entity_name]).toEqual(['fresh', 'Sample values for Denver, CO']);
  });

  it('names the agency of the genuine feed alone as a source', async () => {
    const genuine = await bodyOf(
      'signal_id=earthquake.current_activity&entity=california-san-andreas',
    );
    expect(genuine.observed_at.slice(0, 4)).toBe('2018');
    expect(genuine.sources[0]?.name).toMatch(/USGS/);
    expect(genuine.provenance.data_lineage[0]?.evidence).toHaveProperty('url');
    for (const query of [
      'signal_id=hydrology.river-level&entity=99990001',
      'signal_id=filing.material-events&entity=SAMPLECO',
    ]) {
      const made = await bodyOf(query);
      expect(made.entity_name).toMatch(/sample.*made for the quick start/i);
      expect(JSON.stringify(made)).not.toMatch(/waterservices|sec\.gov|"evidence"/);
      expect(made.sources.map(({ name }) => name)).toEqual([
        expect.stringMatching(/^Signalpress example in the format of .*, made up$/),
      ]);
    }
    expect(imported).toMatch(/Imported usgs-earthquakes into batch 2018/);
    expect(imported.match(/an example in the format of \S+, of our own making/g)).toHaveLength(2);
  });
});

describe('the same shop, started again months later and without the key', () => {
  it('is published as of that hour, and sells everything but the line that needs the key', async () => {
    await gate.close();
    await quickStartData({ ...START, now: MONTHS_LATER });
    const { sequence, as_of } = readJson(join(DATA, 'current'), 'release.json');
    expect([sequence, as_of]).toEqual([2, '2027-03-01T05:40:00Z']);
    gate = await open(MONTHS_LATER);
    const statuses = await Promise.all(
      SOLD.map(async (row) => [row.path, (await fetch(urlOf(row))).status]),
    );
    expect(statuses.filter(([, status]) => status !== 402)).toEqual(
      Object.keys(WITHOUT_DATA).map((path) => [path, 422]),
    );
  });
});

afterAll(removeFolders);
const ROOT = join(import.meta.dirname, '../../../..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** A copy of the top folder, as far as the quick start reads it, so that it leaves nothing in the real one. */
function topFolder(): string {
  const folder = makeFolder();
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly text: () => string;
}

function run(script: string, folder: string, port: number): Running {
  const env = { PATH: process.env.PATH, SIGNALPRESS_PORT: String(port), NO_COLOR: '1' };
  const child = spawn(process.execPath, [built(`scripts/${script}`)], {
    cwd: folder,
    env,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  return { child, text: () => text };
}

async function ended({ child, text }: Running): Promise<{ status: number; text: string }> {
  const [status] = (await once(child, 'close')) as [number];
  return { status, text: text() };
}

/** The port that the quick start says it serves; it ends with the words on how to stop it. */
async function portOf({ child, text }: Running): Promise<number> {
  while (!text().includes('Ctrl-C')) await once(child.stdout, 'data');
  return Number(/Serving http:\/\/127\.0\.0\.1:(\d+)/.exec(text())?.[1]);
}

describe('npm run demo', () => {
  it('buys from the shop that "npm start" started', async () => {
    const folder = topFolder();
    const shop = run('quick-start.js', folder, 0);
    const port = await portOf(shop);
    expect(shop.text()).toContain(`SIGNALPRESS_PORT=${port} npm run demo buys from this shop`);
    const { status, text } = await ended(run('demo.js', folder, port));
    expect([status, text]).toEqual([0, expect.stringContaining('The shop goes on.')]);
    expect(text).toContain(`http://127.0.0.1:${port} serves release 1 of `);
    expect(text).not.toContain('Compile');
    expect(text).toMatch(/payload sha256 matches; reading re-derived by usgs-earthquakes v\d/);
    expect(text).toContain('FAILED  one byte of the payload changed');
    expect(text).toContain('FAILED  one rule of the importer changed');
    shop.child.kill('SIGTERM');
    expect((await ended(shop)).status).toBe(0);
    expect(shop.text()).toContain(`"event":"started","version":"${version}"`);
    const sold = shop.text().match(/"path":"\/gauge[^"]*","status":200/g) ?? [];
    // one look at the menu, three purchases, one of them fetched again
    expect(sold).toHaveLength(5);
  });

  it('refuses a shop that takes real payments', async () => {
    const release = { sequence: 1, as_of: '2026-11-20T12:00:00Z' };
    const health = JSON.stringify({ status: 'ready', settlement: 'relayer', release });
    const server = createServer((_, response) => response.end(health)).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { status, text } = await ended(run('demo.js', topFolder(), port));
    expect(status).toBe(1);
    expect(text).toMatch(/^Cannot buy from the shop at .* it takes real payments, .*\n$/);
  });
});

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tinyFiles, tinyRecord } from '../../tiny-release.ts';
import { closeGates, type HostedGate, hostedGate, until } from './hosted-gate.ts';
import {
  closeSites,
  type StaticSite,
  staticSite,
  storedAt,
  writeHostedRelease,
} from './static-site.ts';

interface Spoilt {
  readonly what: string;
  readonly entity: string;
  readonly give: (response: ServerResponse, bytes: Buffer) => void;
  /** The file is another one than listed, as far as the host lets anyone know. */
  readonly isDamaged: boolean;
}

/** A row for each way in which a host can be wrong about one file; each has a file of its own. */
const ROWS: Spoilt[] = (
  [
    ['one flipped bit', true, (r, bytes) => r.end(flipped(bytes))],
    ['other bytes of the same length', true, (r, bytes) => r.end(Buffer.alloc(bytes.length, 'x'))],
    [
      'an older file of the shop under its name',
      true,
      (r) => r.end(tinyFiles().get('record/airquality.aqi/us-chicago.json')),
    ],
    [
      'a truncated file that states its own length',
      true,
      (r, bytes) => r.end(bytes.subarray(0, 99)),
    ],
    ['a file with more behind it', true, (r, bytes) => r.end(Buffer.concat([bytes, bytes]))],
    ['an empty file', true, (r) => r.end()],
    ['a missing file', true, (r) => r.writeHead(404).end()],
    ['a file that is kept back', true, (r) => r.writeHead(403).end()],
    [
      'a file encoded by the host',
      true,
      (r, bytes) => r.setHeader('content-encoding', 'gzip').end(gzipSync(bytes)),
    ],
    ['a page in its place', true, (r) => r.setHeader('content-type', 'text/html').end('<h1>')],
    ['a redirect', true, (r) => r.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()],
    ['"not modified" to nothing known', true, (r) => r.writeHead(304).end()],
    [
      'a connection that breaks in the middle',
      false,
      (r, bytes) => {
        r.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 99));
        setTimeout(() => r.destroy(), 5);
      },
    ],
    ['an error of the host', false, (r) => r.writeHead(500).end('stack trace')],
  ] as const satisfies [string, boolean, Spoilt['give']][]
).map(([what, isDamaged, give], at) => ({ what, isDamaged, give, entity: `us-case${at}` }));

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[200] = (copy[200] ?? 0) ^ 1;
  return copy;
}

const pathOf = (entity: string): string => `record/airquality.aqi/${entity}.json`;

describe('files that the host spoils', () => {
  let site: StaticSite;
  let gate: HostedGate;
  let root: string;
  let sold = 0;
  const files = new Map(tinyFiles());
  for (const { entity } of ROWS) {
    const record = tinyRecord('airquality.aqi', entity, { aqi_index: 42, band: 'good' });
    files.set(pathOf(entity), Buffer.from(JSON.stringify(record)));
  }
  // Larger than what is fetched ahead, so that a file is read when it is asked for.
  files.set('free/ballast.json', Buffer.alloc(1024 * 1024, ' '));

  beforeAll(async () => {
    site = await staticSite();
    root = writeHostedRelease(site.dataDir, { files });
    const places = new Map(ROWS.map((row) => [storedAt(root, pathOf(row.entity)), row]));
    site.spoil = (path, response) => {
      const row = places.get(path);
      if (row === undefined || healed.has(row.entity)) return false;
      row.give(response, files.get(pathOf(row.entity)) ?? Buffer.alloc(0));
      return true;
    };
    gate = await hostedGate({ data: site.url, cacheMb: 1, refusedMs: 300 });
  });
  afterAll(async () => {
    await closeGates();
    await closeSites();
  });
  const healed = new Set<string>();
  const buy = async (entity: string) => {
    const answer = await gate.buy(`/gauge?entity=${entity}&signal_id=airquality.aqi`);
    if (answer.status === 200) sold += 1;
    return answer;
  };

  it.concurrent.each(ROWS)(
    'I24: $what is never served, never charged, and sold once it is right',
    async (row) => {
      const { entity, isDamaged } = row;
      for (let time = 0; time < 3; time += 1) {
        const { status, headers, text } = await buy(entity);
        expect(status).toBe(503);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        const state = isDamaged ? 'is damaged' : 'cannot be reached';
        const error = `Not charged. The stored file ${state}`;
        expect(JSON.parse(text)).toEqual({ error, retryable: true });
      }
      healed.add(entity);
      await until('sold', async () => (await buy(entity)).status === 200);
      const { text } = await gate.get(`/gauge/preview?entity=${entity}&signal_id=airquality.aqi`);
      expect(text).not.toContain('stack trace');
    },
  );

  it('I24: sells what the host does right, charges each sale once and nothing else', async () => {
    expect((await buy('us-denver')).status).toBe(200);
    expect(sold).toBe(ROWS.length + 1);
    expect(gate.settled()).toBe(sold);
  });

  it('names each path once in the log, and the host is not said to be away', async () => {
    const events = await gate.events();
    const paths = events.flatMap(({ event, path }) =>
      event === 'remote_file_refused' ? [path] : [],
    );
    expect(paths.sort()).toEqual(ROWS.map(({ entity }) => pathOf(entity)).sort());
    const others = new Set(events.map(({ event }) => event));
    for (const event of ['request_failed', 'data_host_unreachable', 'look_up_failed']) {
      expect(others).not.toContain(event);
    }
  });
});

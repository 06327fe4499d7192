import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attestationsOf, parseProof } from '../../../compiler/format/ots-proof.ts';
import {
  calendarUrl,
  runStamp,
  runUpgrade,
  stampText,
  upgradeText,
} from '../../../compiler/publish/anchor/anchor-command.ts';
import { calendarClient } from '../../../compiler/publish/anchor/ots-calendar.ts';
import {
  blockHeader,
  type StampSummary,
  stampRoot,
  upgradeRoots,
} from '../../../compiler/publish/anchor/upgrade.ts';
import { anchorStore } from '../../../compiler/publish/log/anchor-store.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  sha256Text,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import {
  type LoopbackCalendar,
  loopbackCalendar,
  TEST_HEIGHT,
  TEST_LIMIT,
} from './loopback-calendar.ts';

afterAll(removeFolders);
const NOW = '2026-11-20T12:00:00Z';
const ROOTS = ['a', 'b', 'c'].map((text) => sha256Text(text));

let calendars: LoopbackCalendar[];
let data: string;
const client = calendarClient(500);
beforeEach(async () => {
  calendars = [await loopbackCalendar(), await loopbackCalendar()];
  data = mkdtempSync(join(tmpdir(), 'signalpress-anchors-'));
});
afterEach(async () => {
  for (const calendar of calendars) await calendar.close();
});

const parts = () => ({
  anchors: anchorStore(data),
  client,
  calendars: calendars.map(({ url }) => url),
});
const stampOne = (root = ROOTS[0] ?? '') => stampRoot({ ...parts(), root, now: NOW });
/** As one compile an hour would: the root of each release in turn. */
async function stamp() {
  const summaries: StampSummary[] = [];
  for (const root of ROOTS) summaries.push(await stampOne(root));
  return summaries;
}
const upgrade = (headers: readonly Uint8Array[] = []) =>
  upgradeRoots({ ...parts(), headers: headers.map((header) => blockHeader(header, TEST_LIMIT)) });
const stateOf = (root: string) => anchorStore(data).read(root)?.state;
const digest = (root: string) => new Uint8Array(Buffer.from(root, 'hex'));

const MISBEHAVIOURS: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  ['hangs', () => undefined],
  ['answers nothing', (r) => void r.end()],
  ['answers noise', (r) => void r.end(Buffer.alloc(90, 7))],
  ['answers another version', (r) => void r.end('<html>')],
  [
    'answers without an end',
    (r) => {
      const t = setInterval(() => r.write(Buffer.alloc(4096)), 1);
      r.on('close', () => clearInterval(t));
    },
  ],
  ['points elsewhere', (r) => void r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ['cuts the line', (r) => void r.destroy()],
  [
    'trickles',
    (r) => {
      const t = setInterval(() => r.write('0'), 50);
      r.on('close', () => clearInterval(t));
    },
  ],
];

describe('stampRoot()', () => {
  it('stamps a root with one submission to each calendar, and never again', async () => {
    expect(await stamp()).toMatchObject(ROOTS.map(() => ({ stamped: true, failed: [] })));
    for (const { asked } of calendars) expect(asked).toEqual(ROOTS.map(() => 'POST /digest'));
    for (const root of ROOTS) {
      expect(stateOf(root)).toMatchObject({ ots_state: 'pending', stamped_at: NOW });
      const proof = anchorStore(data).read(root)?.proof ?? new Uint8Array(0);
      const promises = [...attestationsOf(parseProof(new Uint8Array(proof), digest(root)))];
      expect(promises.map(({ attestation }) => attestation.kind)).toEqual(['pending', 'pending']);
    }
    expect(await stamp()).toMatchObject(ROOTS.map(() => ({ stamped: false, answered: [] })));
    for (const { asked } of calendars) expect(asked).toHaveLength(ROOTS.length);
  });

  it('is content with one calendar, and says which did not answer', async () => {
    const [, down] = calendars;
    down?.misbehave((_, response) => response.writeHead(500).end('no'));
    const summary = await stampOne();
    expect(summary).toMatchObject({ stamped: true, failed: [{ reason: 'status 500' }] });
    expect(stampText(summary)).toContain('1 of 2 calendars: pending, which is a promise');
    expect(stampText(summary)).toContain(`no answer from ${down?.url}: status 500`);
  });

  it.each(MISBEHAVIOURS)('writes nothing when the only calendar %s', async (_, answer) => {
    for (const calendar of calendars) calendar.misbehave((_request, response) => answer(response));
    const summary = await stampOne();
    expect(summary.stamped).toBe(false);
    expect(summary.failed).toHaveLength(2);
    expect(stampText(summary)).toContain('Nothing was stamped');
    expect(readdirSync(data)).toEqual([]);
  });
});

describe('upgradeRoots()', () => {
  it('leaves a promise pending until there is a block, then confirms it without a header', async () => {
    await stamp();
    expect(await upgrade()).toMatchObject({ confirmed: 0, pending: 3 });
    expect(stateOf(ROOTS[0] ?? '')).toMatchObject({ ots_state: 'pending', bitcoin_height: null });
    for (const calendar of calendars) calendar.mine();
    const summary = await upgrade();
    expect(summary).toMatchObject({ confirmed: 3, checked: 0, pending: 0 });
    expect(upgradeText(summary)).toContain('Headers were not checked');
    for (const root of ROOTS) {
      const state = { ots_state: 'confirmed', bitcoin_height: TEST_HEIGHT, bitcoin_block: null };
      expect(stateOf(root)).toMatchObject({ ...state, stamped_at: NOW });
    }
  });

  it('asks a calendar once for each root, and no more once all is confirmed', async () => {
    await stamp();
    for (const calendar of calendars) calendar.mine();
    await upgrade();
    await upgrade();
    for (const { asked } of calendars) {
      expect(asked.filter((line) => line.startsWith('GET'))).toHaveLength(ROOTS.length);
    }
  });

  it('checks a block against the header that it is given, and against no other', async () => {
    await stamp();
    const headers = calendars.flatMap((calendar) => calendar.mine());
    const [mine, other] = headers;
    if (mine === undefined || other === undefined) throw new Error('no headers');
    const foreign = Uint8Array.from(mine);
    foreign[40] = (foreign[40] ?? 0) ^ 1;
    const reworked = [...Array(256).keys()].map((nonce) =>
      Uint8Array.from(foreign).with(79, nonce),
    );
    const worked = reworked.filter((header) => {
      try {
        return blockHeader(header, TEST_LIMIT) !== null;
      } catch {
        return false;
      }
    });
    expect(await upgrade(worked.slice(0, 1))).toMatchObject({ confirmed: 3, checked: 0 });
    // Each root has a block of its own here.
    expect(await upgrade([mine])).toMatchObject({ confirmed: 3, checked: 1 });
    expect(await upgrade(headers)).toMatchObject({ confirmed: 3, checked: 3 });
    const hashes = headers.map((header) => blockHeader(header, TEST_LIMIT).hash);
    for (const root of ROOTS) expect(hashes).toContain(stateOf(root)?.bitcoin_block);
    expect(await upgrade()).toMatchObject({ checked: 3 });
  });

  it('asks no calendar but its own, whatever a proof names', async () => {
    await stamp();
    const [first] = calendars;
    for (const calendar of calendars) calendar.mine();
    const only = { ...parts(), calendars: ['https://calendar.example'], headers: [] };
    const summary = await upgradeRoots(only);
    expect(summary.unknown.toSorted()).toEqual(calendars.map(({ url }) => url).sort());
    expect(first?.asked).toEqual(ROOTS.map(() => 'POST /digest'));
    expect(upgradeText(summary)).toContain('which is not one of your calendars');
  });

  it('keeps the proof as it was when a calendar answers noise', async () => {
    await stamp();
    const before = ROOTS.map((root) => anchorStore(data).read(root));
    for (const calendar of calendars) {
      calendar.misbehave((_, response) => void response.end(Buffer.alloc(100, 0xff)));
    }
    expect(await upgrade()).toMatchObject({ confirmed: 0, pending: 3, failed: Array(6).fill({}) });
    expect(ROOTS.map((root) => anchorStore(data).read(root))).toEqual(before);
  });
});

describe('anchorStore()', () => {
  it('refuses a state of another root and one that is no state', async () => {
    await stamp();
    const [one = '', two = ''] = ROOTS;
    const path = join(data, 'log', 'anchor', `${one}.json`);
    writeFileSync(path, readFileSync(join(data, 'log', 'anchor', `${two}.json`)));
    expect(() => anchorStore(data).read(one)).toThrow('restore it');
    writeFileSync(path, '{}');
    expect(() => anchorStore(data).read(one)).toThrow('restore it');
    expect(anchorStore(data).read(two)).not.toBeNull();
  });

  it('knows every root that has one, and none where nobody stamped', async () => {
    expect(anchorStore(data).roots()).toEqual([]);
    await stamp();
    expect(anchorStore(data).roots()).toEqual([...ROOTS].sort());
  });

  it('is beside the releases: a stamp needs no compile, and no compile takes it away', async () => {
    const row = ndjson([reading('btc', { price_usd: 1 })]);
    const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': row });
    await compileFolder(snapshots, { data });
    await runStamp({ data, calendar: calendars.map(({ url }) => url) }, NOW);
    const stamps = () => readdirSync(join(data, 'log', 'anchor')).sort();
    const stamped = stamps();
    // One root covers every entry before it.
    expect(stamped.map((path) => extname(path))).toEqual(['.json', '.ots']);
    await compileFolder(snapshots, { data });
    await compileFolder(snapshots, { data, full: true });
    expect(stamps()).toEqual(stamped);
  });
});

describe('runStamp() and runUpgrade()', () => {
  it('say what to do where there is no release', async () => {
    const flags = { data: join(data, 'none'), calendar: ['https://calendar.example'] };
    await expect(runStamp(flags, NOW)).rejects.toThrow('signalpress compile');
    await expect(runUpgrade(flags)).rejects.toThrow('signalpress compile');
  });
});

describe('calendarUrl()', () => {
  it('takes https, and http to this machine', () => {
    expect(calendarUrl('https://calendar.example/')).toBe('https://calendar.example');
    expect(calendarUrl('http://127.0.0.1:8080')).toBe('http://127.0.0.1:8080');
  });

  it('refuses everything else', () => {
    const bad = [
      'http://calendar.example',
      'ftp://a',
      'file:///etc',
      'https://u:p@a',
      'https://a?b',
      'x',
    ];
    for (const text of bad) expect(() => calendarUrl(text)).toThrow('https');
  });
});

describe('blockHeader()', () => {
  const GENESIS =
    '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f' +
    '617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c';

  it('reads the first block of the chain, as bytes and as hex', () => {
    const raw = new Uint8Array(Buffer.from(GENESIS, 'hex'));
    const text = new TextEncoder().encode(`${GENESIS}\n`);
    for (const bytes of [raw, text]) {
      const { hash, merkleRoot } = blockHeader(bytes);
      expect(hash).toBe('000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f');
      expect(Buffer.from(merkleRoot).toString('hex').slice(0, 8)).toBe('3ba3edfd');
    }
  });

  it('refuses one without the work that it claims, with too little work, and what is no header', () => {
    const raw = new Uint8Array(Buffer.from(GENESIS, 'hex'));
    expect(() => blockHeader(raw.with(79, 0))).toThrow('does not show the work');
    expect(() => blockHeader(raw.with(75, 0x20))).toThrow('less work');
    expect(() => blockHeader(raw.slice(1))).toThrow('not 80 bytes');
  });
});

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  calendarUrl,
  runStamp,
  runUpgrade,
  stampText,
  upgradeText,
} from '../../compiler/anchor/anchor-command.ts';
import { blockHeader } from '../../compiler/anchor/block-header.ts';
import { calendarClient } from '../../compiler/anchor/ots-calendar.ts';
import { stampRoots } from '../../compiler/anchor/stamp.ts';
import { upgradeRoots } from '../../compiler/anchor/upgrade.ts';
import {
  anchorProofPath,
  anchorStatePath,
  formatAnchorState,
} from '../../compiler/contract/anchor-state.ts';
import { attestationsOf, parseProof } from '../../compiler/contract/ots-proof.ts';
import { anchorStore } from '../../compiler/stages/anchor/anchor-store.ts';
import {
  compileFolder,
  filesBelow,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { batchesIn, hashes, memoryLog, releaseOf } from '../stages/anchor/memory-log.ts';
import {
  type LoopbackCalendar,
  loopbackCalendar,
  TEST_HEIGHT,
  TEST_LIMIT,
} from './loopback-calendar.ts';

afterAll(removeFolders);
const NOW = '2026-11-20T12:00:00Z';
const LOG = memoryLog({
  '2026-11-18': hashes(0, 3),
  '2026-11-19': hashes(3, 3),
  '2026-11-20': hashes(6, 3),
});
const ROOTS = batchesIn(LOG).map(({ root }) => root);

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
  release: releaseOf(LOG),
  anchors: anchorStore(data),
  client,
  calendars: calendars.map(({ url }) => url),
});
const stamp = () => stampRoots({ ...parts(), now: NOW });
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

describe('stampRoots()', () => {
  it('stamps every root with one submission to each calendar', async () => {
    expect(await stamp()).toMatchObject({ stamped: 3, failed: [] });
    for (const { asked } of calendars) expect(asked).toEqual(['POST /digest']);
    for (const root of ROOTS) {
      expect(stateOf(root)).toMatchObject({ ots_state: 'pending', stamped_at: NOW });
      const proof = anchorStore(data).read(root)?.proof ?? new Uint8Array(0);
      const promises = [...attestationsOf(parseProof(new Uint8Array(proof), digest(root)))];
      expect(promises.map(({ attestation }) => attestation.kind)).toEqual(['pending', 'pending']);
    }
    expect(await stamp()).toMatchObject({ stamped: 0, answered: [] });
  });

  it('is content with one calendar, and says which did not answer', async () => {
    const [, down] = calendars;
    down?.misbehave((_, response) => response.writeHead(500).end('no'));
    const summary = await stamp();
    expect(summary).toMatchObject({ stamped: 3, failed: [{ reason: 'status 500' }] });
    expect(stampText(summary)).toContain('1 of 2 calendars: pending, which is a promise');
    expect(stampText(summary)).toContain(`no answer from ${down?.url}: status 500`);
  });

  it.each(MISBEHAVIOURS)('writes nothing when the only calendar %s', async (_, answer) => {
    for (const calendar of calendars) calendar.misbehave((_request, response) => answer(response));
    const summary = await stamp();
    expect(summary.stamped).toBe(0);
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

  it('asks a calendar once for what three roots share, and no more once all is confirmed', async () => {
    await stamp();
    for (const calendar of calendars) calendar.mine();
    await upgrade();
    await upgrade();
    for (const { asked } of calendars) {
      expect(asked.filter((line) => line.startsWith('GET'))).toHaveLength(1);
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
    expect(await upgrade([mine])).toMatchObject({ confirmed: 3, checked: 3 });
    const { hash } = blockHeader(mine, TEST_LIMIT);
    expect(stateOf(ROOTS[1] ?? '')).toMatchObject({ bitcoin_block: hash });
    expect(await upgrade()).toMatchObject({ checked: 3 });
  });

  it('asks no calendar but its own, whatever a proof names', async () => {
    await stamp();
    const [first] = calendars;
    for (const calendar of calendars) calendar.mine();
    const only = { ...parts(), calendars: ['https://calendar.example'], headers: [] };
    const summary = await upgradeRoots(only);
    expect(summary.unknown.toSorted()).toEqual(calendars.map(({ url }) => url).sort());
    expect(first?.asked).toEqual(['POST /digest']);
    expect(upgradeText(summary)).toContain('which is not one of your calendars');
  });

  it('keeps the proof as it was when a calendar answers noise', async () => {
    await stamp();
    const before = ROOTS.map((root) => anchorStore(data).read(root));
    for (const calendar of calendars) {
      calendar.misbehave((_, response) => void response.end(Buffer.alloc(100, 0xff)));
    }
    expect(await upgrade()).toMatchObject({ confirmed: 0, pending: 3, failed: [{}, {}] });
    expect(ROOTS.map((root) => anchorStore(data).read(root))).toEqual(before);
  });
});

describe('anchorStore()', () => {
  it('refuses a state of another root and one that is no state', async () => {
    await stamp();
    const [one = '', two = ''] = ROOTS;
    const path = join(data, 'anchors', `${one}.json`);
    writeFileSync(path, readFileSync(join(data, 'anchors', `${two}.json`)));
    expect(() => anchorStore(data).read(one)).toThrow('restore it');
    writeFileSync(path, '{}');
    expect(() => anchorStore(data).read(one)).toThrow('restore it');
    expect(anchorStore(data).read(two)).not.toBeNull();
  });

  it('knows what was written since a time, by root, and nothing where nobody stamped', async () => {
    expect(anchorStore(data).changedSince(0)).toEqual([]);
    await stamp();
    expect(anchorStore(data).changedSince(Date.now() - 60_000)).toEqual([...ROOTS].sort());
    expect(anchorStore(data).changedSince(Date.now() + 60_000)).toEqual([]);
  });

  it('knows from the release what the folder lost, and takes of two the one that is confirmed', async () => {
    await stamp();
    const [root = ''] = ROOTS;
    const pending = publishedNow();
    const before = anchorStore(data).read(root);
    for (const calendar of calendars) calendar.mine();
    await upgrade();
    const confirmed = publishedNow();
    expect(anchorStore(data, pending).read(root)?.state.ots_state).toBe('confirmed');
    rmSync(join(data, 'anchors'), { recursive: true });
    expect(anchorStore(data).read(root)).toBeNull();
    expect(anchorStore(data, pending).read(root)).toEqual(before);
    if (before !== null) anchorStore(data).write(before);
    expect(anchorStore(data, confirmed).read(root)?.state.ots_state).toBe('confirmed');
    expect(anchorStore(data, releaseOf(new Map())).read(root)).toEqual(before);
  });

  it('loses no published timestamp with the folder when the next release is compiled', async () => {
    const row = ndjson([reading('btc', { price_usd: 1 })]);
    const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': row });
    const first = await compileFolder(snapshots, { data });
    await runStamp({ data, calendar: calendars.map(({ url }) => url) }, NOW);
    const stampsIn = (folder: string) =>
      [...filesBelow(folder)].filter(([path]) => path.startsWith('log/anchor/'));
    expect(stampsIn(first.folder)).toEqual([]);
    const stamped = stampsIn((await compileFolder(snapshots, { data })).folder);
    // Of the batch of the reading, of that of the bodies that join readings, and of the tree with the release in it.
    const pair = ['.json', '.ots'];
    expect(stamped.map(([path]) => extname(path))).toEqual([...pair, ...pair, ...pair]);
    rmSync(join(data, 'anchors'), { recursive: true });
    expect(stampsIn((await compileFolder(snapshots, { data })).folder)).toEqual(stamped);
    const full = await compileFolder(snapshots, { data, full: true });
    expect(stampsIn(full.folder)).toEqual(stamped);
  });
});

/** A release that publishes what the folder holds now. */
function publishedNow() {
  const files = ROOTS.flatMap((root): [string, Buffer][] => {
    const anchor = anchorStore(data).read(root);
    if (anchor === null) return [];
    const state = Buffer.from(formatAnchorState(anchor.state));
    return [
      [anchorStatePath(root), state],
      [anchorProofPath(root), Buffer.from(anchor.proof)],
    ];
  });
  return releaseOf(new Map(files));
}

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

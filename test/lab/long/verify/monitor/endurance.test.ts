import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  checkpointText,
  formatNote,
  NOTE_CHARS_MAX,
} from '../../../../../compiler/format/checkpoint.ts';
import { KEYS_BYTES_MAX } from '../../../../../compiler/format/key-history.ts';
import { type HashedRecord, hashCore } from '../../../../../compiler/format/record-hash.ts';
import { HEAD_BYTES_MAX } from '../../../../../compiler/format/release.ts';
import { canonicalHash } from '../../../../../compiler/verify/body-check.ts';
import { trustedBy } from '../../../../../compiler/verify/key-trust.ts';
import { CheckpointFile } from '../../../../../compiler/verify/monitor/checkpoint-file.ts';
import {
  checkEvidence,
  parseEvidence,
  readingIn,
} from '../../../../../compiler/verify/monitor/evidence.ts';
import { MONITOR_EXIT } from '../../../../../compiler/verify/monitor/monitor.ts';
import {
  ALARMS_MAX,
  type Finding,
  firstState,
  GAPS_MAX,
  type MonitorState,
  NO_ADDRESS,
  newestHeads,
  READINGS_MAX,
  raiseAlarms,
  readState,
  writeState,
} from '../../../../../compiler/verify/monitor/monitor-state.ts';
import { built } from '../../../../command-runs.ts';
import { killerOptions } from '../../../../publish/witness/asked-shop.ts';
import type { Body } from '../../../../shop.ts';
import { makeFolder, removeFolders } from '../../../../snapshot-folder.ts';
import {
  DID,
  didOfSeed,
  type Files,
  filesOf,
  publish,
  publishHours,
} from '../../../../verify/monitor/lying-service.ts';
import { sampleBodies } from '../../../../verify/monitor/watching.ts';
import { reseal } from '../../../../verify/resign.ts';

/** More than the calls of the disk after the last answer: the last kills come never. */
const STEPS = 30;
const PROOF_STEPS = 33;
const published = publishHours(STEPS + 1, '2026-11-20T00:00:00Z');
const releases = published.map((release) => filesOf(release));
let server: Server;
let address: string;
let shown: Files = new Map();
/** Is there once a look has asked for the checkpoint: what follows is mostly writing. */
let flag: string;

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    const content = shown.get(url) ?? null;
    if (url === '/log/checkpoint') writeFileSync(flag, '');
    response.writeHead(content === null ? 404 : 200).end(content ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  removeFolders();
});

/** Looks once in a process of its own, which is killed at a call of the disk behind the answers; answers its exit code. */
async function look(state: string, killAt: number): Promise<number | null> {
  const words = ['monitor', address, '--once', '--issuer', DID, '--state', state];
  flag = join(state, '..', 'switch');
  rmSync(flag, { force: true });
  const options = killerOptions(join(state, '..'));
  const env = { KILL_AT: String(killAt), KILL_SWITCH: flag };
  const child = spawn(process.execPath, [...options, built('compiler/signalpress.js'), ...words], {
    env,
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  return code;
}

/** Never. */
const UNKILLED = -1;

it('I70: a monitor that is killed at any write goes on, and takes nothing for a fork', async () => {
  const state = join(makeFolder(), 'state');
  const codes: (number | null)[] = [];
  for (const [at, files] of releases.slice(0, STEPS).entries()) {
    shown = files;
    codes.push(await look(state, at));
    expect(() => readState(state)).not.toThrow();
  }
  expect(codes.filter((code) => code === null).length).toBeGreaterThan(10);
  expect(codes.at(-1)).not.toBeNull();
  shown = releases.at(-1) ?? new Map();
  await look(state, UNKILLED);
  const known = readState(state);
  expect(known?.alarms.filter(({ kind }) => kind !== 'frozen' && kind !== 'silent')).toEqual([]);
  expect(known?.newest).toContain(`\n${STEPS + 1}\n`);
});

it('I70: a fork that was seen before a kill is proven after it, by one file', async () => {
  const before = join(makeFolder(), 'state');
  const [first, second] = published;
  if (!first || !second) throw new Error('too few releases');
  shown = filesOf(second);
  expect(await look(before, UNKILLED)).not.toBeNull();
  const fork = publish(first, { taken: 700, as_of: second.head.as_of });
  shown = filesOf(fork);
  const codes: (number | null)[] = [];
  for (let at = 0; at < PROOF_STEPS; at += 3) {
    const state = join(makeFolder(), 'state');
    cpSync(before, state, { recursive: true });
    codes.push(await look(state, at));
    const folder = join(state, 'evidence');
    // A draft that the kill left lies elsewhere, under one name for all: nothing would take it away here.
    expect([at, readdirSync(folder).filter((name) => !name.endsWith('.json'))]).toEqual([at, []]);
    expect([at, await look(state, UNKILLED)]).toEqual([at, MONITOR_EXIT.alarm]);
    const forks = readdirSync(folder).filter((name) => name.startsWith('fork-'));
    expect([at, forks.length]).toEqual([at, 1]);
    const evidence = parseEvidence(readFileSync(join(folder, forks[0] ?? ''), 'utf8'));
    expect(checkEvidence(evidence, trustedBy([DID])).verdict).toBe('proven');
  }
  expect(codes.filter((code) => code === null).length).toBeGreaterThan(5);
});

afterAll(removeFolders);

const ADDRESS = 'https://shop.example';
const NOW = Date.parse('2026-11-20T12:00:00Z');

/** What was found, kept under names that count. */
function watcher(state: MonitorState) {
  const kept: string[] = [];
  const own = { ...NO_ADDRESS };
  const keep = (): string => `evidence/${kept.push('')}`;
  const raise = (findings: readonly Finding[]): string[] =>
    raiseAlarms(findings, { state, address: ADDRESS, own, now: NOW, keep, isWhole: true });
  return { raise, kept };
}

function rewritten(at: number): Finding {
  const proof = { kind: 'readings' as const, bodies: [`${at}`, `not ${at}`] as [string, string] };
  return { kind: 'rewritten', about: `reading ${at}`, detail: `reading ${at} twice`, proof };
}

describe('raiseAlarms()', () => {
  it('keeps 128 notices, tells of one more, and counts the others', () => {
    const state = firstState({ issuers: [], roots: [] });
    const { raise, kept } = watcher(state);
    const told = Array.from({ length: 140 }, (_, at) => raise([rewritten(at)]));
    expect(told.slice(0, 128).every(([line]) => line?.includes('NOTICE rewritten'))).toBe(true);
    expect(told[128]).toEqual([
      'NOTICE rewritten: reading 128 twice; further ones are only counted',
    ]);
    expect(told.slice(129).flat()).toEqual([]);
    // Seen again in each look, of which one is kept and the other is not.
    expect(raise([rewritten(5), rewritten(139)])).toEqual([]);
    expect([kept.length, state.alarms.length, state.notices_left_out]).toEqual([128, 128, 13]);
  });

  it('I70: never forgets what is proven for what it only saw', () => {
    const state = firstState({ issuers: [], roots: [] });
    const { raise } = watcher(state);
    const notes: [string, string] = ['one', 'other'];
    raise([{ kind: 'fork', detail: 'two histories', proof: { kind: 'fork', notes, grown: null } }]);
    for (let at = 0; at < ALARMS_MAX + 20; at += 1) {
      const seen: Finding = { kind: 'unreadable', about: `/${at}`, detail: 'odd' };
      raise([seen]);
      raise([seen]);
    }
    expect(state.alarms).toHaveLength(ALARMS_MAX);
    expect(state.alarms.filter(({ kind }) => kind === 'fork')).toHaveLength(1);
  });
});

describe('writeState()', () => {
  it('I70: writes what it can read again, however long a service makes everything', () => {
    // What takes most bytes in JSON for its length.
    const long = (length: number): string => '\\'.repeat(length);
    const detail = long(600);
    const dids = Array.from({ length: 64 }, (_, at) => didOfSeed(at));
    const address = `${ADDRESS}/${'a'.repeat(1000)}`;
    const state: MonitorState = {
      ...firstState({ issuers: dids, roots: dids }),
      keys: long(KEYS_BYTES_MAX),
      newest: long(NOTE_CHARS_MAX),
      heads: newestHeads(Array.from({ length: 80 }, () => long(HEAD_BYTES_MAX))),
      gaps_ms: Array(GAPS_MAX).fill(Number.MAX_SAFE_INTEGER),
      readings: Array.from({ length: READINGS_MAX }, () => ['\u0001'.repeat(500), long(71)]),
      alarms: Array.from({ length: ALARMS_MAX }, () => ({
        kind: 'unreadable' as const,
        address,
        about: detail,
        detail,
        since: '2026-11-20T12:00:00Z',
        ended_at: null,
        evidence: null,
      })),
    };
    for (let at = 0; at < 16; at += 1) {
      const suspicions = Array.from({ length: 54 }, (_, n) => [`${n} ${detail}`, detail]);
      state.addresses[`${address}${at}`] = {
        ...NO_ADDRESS,
        suspicions: Object.fromEntries(suspicions),
      };
    }
    const folder = makeFolder();
    writeState(folder, state);
    expect(readState(folder)).toEqual(state);
    expect(statSync(join(folder, 'state.json')).size).toBeGreaterThan(5_000_000);
    expect(state.heads).toHaveLength(16);
  });
});

describe('readingIn()', () => {
  it('knows a reading by its name, and none whose name fills a disk', async () => {
    const [text] = await sampleBodies();
    const { sample } = JSON.parse(text) as { sample: Body };
    const of = (length: number) => {
      const named = { ...sample, entity: 'x'.repeat(length) };
      const hash = canonicalHash(hashCore(named as unknown as HashedRecord));
      // The hash stands in its lineage too.
      const hashed = JSON.stringify(named).replaceAll(String(sample.record_hash), hash);
      const body = reseal(JSON.parse(hashed));
      return readingIn(JSON.stringify({ sample: body }), [didOfSeed(7)]);
    };
    expect(of(100)?.subject).toContain('x'.repeat(100));
    expect(of(600)).toBeNull();
  });
});

function noteOf(size: number, lines = 1, witness?: string): string {
  const root = new Uint8Array(32).fill(size % 251);
  const line = (at: number) => ({
    name: at === lines - 1 ? 'shop.example/log' : (witness ?? `witness.example/${at}`),
    keyHash: Uint8Array.of(1, 2, 3, at),
    signature: new Uint8Array(64).fill(at),
  });
  const text = checkpointText({ origin: 'shop.example/log', size, root });
  return formatNote({ text, signatures: Array.from({ length: lines }, (_, at) => line(at)) });
}

const row = (size: number, lines = 1, witness?: string) => ({
  seen_at: '2026-11-20T12:00:00Z',
  address: 'https://shop.example',
  note: noteOf(size, lines, witness),
});

describe('CheckpointFile', () => {
  it('keeps each size once, and finds it again after a restart', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    const file = new CheckpointFile(path);
    for (const size of [5, 9, 9, 12]) file.add(row(size));
    const again = new CheckpointFile(path);
    expect([file.count, again.count]).toEqual([3, 3]);
    expect(again.noteAt(9)).toBe(noteOf(9));
    expect([again.noteAt(8), again.rootAt(8)]).toEqual([null, undefined]);
    expect(again.rootAt(12)).toBe('0c'.repeat(32));
  });

  it('I70: stays bounded over ten thousand checkpoints: the newest all stay, of the older fewer and fewer', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    const file = new CheckpointFile(path, { rows: 64 });
    let longest = 0;
    for (let size = 1; size <= 10_000; size += 1) {
      file.add(row(size));
      longest = Math.max(longest, file.count);
    }
    expect(longest).toBeLessThanOrEqual(64);
    expect(statSync(path).size).toBeLessThan(64 * 400);
    for (let size = 10_000; size > 10_000 - 30; size -= 1)
      expect(file.noteAt(size)).toBe(noteOf(size));
    expect(file.rootAt(1)).toBe('01'.repeat(32));
    expect(new CheckpointFile(path, { rows: 64 }).count).toBe(file.count);
  });

  it('stays bounded where a log makes its notes long with lines under its own name', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    const file = new CheckpointFile(path, { bytes: 100_000 });
    const own = (size: number) => row(size, 90, 'shop.example/log');
    for (let size = 1; size <= 100; size += 1) file.add(own(size));
    expect(statSync(path).size).toBeLessThanOrEqual(100_000);
    const again = new CheckpointFile(path, { bytes: 100_000 });
    expect([again.noteAt(100), again.count]).toEqual([own(100).note, file.count]);
    expect(again.rootAt(1)).toBe('01'.repeat(32));
  });

  it('leaves lines of witnesses out of a long note, never that of the log', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    const file = new CheckpointFile(path);
    file.add(row(7, 90));
    const kept = file.noteAt(7) ?? '';
    expect(kept.length).toBeLessThanOrEqual(2048);
    expect(kept).toContain('\n\u2014 shop.example/log ');
    expect(kept).toContain('witness.example/0');
  });

  it('drops half a line at the end, and refuses a damaged one', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    new CheckpointFile(path).add(row(5));
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"seen_`);
    const file = new CheckpointFile(path);
    file.add(row(6));
    expect(new CheckpointFile(path).count).toBe(2);
    writeFileSync(path, 'nothing\n');
    expect(() => new CheckpointFile(path)).toThrow('line 1 is damaged');
  });
});

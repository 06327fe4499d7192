import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { NOTE_CHARS_MAX } from '../../compiler/contract/checkpoint.ts';
import { KEYS_BYTES_MAX } from '../../compiler/contract/key-history.ts';
import { type HashedRecord, hashCore } from '../../compiler/contract/record-hash.ts';
import { HEAD_BYTES_MAX } from '../../compiler/contract/release.ts';
import { readingIn } from '../../compiler/monitor/evidence.ts';
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
} from '../../compiler/monitor/monitor-state.ts';
import { canonicalHash } from '../../compiler/verify/body-check.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';
import { reseal } from '../verify/reseal.ts';
import type { Body } from '../verify/small-release.ts';
import { didOfSeed } from './lying-service.ts';
import { sampleBodies } from './sample-bodies.ts';

const ADDRESS = 'https://shop.example';
const NOW = Date.parse('2026-11-20T12:00:00Z');

afterAll(removeFolders);

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

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rotateKey } from '../../compiler/keys/key-command.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import { runVerify, type VerifyCommandOptions } from '../../compiler/verify/verify-command.ts';
import { didOf, seed } from '../seeded-keys.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  spotPrices,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { changeProof, InventedWitness } from '../witness/invented-witness.ts';
import { resign } from './resign.ts';

// The first key signs until the 12th, the second one from the 7th on.

afterAll(removeFolders);
const [S1, S2] = [seed(91), seed(92)];
const [K1, K2] = [didOf(91), didOf(92)];
const END = '2026-11-12T12:00:00Z';
const [IN_USE, ENDED] = [Date.parse(END), Date.parse('2026-11-12T12:00:01Z')];
const LATER = Date.parse('2026-11-21T12:00:00Z');
const OF_A_THIEF = `in use until ${END}: whoever has that key now may have made it`;

/** The release of the first key in the overlap, and that of the second key behind it. */
let first = '';
let second = '';
beforeAll(async () => {
  const snapshots = writeSnapshots({});
  second = join(makeFolder(), 'data');
  const release = async (day: string, key: Uint8Array) => {
    writeSnapshots(spotPrices(`2026-11-${day}`, 1, 100), snapshots);
    await compileFolder(snapshots, { data: second, asOf: `2026-11-${day}T13:00:00Z`, seed: key });
  };
  await release('05', S1);
  const from = '2026-11-07T12:00:00Z';
  rotateKey({ data: second, old: S1, next: S2, from, now: from, overlapDays: 5 });
  await release('08', S1);
  first = copyOf(second);
  await release('20', S2);
});

function copyOf(folder: string): string {
  const copy = join(makeFolder(), 'data');
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

/** `verify --remember` with a file that holds this text. */
async function follow(folder: string, more: VerifyCommandOptions, text: string | null = null) {
  let saved: string | null = null;
  const save = (next: string): void => {
    saved = next;
  };
  const outcome = await runVerify(folder, { issuer: [K1], memory: { text, save }, ...more });
  return { ...outcome, saved };
}

describe('a release that a key signed which has ended', () => {
  it('I26: is not verified by itself, nor remembered, and the one of the next key is', async () => {
    expect(await follow(first, { now: IN_USE })).toMatchObject({ exitCode: 0 });
    const later = await follow(first, { now: ENDED });
    expect(later).toMatchObject({ exitCode: 2, saved: null });
    expect(later.text).toContain(
      `cannot be judged  ${first}\n  signed by ${K1}, which was ${OF_A_THIEF}`,
    );
    const next = await follow(second, { now: LATER });
    expect([next.exitCode, next.saved === null]).toEqual([0, false]);
    expect(await follow(second, { now: LATER, issuer: [K2] })).toMatchObject({ exitCode: 0 });
  });

  it('I26: is verified where witnesses saw its log while the key was in use', async () => {
    const witness = new InventedWitness('w.example/1');
    const policy = readPolicy(Buffer.from(`${witness.policyLine('First')}quorum First\n`));
    const exitCodes = async (seenAt: string) => {
      const folder = copyOf(first);
      changeProof(join(folder, 'current'), (note) => witness.cosign(note, seenAt));
      return (await follow(folder, { now: ENDED, policy })).exitCode;
    };
    expect(await exitCodes('2026-11-09T12:00:00Z')).toBe(0);
    expect(await exitCodes(END)).toBe(2);
  });

  it('I26: accuses nobody of a fork without saying who may have made it', async () => {
    const { saved } = await follow(first, { now: IN_USE });
    const fork = copyOf(first);
    resign(join(fork, 'current'), { issuer_name: 'Another name' }, S1);
    const inUse = await follow(fork, { now: IN_USE }, saved);
    expect(inUse).toMatchObject({ exitCode: 1, saved: null });
    expect(inUse.text).toContain('fork: another release 2 was seen before');
    expect(inUse.text).not.toContain('whoever has that key');
    const ended = await follow(fork, { now: ENDED }, saved);
    expect(ended).toMatchObject({ exitCode: 1, saved: null });
    expect(ended.text).toContain(OF_A_THIEF);
    expect(await follow(second, { now: LATER }, saved)).toMatchObject({ exitCode: 0 });
  });
});

import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { leafHash } from '../../../../compiler/format/merkle.ts';
import type { ReleaseEntry } from '../../../../compiler/format/release-entry.ts';
import { releaseEntryBytes } from '../../../../compiler/format/release-entry.ts';
import { CHECKPOINT_PATH } from '../../../../compiler/format/tiles.ts';
import { isLeafProven } from '../../../../compiler/format/tlog-proof.ts';
import { folderSource } from '../../../../gatekeeper/heart/release/folder-source.ts';
import { entryOfSequence, LogTree } from '../../../../gatekeeper/heart/release/log-files.ts';
import { logTip } from '../../../../gatekeeper/heart/release/log-tip.ts';
import { headHash, openRelease } from '../../../../gatekeeper/heart/release/open-release.ts';
import { hashes, loggedRelease } from '../../logged-service.ts';
import { type Taken, tinyEntries, writeTinyLog } from '../../tiny-log.ts';
import { TINY_BASE_URL, tinyData, tinyKey } from '../../tiny-release.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

const open = (data: string, now?: () => number) =>
  openRelease({
    source: folderSource(data),
    issuerDid: null,
    baseUrl: null,
    ...(now === undefined ? {} : { now }),
  });

/** Writes another log in the place of that of a folder. */
function rewrite(
  data: string,
  entries: readonly ReleaseEntry[],
  seed = 1,
  baseUrl = TINY_BASE_URL,
) {
  rmSync(join(data, 'log'), { recursive: true });
  writeTinyLog(data, entries, { taken: [], baseUrl, signer: tinyKey(seed) });
}

const witness = (byte: number, length = 76): string =>
  `\u2014 witness.example/${byte} ${Buffer.alloc(length, byte).toString('base64')}\n`;

describe('logTip()', () => {
  it('proves the entry of the release', async () => {
    const release = await open(tinyData(loggedRelease()));
    const { proof, entry, entryBytes } = await logTip(release);
    expect([entry.sequence, entry.head]).toEqual([3, headHash(release.head)]);
    expect(isLeafProven(proof, leafHash(entryBytes, sha256), sha256)).toBe(true);
    const other = releaseEntryBytes({ ...entry, sequence: 4 });
    expect(isLeafProven(proof, leafHash(other, sha256), sha256)).toBe(false);
  });

  it.each([2, 255, 256, 257, 600])(
    'finds it in a log of %d entries, and behind it',
    async (size) => {
      const data = tinyData({ sequence: size, taken: Array(size).fill([]) });
      const release = await open(data);
      const { head } = release;
      expect((await logTip(release)).proof.index).toBe(size - 1);
      // Killed between the checkpoint and the switch: the log is ahead of the release that is served.
      const own = { as_of: head.as_of, head: headHash(head) };
      const entries = tinyEntries(Array(size).fill([]), own);
      const next = { ...(entries.at(-1) as ReleaseEntry), sequence: size + 1, head: own.head };
      rewrite(data, [...entries, next]);
      const ahead = await logTip(await open(data));
      expect([ahead.proof.index, ahead.proof.signed.size]).toEqual([size - 1, size + 1]);
      expect(ahead.entry.sequence).toBe(size);
    },
  );

  it('takes nothing for the entry that is not that of its head', async () => {
    const data = tinyData(loggedRelease());
    const release = await open(data);
    const { as_of } = release.head;
    const own = { as_of, head: headHash(release.head) };
    const taken: Taken = [[], [], []];
    const good = tinyEntries(taken, own);
    const cases: readonly (readonly [readonly ReleaseEntry[], string, number?, string?])[] = [
      [tinyEntries(taken, { ...own, head: `sha256:${'0'.repeat(64)}` }), 'another entry'],
      [tinyEntries(taken, { ...own, as_of: '2026-11-21T11:00:01Z' }), 'another entry'],
      [good.slice(0, 2), 'Cannot find release 3'],
      [good.map((entry) => ({ ...entry, sequence: entry.sequence + 1 })), 'another entry'],
      [good, 'the issuer did not sign', 2],
      [good, 'another log', 1, 'https://other.example'],
    ];
    for (const [entries, why, seed, baseUrl] of cases) {
      rewrite(data, entries, seed, baseUrl);
      await expect(logTip(await open(data))).rejects.toThrow(why);
    }
    rewrite(data, good);
    expect((await logTip(await open(data))).entry.head).toBe(own.head);
  });

  it('takes up signatures without a restart, and never fewer, nor another tree', async () => {
    let steadyMs = 0;
    const data = tinyData(loggedRelease());
    const release = await open(data, () => steadyMs);
    const at = join(data, CHECKPOINT_PATH);
    const good = readFileSync(at, 'utf8');
    const later = async (): Promise<string> => {
      steadyMs += 61_000;
      await logTip(release);
      await new Promise((resolve) => setTimeout(resolve, 30));
      return (await logTip(release)).proof.checkpoint;
    };
    expect((await logTip(release)).proof.checkpoint).toBe(good);
    writeFileSync(at, good + witness(1));
    expect((await logTip(release)).proof.checkpoint).toBe(good);
    expect(await later()).toBe(good + witness(1));
    const own = { as_of: release.head.as_of, head: headHash(release.head) };
    const two = { ...(tinyEntries([[]], own)[0] as ReleaseEntry), sequence: 4 };
    const bad = [good, good + witness(2), 'torn', good.replace('\n3\n', '\n4\n')];
    for (const worse of bad) {
      writeFileSync(at, worse);
      expect(await later()).toBe(good + witness(1));
    }
    rewrite(data, [...tinyEntries([[], [], []], own), two]);
    expect(await later()).toBe(good + witness(1));
    mkdirSync(join(data, 'log'), { recursive: true });
    writeFileSync(at, good + witness(1) + witness(2));
    expect(await later()).toBe(good + witness(1) + witness(2));
  });

  it('is taken without its witnesses where somebody added lines without end', async () => {
    const data = tinyData(loggedRelease());
    const at = join(data, CHECKPOINT_PATH);
    const good = readFileSync(at, 'utf8');
    const many = Array.from({ length: 90 }, (_, byte) => witness(byte)).join('');
    writeFileSync(at, good + many);
    expect((await logTip(await open(data))).proof.checkpoint).toBe(good + many);
    writeFileSync(at, good + witness(7, 12_900));
    expect((await logTip(await open(data))).proof.checkpoint).toBe(good);
  });
});

describe('LogTree', () => {
  const size = 600;
  const taken: Taken = Array.from({ length: size }, (_, at) => hashes(at, 1));

  it('proves every entry, and reads no tile or bundle that is not of the root', async () => {
    const data = tinyData({ taken });
    const release = await open(data);
    const { proof, tree } = await logTip(release);
    for (const sequence of [1, 2, 255, 256, 257, 512, 513, 600]) {
      const { index, bytes, entry } = await entryOfSequence(sequence, tree);
      expect([index, entry.sequence]).toEqual([sequence - 1, sequence]);
      const hashes = await tree.proof(index);
      const signed = { ...proof.signed };
      expect(isLeafProven({ index, hashes, signed }, leafHash(bytes, sha256), sha256)).toBe(true);
    }
    await expect(entryOfSequence(601, tree)).rejects.toThrow('Cannot find');
    for (const path of ['0/000', '0/002.p/88', '1/000.p/2', 'entries/000', 'entries/002.p/88']) {
      const at = join(data, 'log/tile', path);
      const good = readFileSync(at);
      const flipped = Buffer.from(good);
      flipped[40] = (flipped[40] ?? 0) ^ 1;
      for (const bad of [flipped, good.subarray(0, -1), null]) {
        if (bad === null) rmSync(at);
        else writeFileSync(at, bad);
        const other = new LogTree(release.place, tree);
        const read = async () => {
          const { index } = await entryOfSequence(path.includes('002') ? 590 : 3, other);
          return other.proof(index);
        };
        await expect(read(), path).rejects.toThrow('restore');
      }
      writeFileSync(at, good);
    }
  });
});

import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CompileOptions } from '../../../../../compiler/cli/compile.ts';
import { rollBack } from '../../../../../compiler/cli/releases-command.ts';
import type { Checkpoint } from '../../../../../compiler/format/checkpoint.ts';
import { CHECKPOINT_PATH } from '../../../../../compiler/format/tiles.ts';
import { openLogMemory } from '../../../../../compiler/publish/anchor/log-memory.ts';
import { isSameLog, type LogMemory } from '../../../../../compiler/publish/log/log-turn.ts';
import { openLog } from '../../../../../compiler/release/log-folder.ts';
import { currentName } from '../../../../../compiler/release/release-folders.ts';
import { openStaging } from '../../../../../compiler/release/release-store.ts';
import { memoryStore } from '../../../../publish/log/memory-store.ts';
import { readLog, seenLog } from '../../../../publish/log/watch-log.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';

afterAll(removeFolders);

const COPY = { recursive: true, verbatimSymlinks: true } as const;
const snapshots = writeSnapshots(spotPrices('2026-11-20', 2, 100));
const at = (hour: number) => `2026-11-20T${hour}:00:00Z`;

/** A memory in this process, which says what was asked of it. */
function plainMemory(known: Checkpoint | null = null) {
  const memory = {
    name: 'the memory',
    known,
    swaps: 0,
    read: async () => memory.known,
    async swap(expected: Checkpoint | null, next: Checkpoint) {
      memory.swaps += 1;
      if (!isSameLog(memory.known, expected)) return isSameLog(memory.known, next);
      memory.known = next;
      return true;
    },
  };
  return memory satisfies LogMemory;
}

interface Machine {
  readonly data: string;
  readonly logMemory: LogMemory | null;
}

const newMachine = (logMemory: LogMemory | null): Machine => ({
  data: join(makeFolder(), 'data'),
  logMemory,
});
const compiled = (machine: Machine, hour: number, more: Partial<CompileOptions> = {}) =>
  compileFolder(snapshots, { ...machine, asOf: at(hour), ...more });

function copyOf({ data, logMemory }: Machine): Machine {
  const copy = newMachine(logMemory);
  cpSync(data, copy.data, COPY);
  return copy;
}
const sizeOf = ({ data }: Machine) => openLog(data)?.signed.size ?? 0;

/** What a reader saw who looked at each of these folders, one after the other, that an honest log never shows. */
function wrongs(...machines: readonly Machine[]): string[] {
  const [seen, wrong] = [seenLog(), [] as string[]];
  for (const { data } of machines) readLog(data, seen, (what) => wrong.push(what));
  return wrong;
}

describe('a log with a memory outside', () => {
  it('I65: is remembered with each release, and goes on from what is known', async () => {
    const memory = plainMemory();
    const shop = newMachine(memory);
    for (const hour of [12, 13]) {
      await compiled(shop, hour);
      expect(isSameLog(memory.known, openLog(shop.data)?.signed ?? null)).toBe(true);
    }
    expect(memory.swaps).toBe(2);
    // One that was set later, or that was left out once, knows less.
    await compiled({ ...shop, logMemory: null }, 14);
    await compiled(shop, 15);
    expect(memory.known?.size).toBe(4);
  });

  it('I65: a restored folder and a lost one are refused, with the remedy, and nothing is signed', async () => {
    const memory = plainMemory();
    const shop = newMachine(memory);
    await compiled(shop, 12);
    const restored = copyOf(shop);
    await compiled(shop, 13);
    const before = readFileSync(join(restored.data, CHECKPOINT_PATH), 'utf8');
    const refusal = compiled(restored, 14);
    await expect(refusal).rejects.toThrow('a log of 2 entries is remembered');
    await expect(compiled(restored, 14)).rejects.toThrow('has 1: it was restored');
    await expect(compiled(restored, 14)).rejects.toThrow('signalpress adopt');
    const lost = newMachine(memory);
    await expect(compiled(lost, 14)).rejects.toThrow('has none: it is new, or was lost');
    expect(readFileSync(join(restored.data, CHECKPOINT_PATH), 'utf8')).toBe(before);
    expect([sizeOf(restored), sizeOf(lost), currentName(lost.data)]).toEqual([1, 0, null]);
    // A rollback is a release like any other.
    const back = rollBack({
      ...restored,
      name: currentName(restored.data) ?? '',
      asOf: at(15),
      seed: SEED,
    });
    await expect(back).rejects.toThrow('signalpress adopt');
    expect(wrongs(restored, shop)).toEqual([]);
  });

  it('I65: of two machines that compile at once one goes on, and the other signs nothing', async () => {
    const store = await memoryStore();
    const memory = () => openLogMemory({ place: store.url, data: 'data', auth: null, fetch });
    const one = newMachine(memory());
    await compiled(one, 12);
    const other = { ...copyOf(one), logMemory: memory() };
    const ends = await Promise.allSettled([compiled(one, 13), compiled(other, 14)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect([sizeOf(one), sizeOf(other)].sort()).toEqual([1, 2]);
    expect([one, other].filter(({ data }) => existsSync(join(data, '.staged-log')))).toEqual([]);
    expect(store.puts.filter((status) => status < 300)).toHaveLength(2);
    const behind = sizeOf(one) === 1 ? one : other;
    await expect(compiled(behind, 15)).rejects.toThrow('a log of 2 entries is remembered');
    await store.close();
  });

  it('another history of the same size is refused', async () => {
    const memory = plainMemory();
    const shop = newMachine(null);
    await compiled(shop, 12);
    const other = newMachine(memory);
    await compiled(other, 13);
    await expect(compiled({ ...shop, logMemory: memory }, 14)).rejects.toThrow('another history');
    expect(wrongs(shop)).toEqual([]);
  });

  it('I65: out of reach it refuses, and names the switch to go without', async () => {
    const away = { ...plainMemory(), read: () => Promise.reject(new Error('no route')) };
    const shop = newMachine(away);
    await expect(compiled(shop, 12)).rejects.toThrow(/out of reach: no route.*--no-log-memory/);
    expect(sizeOf(shop)).toBe(0);
    await compiled({ ...shop, logMemory: null }, 12);
    expect(sizeOf(shop)).toBe(1);
  });
});

/** Where a compile ends for good: each leaves a staged entry that may or may not be remembered. */
const ENDS = {
  'before the memory swaps': () => Promise.reject(new Error('killed')),
  'after the memory swapped': async (swap: () => Promise<boolean>) => {
    await swap();
    throw new Error('killed');
  },
} as const;

describe('a compile that ends between staging and the switch', () => {
  it.each(Object.entries(ENDS))(
    'I65: %s is finished by the next one, with its own entry',
    async (_, end) => {
      const memory = plainMemory();
      const shop = newMachine(memory);
      await compiled(shop, 12);
      const dying = {
        ...memory,
        read: memory.read,
        swap: (expected: Checkpoint | null, next: Checkpoint) =>
          end(() => memory.swap(expected, next)),
      };
      await expect(compiled({ ...shop, logMemory: dying }, 13)).rejects.toThrow(
        'run this again, which publishes the staged release',
      );
      expect([sizeOf(shop), currentName(shop.data)?.slice(0, 6)]).toEqual([1, '000001']);
      // Whoever has no key leaves it as it is.
      expect(() => openStaging(shop.data)).toThrow('a release is staged and not published');
      const before = copyOf(shop);
      await compiled(shop, 14);
      const log = openLog(shop.data);
      expect([2, 3].map((sequence) => log?.entryOf(sequence)?.as_of)).toEqual([at(13), at(14)]);
      expect(wrongs(before, shop)).toEqual([]);
      expect(existsSync(join(shop.data, '.staged-log'))).toBe(false);
      // The one that was killed first is no fork of it: it is refused.
      await expect(compiled(before, 15)).rejects.toThrow('a log of 3 entries is remembered');
    },
  );

  it('I65: no other key finishes it, and no release of another head', async () => {
    const memory = plainMemory();
    const shop = newMachine({ ...memory, swap: () => Promise.reject(new Error('killed')) });
    await expect(compiled(shop, 12)).rejects.toThrow('killed');
    const stranger = { seed: new Uint8Array(32).fill(9) };
    const again = { ...shop, logMemory: memory };
    await expect(compiled(again, 13, stranger)).rejects.toThrow('not a key of this issuer');
    expect(sizeOf(shop)).toBe(0);
    await compiled(again, 13);
    expect(sizeOf(shop)).toBe(2);
  });

  it.each(Object.entries(ENDS))('of a staged release that is lost: %s', async (when, end) => {
    const memory = plainMemory();
    const shop = newMachine(memory);
    await compiled(shop, 12);
    const swap = (expected: Checkpoint | null, next: Checkpoint) =>
      end(() => memory.swap(expected, next));
    await expect(compiled({ ...shop, logMemory: { ...memory, swap } }, 13)).rejects.toThrow(
      'killed',
    );
    rmSync(join(shop.data, 'releases/000002-20261120T130000Z'), { recursive: true });
    // Only what is remembered outside may have no other in its place.
    if (when === 'after the memory swapped') {
      await expect(compiled(shop, 14)).rejects.toThrow('000002-20261120T130000Z');
      expect(sizeOf(shop)).toBe(1);
    } else {
      await compiled(shop, 14);
      expect([sizeOf(shop), memory.known?.size]).toEqual([2, 2]);
    }
  });
});

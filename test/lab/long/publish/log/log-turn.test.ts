import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { CompileOptions } from '../../../../../compiler/cli/compile.ts';
import { rollBack } from '../../../../../compiler/cli/releases-command.ts';
import {
  type Checkpoint,
  formatVerifierKey,
  NOTE_KEY,
  openNote,
  parseVerifierKey,
} from '../../../../../compiler/format/checkpoint.ts';
import { parseDidKey } from '../../../../../compiler/format/did-key.ts';
import { CHECKPOINT_PATH } from '../../../../../compiler/format/tiles.ts';
import { openLogMemory } from '../../../../../compiler/publish/anchor/log-memory.ts';
import { rotateKey } from '../../../../../compiler/publish/keys/key-command.ts';
import { isSameLog, type LogMemory } from '../../../../../compiler/publish/log/log-turn.ts';
import { adoptLog } from '../../../../../compiler/publish/mirror/keep-command.ts';
import { openLog } from '../../../../../compiler/release/log-folder.ts';
import { sha256 } from '../../../../../compiler/release/log-tree.ts';
import { currentName } from '../../../../../compiler/release/release-folders.ts';
import { openStaging } from '../../../../../compiler/release/release-store.ts';
import { issuerDid, signingKey } from '../../../../../compiler/system/sealer.ts';
import { sampleGate } from '../../../../gate.ts';
import { memoryStore, readLog, seenLog } from '../../../../publish/log/memory-store.ts';
import { AskedShop } from '../../../../publish/witness/asked-shop.ts';
import { StubWitness } from '../../../../publish/witness/stub-witness.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';
import { Watching } from '../../../../verify/monitor/watching.ts';

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

describe('a bad week, with a gatekeeper, a monitor and a witness who look on', () => {
  const OTHER = new Uint8Array(32).fill(8);
  const ISSUER = issuerDid(signingKey(SEED));

  /**
   * A shop that remembers its log in a file, with all who look at it: a gatekeeper that serves it, a monitor of that
   * gatekeeper, a witness, and a reader of whatever is signed. Of each it keeps what an honest log never shows.
   */
  class WatchedShop {
    static async open(): Promise<WatchedShop> {
      const asked = await AskedShop.open();
      const state = makeFolder();
      const said: Readonly<Record<string, unknown>>[] = [];
      const gate = await sampleGate(asked.data, {
        settings: { state },
        log: (entry) => void said.push(entry),
      });
      const watching = new Watching({ addresses: [gate.url], issuers: [ISSUER], fetch });
      const hour = { now: Date.parse('2026-11-20T13:05:00Z') };
      // The witness was told both keys of the log.
      const origin = parseVerifierKey(asked.vkey, sha256).name;
      const logs = [SEED, OTHER].map((seed) => {
        const publicKey = parseDidKey(issuerDid(signingKey(seed)));
        return { name: origin, type: NOTE_KEY.log, publicKey };
      });
      const witness = new StubWitness({ name: 'one.example', logs, now: () => hour.now });
      const server = await witness.serve();
      const lines = logs.map((key) => `log ${formatVerifierKey(key, sha256)}\n`).join('');
      const line = `witness One ${witness.vkey} http://127.0.0.1:${server.port}/\n`;
      const policy = `${lines}${line}quorum One\n`;
      const place = join(asked.folder, 'memory');
      const memory = openLogMemory({ place, data: asked.data, auth: null, fetch });
      const close = () => server.close();
      const shop = new WatchedShop({ asked, gate, watching, policy, memory, said, hour, close });
      await shop.look();
      return shop;
    }

    readonly data: string;
    readonly memory: LogMemory;
    readonly #by;
    readonly #seen = seenLog();
    readonly #wrong: string[] = [];
    #hour = 13;

    private constructor(by: {
      readonly asked: AskedShop;
      readonly gate: Awaited<ReturnType<typeof sampleGate>>;
      readonly watching: Watching;
      readonly policy: string;
      readonly memory: LogMemory;
      readonly said: readonly Readonly<Record<string, unknown>>[];
      /** Milliseconds since 1970, for witness and monitor. */
      readonly hour: { now: number };
      readonly close: () => Promise<void>;
    }) {
      this.#by = by;
      this.data = by.asked.data;
      this.memory = by.memory;
    }

    get url(): string {
      return this.#by.gate.url;
    }

    get snapshots(): string {
      return join(this.#by.asked.folder, 'snapshots');
    }

    /** The next hour, at which something is signed. */
    nextHour(): string {
      this.#hour += 1;
      return `2026-11-20T${this.#hour}:00:00Z`;
    }

    compile({ data = this.data, seed = SEED, logMemory = this.memory as LogMemory | null } = {}) {
      return compileFolder(this.snapshots, { data, seed, logMemory, asOf: this.nextHour() });
    }

    copy(): string {
      const folder = join(makeFolder(), 'data');
      cpSync(this.data, folder, COPY);
      return folder;
    }

    /** Puts another folder in the place of the one that is served, or none for null. */
    putInPlace(folder: string | null): void {
      rmSync(this.data, { recursive: true });
      if (folder !== null) cpSync(folder, this.data, COPY);
    }

    /** Gatekeeper, witness, monitor and reader look at what is there now. */
    async look(): Promise<void> {
      const { gate, asked, policy, watching, hour } = this.#by;
      hour.now = Date.parse(`2026-11-20T${this.#hour}:05:00Z`);
      await gate.checkRelease();
      if (existsSync(join(this.data, CHECKPOINT_PATH))) {
        readLog(this.data, this.#seen, (what) => this.#wrong.push(what));
        const { witnesses } = await asked.ask(policy, { now: () => hour.now });
        for (const { name, failure } of witnesses)
          if (failure !== null) this.#wrong.push(`witness ${name}: ${failure}`);
      }
      watching.clock.ms = hour.now;
      // What is not proven has to be seen twice.
      for (let looks = 0; looks < 2; looks += 1) await watching.monitor.look();
      this.#wrong.push(...watching.alarms().map((kind) => `alarm: ${kind}`));
    }

    /** What is served: size of the log, sequence of the release. */
    async served(): Promise<readonly [number | undefined, number]> {
      const note = await (await fetch(`${this.url}/log/checkpoint`)).text();
      const head = await (await fetch(`${this.url}/.well-known/release.json`)).json();
      return [openNote(note)?.checkpoint.size, (head as { sequence: number }).sequence];
    }

    /** What anybody saw that an honest log never shows, and what the gatekeeper refused. */
    faults() {
      const refused = this.#by.said.filter(({ event }) => event === 'release_refused');
      return { wrong: this.#wrong, refused: refused.map(({ error }) => error) };
    }

    async close(): Promise<void> {
      await this.#by.gate.close();
      await this.#by.asked.close();
      await this.#by.close();
    }
  }

  const NONE = { wrong: [], refused: [] };
  const open: WatchedShop[] = [];
  const watchedShop = async (): Promise<WatchedShop> => {
    const shop = await WatchedShop.open();
    open.push(shop);
    return shop;
  };
  afterEach(async () => {
    for (const shop of open.splice(0)) await shop.close();
  });
  it('I65: a restored folder signs nothing, and goes on once the log is adopted', async () => {
    const shop = await watchedShop();
    const backup = shop.copy();
    await shop.compile();
    await shop.look();
    expect(await shop.served()).toEqual([2, 2]);
    await expect(shop.compile({ data: backup })).rejects.toThrow('it was restored');
    await adoptLog({ from: shop.url, data: backup, issuers: [ISSUER], fetch });
    await shop.compile({ data: backup });
    shop.putInPlace(backup);
    await shop.look();
    expect([await shop.served(), shop.faults()]).toEqual([[3, 3], NONE]);
  });

  it('I65: a lost folder begins no second log, and goes on once the log is adopted', async () => {
    const shop = await watchedShop();
    await shop.compile();
    await shop.look();
    const lost = join(makeFolder(), 'data');
    await expect(shop.compile({ data: lost })).rejects.toThrow('it is new, or was lost');
    expect(existsSync(join(lost, CHECKPOINT_PATH))).toBe(false);
    await adoptLog({ from: shop.url, data: lost, issuers: [ISSUER], fetch });
    await shop.compile({ data: lost });
    shop.putInPlace(lost);
    await shop.look();
    expect([await shop.served(), shop.faults()]).toEqual([[3, 3], NONE]);
  });

  it('I65: a lost state of the compiler costs time and no entry', async () => {
    const shop = await watchedShop();
    await shop.compile();
    rmSync(join(shop.data, 'state'), { recursive: true, force: true });
    await shop.compile();
    await shop.look();
    expect([await shop.served(), shop.faults()]).toEqual([[3, 3], NONE]);
  });

  it('I65: of two machines one goes on, and the other may follow once it has adopted', async () => {
    const shop = await watchedShop();
    const other = shop.copy();
    await shop.compile();
    await shop.look();
    await expect(shop.compile({ data: other })).rejects.toThrow('another machine went on');
    await adoptLog({ from: shop.url, data: other, issuers: [ISSUER], fetch });
    await shop.compile({ data: other });
    await expect(shop.compile()).rejects.toThrow('another machine went on');
    shop.putInPlace(other);
    await shop.look();
    expect([await shop.served(), shop.faults()]).toEqual([[3, 3], NONE]);
  });

  it.each([['before'], ['after']])(
    'I65: a crash just %s the memory swaps shows nobody anything, and its entry comes next',
    async (when) => {
      const shop = await watchedShop();
      const swap: LogMemory['swap'] = async (expected, next) => {
        if (when === 'after') await shop.memory.swap(expected, next);
        throw new Error('killed');
      };
      const logMemory = { ...shop.memory, swap };
      await expect(shop.compile({ logMemory })).rejects.toThrow('run this again');
      await shop.look();
      expect([await shop.served(), shop.faults()]).toEqual([[1, 1], NONE]);
      await shop.compile();
      await shop.look();
      expect([await shop.served(), shop.faults()]).toEqual([[3, 3], NONE]);
    },
  );

  it('I65: a rollback after a rotation goes on with the new key alone', async () => {
    const shop = await watchedShop();
    const first = currentName(shop.data) ?? '';
    const from = shop.nextHour();
    const by = { data: shop.data, old: SEED, next: OTHER, overlapDays: 0 };
    rotateKey({ ...by, from: shop.nextHour(), now: from });
    await shop.compile({ seed: OTHER });
    await shop.look();
    const { data, memory: logMemory } = shop;
    await rollBack({ data, name: first, asOf: shop.nextHour(), seed: OTHER, logMemory });
    await shop.look();
    expect([await shop.served(), shop.faults()]).toEqual([[3, 3], NONE]);
  });

  it('who goes without a memory forks: gatekeeper, witness and reader notice it', async () => {
    const shop = await watchedShop();
    const backup = shop.copy();
    await shop.compile();
    await shop.look();
    writeSnapshots(spotPrices('2026-11-19', 2, 70), shop.snapshots);
    for (let times = 0; times < 2; times += 1)
      await shop.compile({ data: backup, logMemory: null });
    shop.putInPlace(backup);
    await shop.look();
    const { wrong, refused } = shop.faults();
    expect(refused).toEqual([expect.stringContaining('its log is a fork')]);
    expect(wrong).toEqual(
      expect.arrayContaining([
        expect.stringContaining('the log forks at 2 entries'),
        expect.stringContaining('witness One: '),
      ]),
    );
    expect((await shop.served())[1]).toBe(2);
  });
});

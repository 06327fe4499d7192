import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { rollBack } from '../../../../../compiler/cli/releases-command.ts';
import { openNote } from '../../../../../compiler/format/checkpoint.ts';
import { parseDidKey } from '../../../../../compiler/format/did-key.ts';
import { CHECKPOINT_PATH } from '../../../../../compiler/format/tiles.ts';
import {
  formatVerifierKey,
  NOTE_KEY,
  parseVerifierKey,
} from '../../../../../compiler/format/verifier-key.ts';
import { openLogMemory } from '../../../../../compiler/publish/anchor/log-memory.ts';
import { rotateKey } from '../../../../../compiler/publish/keys/key-command.ts';
import type { LogMemory } from '../../../../../compiler/publish/log/log-turn.ts';
import { adoptLog } from '../../../../../compiler/publish/mirror/keep-command.ts';
import { sha256 } from '../../../../../compiler/release/log-tree.ts';
import { currentName } from '../../../../../compiler/release/release-folders.ts';
import { issuerDid, signingKey } from '../../../../../compiler/system/sealer.ts';
import { sampleGate } from '../../../../gate.ts';
import { readLog, seenLog } from '../../../../publish/log/watch-log.ts';
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

const COPY = { recursive: true, verbatimSymlinks: true } as const;
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
afterAll(removeFolders);

describe('a bad week, with a gatekeeper, a monitor and a witness who look on', () => {
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

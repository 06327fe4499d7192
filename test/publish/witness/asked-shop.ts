import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isoTime } from '../../../compiler/format/iso-time.ts';
import { CHECKPOINT_PATH, LOG_KEY_PATH } from '../../../compiler/format/tiles.ts';
import { type AskBy, askWitnesses } from '../../../compiler/publish/witness/ask-witnesses.ts';
import { readPolicy } from '../../../compiler/verify/policy-check.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { sharedFolder } from '../../shared-folder.ts';
import {
  compileFolder,
  makeFolder,
  readJson,
  spotPrices,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { VirtualClock } from '../../sources/fetch/test-row.ts';
import { StubWitness } from './stub-witness.ts';

const NOW_TEXT = '2026-11-20T12:30:00Z';
export const NOW = Date.parse(NOW_TEXT);

/** What something at an address says that answers as it likes. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly location?: string;
  readonly retryAfter?: string;
}

/** Publishes a release, five minutes after the one before, with so many readings more. */
async function publish(folder: string, at: number, count: number): Promise<void> {
  const [snapshots, data] = [join(folder, 'snapshots'), join(folder, 'data')];
  const day = `2026-11-${10 + at}`;
  writeSnapshots(spotPrices(day, count, 90_000 + at), snapshots);
  const asOf = isoTime(Date.parse('2026-11-20T12:00:00Z') + at * 300_000);
  await compileFolder(snapshots, { data, asOf });
}

/**
 * A shop of one release with three readings, and the witnesses that are asked about its log. `close` belongs into the afterEach
 * of the test file, `removeFolders` into its afterAll.
 */
export class AskedShop {
  readonly folder = makeFolder();
  readonly data = join(this.folder, 'data');
  readonly #open: { close(): unknown }[] = [];

  static async open(): Promise<AskedShop> {
    const made = await sharedFolder('asked-shop', (own) => publish(own, 0, 3));
    const shop = new AskedShop();
    cpSync(made, shop.folder, { recursive: true, verbatimSymlinks: true });
    return shop;
  }

  async close(): Promise<void> {
    for (const each of this.#open.splice(0).reverse()) await each.close();
  }

  next(at: number, count = 1): Promise<void> {
    return publish(this.folder, at, count);
  }

  get notePath(): string {
    return join(this.data, CHECKPOINT_PATH);
  }

  /** The published checkpoint. */
  get noteText(): string {
    return readFileSync(this.notePath, 'utf8');
  }

  get vkey(): string {
    return readFileSync(join(this.data, LOG_KEY_PATH), 'utf8').trim();
  }

  /** A witness that serves on its own port; its line of a policy. */
  async witness(name: string, now = () => NOW): Promise<{ readonly line: string }> {
    const policy = readPolicy(Buffer.from(`log ${this.vkey}\nquorum none\n`));
    const logs = policy.logs.map(({ key }) => key);
    const witness = new StubWitness({ name: `${name.toLowerCase()}.example`, logs, now });
    const served = await witness.serve();
    this.#open.push(served);
    return { line: `witness ${name} ${witness.vkey} http://127.0.0.1:${served.port}/\n` };
  }

  /** Something at an address that answers as it likes; null for no answer at all. */
  async liar(answer: (body: string) => Reply | null): Promise<string> {
    const server = createServer(async (request, response) => {
      const said = answer((await request.toArray()).join(''));
      if (said === null) return;
      const { status, body, location, retryAfter } = said;
      if (location !== undefined) response.setHeader('location', location);
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      response.writeHead(status).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const close = (): void => {
      server.closeAllConnections();
      server.close();
    };
    this.#open.push({ close });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  ask(policy: string, more: Partial<AskBy> = {}) {
    return askWitnesses(this.data, readPolicy(Buffer.from(policy)), { ...askedNow(), ...more });
  }

  async verified(policy: string): Promise<string> {
    const { issuer_did: did } = readJson(join(this.data, 'current'), 'release.json');
    const { exitCode, text } = await runVerify(this.data, {
      issuer: [did],
      now: NOW + 5 * 3_600_000,
      policy: readPolicy(Buffer.from(policy)),
    });
    return `${exitCode} ${text}`;
  }
}

/** Asks at one time; waits take none. */
export function askedNow(): AskBy & { readonly waits: readonly number[] } {
  const clock = new VirtualClock(NOW_TEXT);
  const { waits } = clock;
  return { fetch, now: () => NOW, steady: () => clock.ms, sleep: (ms) => clock.sleep(ms), waits };
}

/**
 * Loaded before a program: it ends it without a warning at one call of the disk, KILL_AT, counted from 0 once a file with the
 * end KILL_FROM is opened, or else once the file KILL_SWITCH is there.
 */
const KILLER = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { KILL_AT, KILL_FROM, KILL_SWITCH } = process.env;
let left = Number(KILL_AT);
let isBegun = false;
const { existsSync } = fs;
for (const name of ['openSync', 'writeFileSync', 'appendFileSync', 'fsyncSync', 'closeSync', 'renameSync']) {
  const real = fs[name];
  fs[name] = (...args) => {
    if (name === 'openSync' && KILL_FROM !== undefined && String(args[0]).endsWith(KILL_FROM)) isBegun = true;
    const isOn = isBegun || (KILL_SWITCH !== undefined && existsSync(KILL_SWITCH));
    if (isOn && left-- === 0) process.kill(process.pid, 'SIGKILL');
    return real(...args);
  };
}
syncBuiltinESMExports();
`;

/** Options of Node that load it; it is written into a folder. */
export function killerOptions(folder: string): string[] {
  const path = join(folder, 'killer.mjs');
  writeFileSync(path, KILLER);
  return ['--import', pathToFileURL(path).href];
}

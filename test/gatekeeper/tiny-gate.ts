import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../gatekeeper/settings/config.ts';
import { loadConfig } from '../../gatekeeper/settings/load-config.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import { type Gatekeeper, startGatekeeper } from '../../gatekeeper/start.ts';
import { payer, windowAt } from './payer.ts';
import { TINY_NOW, type TinyOptions, tinyDataDir, writeTinyRelease } from './tiny-release.ts';

type StartOptions = Parameters<typeof startGatekeeper>[1];

/** A gatekeeper on a loopback port over a tiny release. */
export interface TinyGate extends Gatekeeper {
  readonly port: number;
  readonly dataDir: string;
  /** Folder of the payment journal. */
  readonly stateDir: string;
  /** Directory of the release. */
  readonly root: string;
  readonly logged: Readonly<Record<string, unknown>>[];
  /** Moves the clock, which otherwise stands still. */
  now: number;
}

export interface TinyGateOptions extends Partial<StartOptions> {
  readonly config?: Partial<Config>;
  readonly release?: TinyOptions;
}

export function tinyConfig(dataDir: string): Config {
  const state = mkdtempSync(join(tmpdir(), 'signalpress-state-'));
  // The tiny release names a public address.
  const set = { port: '0', rate_limit: '0', test_payments: '1' };
  const options = { data: dataDir, state, ...set };
  return loadConfig({ options, env: {}, fileText: null });
}

/** A public service is asked from this machine by a proxy alone. */
export const BEHIND_PROXY = { trustedProxy: '127.0.0.0/8' };

/** What the proxy says where a test wants its buyer to have an address. */
export const BUYER_ADDRESS = { 'x-forwarded-for': '203.0.113.9' };

export async function tinyGate({
  config,
  release,
  ...by
}: TinyGateOptions = {}): Promise<TinyGate> {
  const dataDir = tinyDataDir();
  const root = writeTinyRelease(dataDir, release);
  const logged: Readonly<Record<string, unknown>>[] = [];
  const time = { now: TINY_NOW };
  const settings = { ...tinyConfig(dataDir), ...BEHIND_PROXY, ...config };
  const { stateDir } = settings;
  const gatekeeper = await startGatekeeper(settings, {
    clock: () => time.now,
    log: (entry) => logged.push(entry),
    ...by,
  });
  const port = Number(new URL(gatekeeper.url).port);
  return Object.defineProperty(
    { ...gatekeeper, port, dataDir, stateDir, root, logged, now: 0 },
    'now',
    {
      get: () => time.now,
      set: (now: number) => {
        time.now = now;
      },
    },
  );
}

/** A payment of version 1 for what a URL asks; `atMs` where the service has another clock than the tests. */
export async function paymentAt(url: string, atMs = TINY_NOW): Promise<string> {
  const { accepts } = (await (await fetch(url)).json()) as { accepts: readonly [RequirementsV1] };
  return payer(NETWORKS['base-sepolia']).header(accepts[0], windowAt(atMs));
}

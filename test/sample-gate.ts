import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../gatekeeper/config/load-config.ts';
import type { Facilitator } from '../gatekeeper/money/facilitator.ts';
import { type Gatekeeper, startGatekeeper } from '../gatekeeper/start.ts';
import { NOW_MS } from './gatekeeper/payer.ts';
import { tinyKey } from './gatekeeper/tiny-release.ts';
import { tinyTokens } from './gatekeeper/tiny-tokens.ts';
import { compileFolder, type SnapshotFiles, writeSnapshots } from './snapshot-folder.ts';

const SECRET = 'a secret for tests alone of 32 characters or more';

/** What an operator can leave out. */
export interface SampleSettings {
  /** A token secret is set. */
  readonly tokens: boolean;
  /** A payment processor is named. */
  readonly receipts: boolean;
  /** Milliseconds between two looks for a newer release. */
  readonly pollMs?: number;
  /** Settles in place of the one of tests. */
  readonly facilitator?: Facilitator;
  /** What is taken beside USDC, as the setting has it. */
  readonly furtherTokens?: string;
  /** State folder, where a gatekeeper goes on from another one. */
  readonly state?: string;
  readonly clock?: () => number;
}

/** A gatekeeper over a compiled data folder, by default at the instant of the test payer. */
export function sampleGate(
  data: string,
  { tokens, receipts, pollMs, facilitator, furtherTokens, ...known }: SampleSettings = {
    tokens: true,
    receipts: false,
  },
): Promise<Gatekeeper> {
  const { clock = () => NOW_MS } = known;
  const state = known.state ?? mkdtempSync(join(tmpdir(), 'signalpress-state-'));
  const usual = {
    data,
    state,
    port: '0',
    rate_limit: '0',
    test_payments: '1',
    trusted_proxy: '127.0.0.0/8',
  };
  const options = { ...usual, ...(furtherTokens === undefined ? {} : { tokens: furtherTokens }) };
  const env = {
    ...(tokens ? { SIGNALPRESS_TOKEN_SECRET: SECRET } : {}),
    ...(receipts ? { SIGNALPRESS_RECEIPT_KEY: tinyKey(3).did } : {}),
  };
  const config = loadConfig({ options, env, fileText: null });
  const given = {
    ...(pollMs === undefined ? {} : { pollMs }),
    ...(facilitator === undefined ? {} : { facilitator }),
  };
  return startGatekeeper(config, { clock, log: () => undefined, ...given });
}

/** A shop of these snapshots, compiled and served; `removeFolders` belongs into the afterAll of the test file. */
export interface ServedShop {
  readonly snapshots: string;
  readonly data: string;
  /** The did:key that signs it. */
  readonly issuer: string;
  readonly gate: Gatekeeper;
}

export async function servedShop(
  files: SnapshotFiles,
  settings?: SampleSettings,
): Promise<ServedShop> {
  const snapshots = writeSnapshots(files);
  const { data, release } = await compileFolder(snapshots);
  return { snapshots, data, issuer: release.issuer_did, gate: await sampleGate(data, settings) };
}

/** A subscription token that such a gatekeeper takes. */
export function sampleToken(): string {
  return tinyTokens({ secrets: [SECRET], clock: () => NOW_MS }).mint().token;
}

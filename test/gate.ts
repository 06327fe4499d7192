import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILTIN } from '../compiler/catalog/builtin.ts';
import { isoTime } from '../compiler/format/iso-time.ts';
import { answer } from '../gatekeeper/heart/answers/answers.ts';
import type { Content } from '../gatekeeper/heart/answers/service.ts';
import { proven } from '../gatekeeper/rooms/proven.ts';
import { loadConfig } from '../gatekeeper/settings/load-config.ts';
import { type Gatekeeper, type StartOptions, startGatekeeper } from '../gatekeeper/start.ts';
import { OPERATIONS } from './conformance-table.ts';
import { NOW_MS } from './gatekeeper/payer.ts';
import { tinyKey } from './gatekeeper/tiny-release.ts';
import { compiledService, question, tinyTokens } from './gatekeeper/tiny-service.ts';
import { SAMPLE_HOUR, writeKeyedSample } from './shared-folder.ts';
import { compiledShop } from './shop.ts';
import { compileFolder, readJson, type SnapshotFiles, writeSnapshots } from './snapshot-folder.ts';

// What sells a compiled shop: a gatekeeper on a port, or a service that is asked without a server and without money.

type Texts = Readonly<Record<string, string>>;

/** A silent gatekeeper with these settings, on a free port and without a rate limit where they do not say otherwise. */
export function startGate(
  settings: Texts,
  { env = {}, ...by }: Partial<StartOptions> & { readonly env?: Texts } = {},
): Promise<Gatekeeper> {
  const { state = mkdtempSync(join(tmpdir(), 'signalpress-state-')) } = settings;
  const options = { port: '0', rate_limit: '0', ...settings, state };
  const config = loadConfig({ options, env, fileText: null });
  return startGatekeeper(config, { clock: () => Date.now(), log: () => undefined, ...by });
}

const SECRET = 'a secret for tests alone of 32 characters or more';

export interface SampleSettings extends Partial<StartOptions> {
  /** A token secret is set; true by default. */
  readonly tokens?: boolean;
  /** A payment processor is named; false by default. */
  readonly receipts?: boolean;
  /** Further settings. */
  readonly settings?: Texts;
}

/** A gatekeeper over a compiled data folder, at the instant of the test payer; a proxy of this machine asks it. */
export function sampleGate(
  data: string,
  { tokens = true, receipts = false, settings = {}, ...by }: SampleSettings = {},
): Promise<Gatekeeper> {
  const env = {
    ...(tokens ? { SIGNALPRESS_TOKEN_SECRET: SECRET } : {}),
    ...(receipts ? { SIGNALPRESS_RECEIPT_KEY: tinyKey(3).did } : {}),
  };
  const usual = { data, test_payments: '1', trusted_proxy: '127.0.0.0/8' };
  return startGate({ ...usual, ...settings }, { clock: () => NOW_MS, env, ...by });
}

/** A shop of these snapshots, compiled and served; `removeFolders` belongs into the afterAll of the test file. */
export async function servedShop(files: SnapshotFiles, settings?: SampleSettings) {
  const snapshots = writeSnapshots(files);
  const { data, release } = await compileFolder(snapshots);
  return { snapshots, data, issuer: release.issuer_did, gate: await sampleGate(data, settings) };
}

/** A subscription token that such a gatekeeper takes. */
export function sampleToken(): string {
  return tinyTokens({ secrets: [SECRET], clock: () => NOW_MS }).mint().token;
}

/** Half an hour after the sample was published. */
export const SOLD_MS = Date.parse(SAMPLE_HOUR) + 1_800_000;

export type SoldShop = Awaited<ReturnType<typeof soldShop>>;

/** A shop that sells every operation of the table, asked without a server and without money; compiled once a run. */
export async function soldShop() {
  const write = (snapshots: string): string => {
    writeKeyedSample(snapshots);
    return snapshots;
  };
  const data = await compiledShop('sold-shop', write, { asOf: SAMPLE_HOUR });
  const did: string = readJson(join(data, 'current'), 'release.json').issuer_did;
  const plain = await compiledService(data, SOLD_MS);
  const operator = { ...plain.operator, tokens: tinyTokens({ clock: () => SOLD_MS }) };
  const service = { ...plain, operator };
  const contentOf = async (target: string): Promise<Content> => {
    const answered = await answer(question(target), service);
    if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}": no answer`);
    return answered.content;
  };
  /** The bytes that a paid request of this target delivers with `proof=0`; throws where it would not be charged. */
  const ask = async (target: string): Promise<Buffer> => (await contentOf(target)).body;
  /** The same with its proof. */
  const sell = async (target: string): Promise<Buffer> =>
    (await proven(await contentOf(target), question(target), service)).body;
  return { data, did, now: isoTime(SOLD_MS), service, ask, sell };
}

/** A request of each of the 64 paid operations that has an answer in such a shop. */
export const SOLD_TARGETS: readonly string[] = OPERATIONS.filter(({ price }) => price !== null).map(
  ({ path, valid }) => (valid === '' ? path : `${path}?${valid}`),
);

/** The other forms of the paid operations: thin, or with the pre-image of each row, which a series gets at the request. */
export const VARIANT_TARGETS: readonly string[] = SOLD_TARGETS.flatMap((target) => {
  const [path] = target.split('?', 1);
  const row = BUILTIN.operations.find((one) => one.path === path);
  return Object.entries(row?.params ?? {}).flatMap(([name, { variant }]) =>
    Object.keys(variant ?? (name === 'verifiable' ? { '1': name } : {})).map(
      (value) => `${target}${target.includes('?') ? '&' : '?'}${name}=${value}`,
    ),
  );
});

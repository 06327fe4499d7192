import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { summaryText } from '../compiler/cli/progress.ts';
import { defined, messageOf } from '../compiler/format/errors.ts';
import { leafHash, verifyInclusion } from '../compiler/format/merkle.ts';
import {
  type ReleaseEntry,
  releaseEntryBytes,
  takenLeaf,
} from '../compiler/format/release-entry.ts';
import { usdAmount } from '../compiler/products/shapes/price.ts';
import {
  type KnownSources,
  runVerifyEvidence,
} from '../compiler/publish/evidence/verify-evidence.ts';
import type { Reading } from '../compiler/readings/reading.ts';
import { Archive, keepPayload } from '../compiler/sources/fetch/archive.ts';
import { givenPayload, importDisk } from '../compiler/sources/import-command.ts';
import type { Source } from '../compiler/sources/kit/source.ts';
import { sourceOf } from '../compiler/sources/sources.ts';
import { outliveReader } from '../compiler/system/error-text.ts';
import { judgeNote } from '../compiler/verify/log-notes.ts';
import { runVerify } from '../compiler/verify/verify-command.ts';
import { type Gatekeeper, startGatekeeper } from '../gatekeeper/start.ts';
import {
  demoSettings,
  FEED,
  issuerOf,
  prepareData,
  QUICK_START,
  runningShop,
  tryPort,
  withSubscriptions,
} from './quick-start-data.ts';
import { bold, cyan, dim, green, red } from './terminal-style.ts';

/**
 * The whole product in a few seconds, made to be watched: three purchases by a real x402 client with a throw-away wallet,
 * a lost answer fetched again, offline verification, the way back to the payload, the log, and a forgery. It buys from the shop that `npm start`
 * started. Where none runs, it first compiles and serves one of its own in a temporary folder.
 */
const PURCHASES = [
  {
    title: 'one record',
    path: '/gauge?signal_id=earthquake.current_activity&entity=california-san-andreas',
  },
  { title: 'one add-on', path: '/gauge/ruler?signal_id=airquality.aqi&entity=us-denver' },
  { title: 'one bundle', path: '/gauge/earthquake-region?entity=california-san-andreas' },
] as const;

const SOURCE = 'usgs-earthquakes';

const TEST_ONLY = dim('(TEST ONLY: payments are pretended, and no money moves)');

let step = 0;
function heading(text: string): void {
  step += 1;
  console.log(`\n${cyan(`${step}.`)} ${bold(text)}`);
}

const show = (text: string): void => console.log(`   ${text}`);
const indent = (text: string): void => text.split('\n').forEach(show);

outliveReader(process.stdout, process.stderr);
try {
  await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { port } = demoSettings(QUICK_START, { port: process.env.SIGNALPRESS_PORT });
  const shop = await runningShop(port, issuerOf(QUICK_START));
  if ('absent' in shop) return ownShop(shop.absent);
  heading('Find the shop that "npm start" started');
  show(`${shop.url} serves release ${shop.sequence} of ${shop.asOf} ${TEST_ONLY}`);
  await demonstrate(shop);
  console.log(`\n${green('Done.')} The shop goes on.\n`);
}

async function ownShop(reason: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'signalpress-demo-'));
  let gatekeeper: Gatekeeper | undefined;
  try {
    console.log(dim(`${reason}, so the demo starts a shop of its own and removes it at the end.`));
    const port = String(await tryPort(0));
    heading(
      'Generate a sample up to this hour, and import a genuine USGS earthquake feed beside it',
    );
    const started = performance.now();
    const baseUrl = `http://127.0.0.1:${port}`;
    const { imported, summary } = await prepareData({ root, baseUrl, now: new Date() });
    indent(imported);
    heading('Compile them');
    indent(summaryText(summary, performance.now() - started));
    heading('Serve it');
    gatekeeper = await startGatekeeper(withSubscriptions(demoSettings(root, { port }), root), {
      clock: () => Date.now(),
      log: () => undefined,
    });
    show(`${gatekeeper.url} ${TEST_ONLY}`);
    await demonstrate({ url: gatekeeper.url, issuer: summary.release.issuer_did });
    console.log(`\n${green('Done.')} Start a shop that stays with ${bold('npm start')}.\n`);
  } finally {
    await gatekeeper?.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Everything that a buyer does. The issuer was chosen beforehand: the shop is not asked whom to trust. */
async function demonstrate({ url, issuer }: { url: string; issuer: string }): Promise<void> {
  const [record, ...others] = await buyAll(url);
  if (record === undefined) throw new Error('Cannot go on: nothing was bought');
  await fetchAgain(record);
  heading('Verify what was bought, offline, with no call to anybody');
  for (const { body } of [record, ...others]) await judge(body, issuer, 0);
  heading('Lead it back to the payload of the agency');
  for (const { title, isShown, detail } of await leadBack(record.body, issuer)) {
    show(`${isShown ? green('shown') : red('FAILED')}  ${title}`);
    show(dim(`  ${detail}`));
  }
  await proveInLog(url, record.body, issuer);
  heading('Change one digit and verify again');
  const before = /"current":\{"[a-z0-9_]+":-?[0-9.]+/.exec(record.body)?.[0] ?? '';
  const after = before.slice(0, -1) + String((Number(before.at(-1)) + 1) % 10);
  show(`${dim(before)} ${red('→')} ${after}`);
  await judge(record.body.replace(before, after), issuer, 1);
}

interface Bought {
  readonly body: string;
  readonly transaction: string;
  readonly request: Request;
}

async function buyAll(url: string): Promise<Bought[]> {
  const account = privateKeyToAccount(generatePrivateKey());
  const sent: Request[] = [];
  const wire: typeof fetch = (...request) => {
    sent.push(new Request(...request));
    return fetch(...request);
  };
  const payingFetch = wrapFetchWithPaymentFromConfig(wire, {
    schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],
  });
  const bought: Bought[] = [];
  for (const { title, path } of PURCHASES) {
    heading(`Buy ${title}`);
    show(dim(`GET ${path}`));
    const unpaid = await fetch(url + path);
    const { accepts } = (await unpaid.json()) as { accepts: [Record<string, string>] };
    const [{ maxAmountRequired, network, payTo, description }] = accepts;
    const usd = usdAmount(defined(maxAmountRequired, 'the amount'));
    show(`${unpaid.status}  ${usd} USDC on ${network} to ${payTo}`);
    show(dim(`     ${description}`));
    const paid = await payingFetch(url + path);
    const body = await paid.text();
    if (paid.status !== 200) throw new Error(`Cannot buy "${url + path}": ${paid.status} ${body}`);
    const { transaction, payer } = receiptOf(paid);
    show(`${green('200')}  receipt ${transaction.slice(0, 18)}… paid by ${payer}`);
    showInShort(JSON.parse(body));
    bought.push({ body, transaction, request: sent.at(-1) ?? new Request(url + path) });
  }
  return bought;
}

function receiptOf(response: Response): { transaction: string; payer: string } {
  const header = response.headers.get('payment-response') ?? '';
  return JSON.parse(Buffer.from(header, 'base64').toString());
}

/** As after an answer that got lost on its way: the payment is known, so the bytes come again and nothing is charged. */
async function fetchAgain({ body, transaction, request }: Bought): Promise<void> {
  heading('Lose the answer and send the same payment again');
  const response = await fetch(request);
  const same = (await response.text()) === body;
  const again = receiptOf(response).transaction;
  if (!same || again !== transaction) throw new Error('Cannot fetch again: another answer');
  show(
    `${green('200')}  receipt ${again.slice(0, 18)}…, the same one; the same bytes; no second charge`,
  );
}

function showInShort(body: {
  current?: object;
  ruler?: { official_category: string; distance_to_action: number };
  legs?: Record<string, { current: object; band: string }>;
  observed_at?: string;
  provenance: { age_hours_now: number; freshness: string };
  record_hash?: string;
}): void {
  const { current, ruler, legs, observed_at, provenance, record_hash } = body;
  if (current !== undefined) show(`     ${JSON.stringify(current)} observed ${observed_at}`);
  if (ruler !== undefined) {
    show(`     class "${ruler.official_category}", ${ruler.distance_to_action} to action`);
  }
  for (const [name, leg] of Object.entries(legs ?? {})) {
    show(`     ${name.padEnd(17)} ${leg.band ?? '-'}  ${dim(JSON.stringify(leg.current))}`);
  }
  const days = Math.floor(provenance.age_hours_now / 24);
  const age = days < 2 ? `${provenance.age_hours_now} hours` : `${days} days`;
  show(dim(`     ${provenance.freshness}, ${age} old; ${record_hash ?? 'one hash a leg'}`));
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}

/** The record hash was taken in by a release, whose entry is in the log that the issuer signed; another hash was not. */
async function proveInLog(url: string, body: string, issuer: string): Promise<void> {
  heading('Prove that it is in the transparency log');
  const { record_hash } = JSON.parse(body) as { record_hash: string };
  show(dim(`GET /proof/${record_hash}`));
  const answer = (await (await fetch(`${url}/proof/${record_hash}`)).json()) as {
    inclusion: Record<'index' | 'entry_index', number> &
      Record<'batch' | 'root' | 'log_root' | 'checkpoint', string> &
      Record<'inclusion_proof' | 'entry_proof', string[]> & { entry: ReleaseEntry };
  };
  const { batch, index, inclusion_proof, entry, entry_index, entry_proof } = answer.inclusion;
  const hashes = (proof: readonly string[]) => proof.map((text) => Buffer.from(text, 'hex'));
  const { count: size } = entry.new;
  const root = Buffer.from(entry.new.root.slice('sha256:'.length), 'hex');
  const wasTakenIn = (hash: string): boolean => {
    const leaf = takenLeaf(hash, sha256);
    return verifyInclusion({ index, size, leaf, proof: hashes(inclusion_proof), root }, sha256);
  };
  const { checkpoint: signed, fault } = judgeNote(answer.inclusion.checkpoint, [issuer]);
  if (signed === null) throw new Error(`Cannot prove inclusion: ${fault}`);
  const isLogged = verifyInclusion(
    {
      index: entry_index,
      size: signed.size,
      leaf: leafHash(releaseEntryBytes(entry), sha256),
      proof: hashes(entry_proof),
      root: signed.root,
    },
    sha256,
  );
  if (!wasTakenIn(record_hash) || !isLogged) throw new Error('Cannot prove inclusion');
  const { length } = inclusion_proof;
  show(`${green('proven')}    hash ${index} of ${size}: ${length} hashes lead to release ${batch}`);
  show(`${green('signed')}    entry ${entry_index} of the log, by ${issuer.slice(0, 24)}…`);
  const other = record_hash.slice(0, -1) + (record_hash.endsWith('0') ? '1' : '0');
  if (wasTakenIn(other)) throw new Error('Cannot finish the demo: a wrong hash was proven');
  show(`${red('not so')}    a hash with one other digit leads elsewhere`);
}

/** Verdict, how many checks hold, and what failed; `signalpress verify` tells the same in full. */
async function judge(body: string, issuer: string, want: number): Promise<void> {
  const { exitCode, text } = await runVerify('-', {
    issuer: [issuer],
    json: true,
    readStdin: () => Buffer.from(body),
  });
  const { checks } = JSON.parse(text) as {
    checks: Record<'status' | 'where' | 'detail', string>[];
  };
  const failed = checks.filter((check) => check.status === 'fail');
  const held = checks.filter((check) => check.status === 'pass').length;
  const verdict = exitCode === 0 ? green('verified') : red('FAILED');
  show(`${verdict}  ${held} checks hold${failed.length > 0 ? `, ${failed.length} fail:` : ''}`);
  for (const { where, detail } of failed) show(red(`  ${where}: ${detail}`));
  if (exitCode !== want) throw new Error(`Cannot finish the demo: verify ended with ${exitCode}`);
}

/**
 * Leads a bought body back to the genuine feed: as it is, with one byte of the feed changed, and with one rule of its
 * importer changed. Throws where the first fails or one of the others does not.
 */
async function leadBack(body: string, issuer: string) {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-archive-'));
  try {
    const archive = new Archive(folder);
    const options = { source: SOURCE, file: FEED, out: folder };
    const payload = givenPayload(options, importDisk);
    const { source, payload_day, sha256 } = await keepPayload(archive, SOURCE, payload);
    const tried = async (title: string, known: KnownSources = sourceOf) => {
      const { exitCode, text } = await runVerifyEvidence('-', {
        issuer: [issuer],
        archive: folder,
        witnesses: { archive, known },
        json: true,
        readStdin: () => Buffer.from(body),
      });
      const { evidence } = JSON.parse(text) as { evidence: { detail: string }[] };
      const detail = evidence.map((link) => link.detail).join('; ');
      return { title, isShown: exitCode === 0, detail };
    };
    const attempts = [
      await tried('the payload as it was imported'),
      await tried('one rule of the importer changed: every figure one more', oneMore),
    ];
    const path = join(folder, source, payload_day, `${sha256}.gz`);
    const bytes = gunzipSync(readFileSync(path));
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    writeFileSync(path, gzipSync(bytes));
    attempts.push(await tried('one byte of the payload changed'));
    const isAsWanted = attempts.every(({ isShown }, at) => isShown === (at === 0));
    if (isAsWanted) return attempts;
    throw new Error(`Cannot finish the demo: evidence ${JSON.stringify(attempts)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The importer with another rule, which its version does not tell. */
function oneMore(id: string): Source {
  const source = sourceOf(id);
  const more = (reading: Reading): Reading => {
    const current = Object.entries(reading.current).map(
      ([name, value]) => [name, typeof value === 'number' ? value + 1 : value] as const,
    );
    return { ...reading, current: Object.fromEntries(current) };
  };
  return {
    ...source,
    read: (payload) => {
      const imported = source.read(payload);
      const readings = [...imported.readings].map(
        ([signal, list]) => [signal, list.map(more)] as const,
      );
      return { ...imported, readings: new Map(readings) };
    },
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { usdAmount } from '../compiler/contract/price.ts';
import { summaryText } from '../compiler/progress.ts';
import { runVerify } from '../compiler/verify/verify-command.ts';
import { type Gatekeeper, startGatekeeper } from '../gatekeeper/start.ts';
import { demoSettings, freePort, prepareData } from './quick-start-data.ts';

/**
 * The whole product in a few seconds, made to be watched: real input, compile, serve, three
 * purchases by a real x402 client with a throw-away wallet, offline verification, and a forgery.
 */
const PURCHASES = [
  {
    title: 'one record',
    path: '/gauge?signal_id=earthquake.current_activity&entity=california-san-andreas',
  },
  { title: 'one add-on', path: '/gauge/ruler?signal_id=airquality.aqi&entity=us-denver' },
  { title: 'one bundle', path: '/gauge/earthquake-region?entity=california-san-andreas' },
] as const;

const PLAIN = !process.stdout.isTTY;
const style = (code: number) => (text: string) =>
  PLAIN ? text : `\u001b[${code}m${text}\u001b[0m`;
const bold = style(1);
const dim = style(2);
const green = style(32);
const red = style(31);
const cyan = style(36);

let step = 0;
function heading(text: string): void {
  step += 1;
  console.log(`\n${cyan(`${step}.`)} ${bold(text)}`);
}

const show = (text: string): void => console.log(`   ${text}`);
const indent = (text: string): void => text.split('\n').forEach(show);

await main();

async function main(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'signalpress-demo-'));
  let gatekeeper: Gatekeeper | undefined;
  try {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const issuer = await compileAll(root, baseUrl);
    heading('Serve it');
    gatekeeper = await startGatekeeper(demoSettings(root, baseUrl), silentEffects());
    show(`${gatekeeper.url} ${dim('(payments settle in memory: TEST ONLY)')}`);
    const bodies = await buyAll(gatekeeper.url);
    await verifyAll(bodies, issuer);
  } finally {
    await gatekeeper?.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function silentEffects() {
  return { clock: () => Date.now(), log: () => undefined };
}

async function compileAll(root: string, baseUrl: string): Promise<string> {
  heading('Import a genuine USGS earthquake feed');
  const started = performance.now();
  const { imported, summary } = await prepareData({ root, baseUrl, asOf: new Date() });
  indent(imported);
  heading('Compile it with the generated sample of all other lines');
  indent(summaryText(summary, performance.now() - started));
  return summary.release.issuer_did;
}

async function buyAll(url: string): Promise<string[]> {
  const account = privateKeyToAccount(generatePrivateKey());
  const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],
  });
  const bodies: string[] = [];
  for (const { title, path } of PURCHASES) {
    heading(`Buy ${title}`);
    show(dim(`GET ${path}`));
    await showPrice(url + path);
    bodies.push(await buy(payingFetch, url + path));
  }
  return bodies;
}

async function showPrice(url: string): Promise<void> {
  const response = await fetch(url);
  const { accepts } = (await response.json()) as { accepts: [Record<string, string>] };
  const [{ maxAmountRequired, network, payTo, description }] = accepts;
  const usd = usdAmount(maxAmountRequired ?? '');
  show(`${response.status}  ${usd} USDC on ${network} to ${payTo}`);
  show(dim(`     ${description}`));
}

async function buy(payingFetch: typeof fetch, url: string): Promise<string> {
  const response = await payingFetch(url);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`Cannot buy "${url}": ${response.status} ${text}`);
  const receipt = response.headers.get('payment-response') ?? '';
  const { transaction, payer } = JSON.parse(Buffer.from(receipt, 'base64').toString());
  show(`${green('200')}  receipt ${transaction.slice(0, 18)}… paid by ${payer}`);
  showInShort(JSON.parse(text));
  return text;
}

interface Shown {
  readonly current?: object;
  readonly ruler?: { readonly official_category: string; readonly distance_to_action: number };
  readonly legs?: Readonly<Record<string, { readonly current: object; readonly band: string }>>;
  readonly observed_at?: string;
  readonly provenance: { readonly age_hours_now: number; readonly freshness: string };
  readonly record_hash?: string;
}

function showInShort({ current, ruler, legs, observed_at, provenance, record_hash }: Shown): void {
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

async function verifyAll(bodies: readonly string[], issuer: string): Promise<void> {
  heading('Verify what was bought, offline, with no call to anybody');
  for (const body of bodies) await judge(body, issuer, 0);
  heading('Change one digit and verify again');
  const forged = forge(bodies[0] ?? '');
  show(`${dim(forged.before)} ${red('→')} ${forged.after}`);
  await judge(forged.body, issuer, 1);
  console.log(`\n${green('Done.')} Start the service with ${bold('npm start')}.\n`);
}

interface Check {
  readonly check: string;
  readonly where: string;
  readonly status: 'pass' | 'fail' | 'not_applicable';
  readonly detail: string;
}

/** Verdict, how many checks hold, and what failed; `signalpress verify` tells the same in full. */
async function judge(body: string, issuer: string, want: number): Promise<void> {
  const { exitCode, text } = await runVerify('-', {
    issuer: [issuer],
    json: true,
    readStdin: () => Buffer.from(body),
  });
  const { checks } = JSON.parse(text) as { checks: readonly Check[] };
  const failed = checks.filter((check) => check.status === 'fail');
  const held = checks.filter((check) => check.status === 'pass').length;
  const verdict = exitCode === 0 ? green('verified') : red('FAILED');
  show(`${verdict}  ${held} checks hold${failed.length > 0 ? `, ${failed.length} fail:` : ''}`);
  for (const { where, detail } of failed) show(red(`  ${where}: ${detail}`));
  if (exitCode !== want) throw new Error(`Cannot finish the demo: verify ended with ${exitCode}`);
}

/** Changes the last digit of the first number in `current`. */
function forge(body: string): { body: string; before: string; after: string } {
  const before = /"current":\{"[a-z0-9_]+":-?[0-9.]+/.exec(body)?.[0] ?? '';
  const last = Number(before.at(-1));
  const after = before.slice(0, -1) + String((last + 1) % 10);
  return { body: body.replace(before, after), before, after };
}

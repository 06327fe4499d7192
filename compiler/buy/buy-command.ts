import { closeSync, existsSync, fsyncSync, openSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { ClientError, type PendingPayment } from '../client/client-error.ts';
import { MAX_USD, signalpressClient } from '../client/signalpress-client.ts';
import { type CommandSettings, repeated } from '../commands/command-settings.ts';
import { BUILTIN } from '../contract/catalog/builtin.ts';
import { BUNDLE_PATH } from '../contract/catalog/catalog-file.ts';
import type { PaidPath } from '../contract/endpoints.ts';
import { KEYS_BYTES_MAX } from '../contract/key-history.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../contract/strict-json.ts';
import { syncFolder } from '../stages/publish/replace-file.ts';
import { readPlain } from '../verify/plain-file.ts';
import { accountOf, networksNamed, wallet } from './wallet.ts';

interface BuyFlags {
  issuer?: string;
  root?: readonly string[];
  keys?: string;
  proof?: boolean;
  maxUsd: string;
  wallet?: string;
  network?: readonly string[];
  payment?: string;
}

const NOBODY_TRUSTED =
  'Cannot buy from an issuer that nobody named: pass --issuer, or --root and --keys';
const NO_LIST =
  'Cannot buy on the word of root keys alone: they vouch for a list of keys; save /.well-known/keys.json, and pass it with --keys';

export function defineBuy(command: Command, { now, print }: CommandSettings): void {
  command
    .argument('<url>', 'what to buy: an address of the shop with its parameters')
    .option('--issuer <did>', 'the issuer you trust, did:key:z6Mk…')
    .option('--root <did>', 'a root key of it in place of --issuer; name as many as sign', repeated)
    .option('--keys <file>', 'saved /.well-known/keys.json, where the issuer has changed its key')
    .option('--proof', 'refuse an answer without the proof that it is in the log')
    .option('--max-usd <price>', 'the most that it may cost', MAX_USD)
    .option('--wallet <file>', 'key of the account that pays (default: one that owns nothing)')
    .option(
      '--network <name>',
      'pay there alone, such as base or eip155:8453; name several to allow each (default: the first that the shop names)',
      repeated,
    )
    .option(
      '--payment <file>',
      'keep the payment here before it is sent; where the file is there, its payment is sent again',
    )
    .action(async (url: string, flags: BuyFlags) => print(await bought(url, flags, now)));
}

/** The text of an answer that was paid for and verified; throws an Error where nothing was bought. */
async function bought(url: string, flags: BuyFlags, now: () => number): Promise<string> {
  const { issuer, root, maxUsd, proof: demandsProof } = flags;
  if (issuer === undefined && root === undefined) throw new RangeError(NOBODY_TRUSTED);
  if (root !== undefined && flags.keys === undefined) throw new RangeError(NO_LIST);
  const trusted = {
    ...(issuer === undefined ? {} : { issuer }),
    ...(root === undefined ? {} : { root }),
  };
  const { baseUrl, path, params } = partsOf(url);
  const account = accountOf(flags.wallet);
  const networks = networksNamed(flags.network);
  const pay = wallet({ account, now, networks });
  // Who sells by a catalogue that the issuer did not sign is paid nothing.
  const shop = { baseUrl, ...trusted, ...keysOf(flags), demandsProof, catalog: 'served' } as const;
  const { kept, onSigned } = keeping(url, flags.payment);
  const payer = { pay, account, maxUsd, networks };
  const client = signalpressClient({ ...shop, ...payer, clock: now, onSigned });
  try {
    const buying = () => client.buy(path as PaidPath, params);
    return (await (kept === null ? buying() : client.redeliver(kept))).text;
  } catch (error) {
    throw inWordsOfTheCommand(error, flags.payment);
  }
}

/** The payment that a file keeps, if there is one for this address, and what keeps a new one. */
function keeping(url: string, file: string | undefined) {
  if (file === undefined) return { kept: null, onSigned: () => undefined };
  const kept = readPayment(file);
  if (kept !== null) requireSameRequest(kept, url, file);
  return { kept, onSigned: (payment: PendingPayment) => keepPayment(file, payment) };
}

function keysOf({ keys }: BuyFlags): { keys?: JsonValue } {
  if (keys === undefined) return {};
  return { keys: parseJson(decodeUtf8(readPlain(keys, KEYS_BYTES_MAX))) };
}

/** The client names its own options and members, which a shell does not have. */
function inWordsOfTheCommand(error: unknown, file: string | undefined): unknown {
  if (!(error instanceof ClientError)) return error;
  const { code, message, facts, cause } = error;
  if (code === 'too_expensive') {
    const [text = message] = message.split(' (');
    return new Error(text.replaceAll('maxUsd', '--max-usd'), { cause });
  }
  // What the wallet or the disk said.
  if (code === 'refused' && cause instanceof Error) return cause;
  const { payment } = facts;
  if (payment === undefined) return error;
  if (file !== undefined) return new Error(withFile(error, file), { cause });
  const isPaid = code === 'unsettled' || code === 'unverified';
  return isPaid ? new Error(withPayment(message, payment), { cause }) : error;
}

function withFile({ message, code, facts }: ClientError, file: string): string {
  const asksWho = code === 'unsettled' && facts.status === 402;
  const again = asksWho ? 'run this again with the --wallet that paid' : 'run this again';
  return `${withoutAdvice(message)}. "${file}" keeps the payment: ${again} to send the same one; to sign a new one, name another file`;
}

/** Money may have moved: without the payment nobody could ask for the answer again. */
function withPayment(message: string, { url, header, value }: PendingPayment): string {
  return `${withoutAdvice(message)}. The same payment brings the same answer, at no further charge:\n  curl -sS -H '${header}: ${value}' '${url}'`;
}

function withoutAdvice(message: string): string {
  return message.replace(/; (redeliver|keep) this error's .*$/s, '').replace(/\.$/, '');
}

/** Address of the shop, operation and parameters of what is to be bought. */
function partsOf(text: string) {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw new RangeError(
      `Cannot buy "${text}": not an address such as http://127.0.0.1:4021/gauge?signal_id=…&entity=…`,
    );
  }
  // The operation that a path ends with; what is before it belongs to the address of the shop.
  const ends = [...url.pathname.matchAll(/\//g)].map(({ index }) => url.pathname.slice(index));
  const path = ends.find((end) => BUILTIN.operationByPath.has(end) || BUNDLE_PATH.test(end));
  if (path === undefined) {
    throw new RangeError(
      `Cannot buy "${text}": its path does not end with an operation such as /gauge; "request" of a search result is one`,
    );
  }
  return {
    baseUrl: url.origin + url.pathname.slice(0, -path.length),
    path,
    params: Object.fromEntries(url.searchParams),
  };
}

const PAYMENT_BYTES_MAX = 65_536;

const kept = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  header: z.enum(['x-payment', 'payment-signature']),
  value: z.string().regex(/^[A-Za-z0-9+/]+=*$/),
  identifier: z
    .string()
    .regex(/^[A-Za-z0-9_-]{16,128}$/)
    .exactOptional(),
});

/** The payment that a file keeps; null where there is no file yet. Throws for a file that holds none. */
function readPayment(file: string): PendingPayment | null {
  if (!existsSync(file)) return null;
  try {
    return kept.parse(parseJson(readPlain(file, PAYMENT_BYTES_MAX).toString()));
  } catch (cause) {
    throw new RangeError(
      `Cannot read "${file}" of --payment: it holds no payment, so none of it was sent; name another file`,
      { cause },
    );
  }
}

/** Keeps a payment before it is sent, so that a power cut cannot lose it. No other payment is ever overwritten. */
function keepPayment(file: string, payment: PendingPayment): void {
  const handle = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(handle, `${JSON.stringify(payment, null, 2)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  syncFolder(dirname(file));
}

/** Throws where a kept payment is for something else than the address that is to be bought. */
function requireSameRequest(payment: PendingPayment, url: string, file: string): void {
  if (spelled(payment.url) === spelled(url)) return;
  throw new RangeError(
    `Cannot send the payment of "${file}" for "${url}": it is for "${payment.url}"; name another file`,
  );
}

/** One spelling of an address, whatever the order of its parameters. */
function spelled(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  searchParams.sort();
  return `${origin}${pathname}?${searchParams}`;
}

import { closeSync, existsSync, fsyncSync, openSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import { BUILTIN } from '../catalog/builtin.ts';
import { BUNDLE_PATH } from '../catalog/catalog-file.ts';
import { ClientError, type PendingPayment } from '../client/client-error.ts';
import { MAX_USD, signalpressClient } from '../client/signalpress-client.ts';
import { parseJson } from '../format/strict-json.ts';
import type { PaidPath } from '../products/products.ts';
import { USDC } from '../products/shapes/price.ts';
import { type CommandSettings, repeated } from '../system/command-settings.ts';
import { readPlain, syncFolder } from '../system/plain-file.ts';
import { formatTrust } from '../verify/trust-file.ts';
import { TRUST, trustNamed } from '../verify/trust-option.ts';

interface BuyFlags {
  issuer?: string;
  trust?: string;
  maxUsd: string;
  wallet?: string;
  network?: readonly string[];
  payment?: string;
}

const NOBODY_TRUSTED =
  'Cannot buy from an issuer that nobody named: pass --issuer, or run "signalpress trust init" once';

export function defineBuy(command: Command, { now, print }: CommandSettings): void {
  command
    .argument('<url>', 'what to buy: an address of the shop with its parameters')
    .option('--issuer <did>', 'the issuer you trust, did:key:z6Mk…')
    .option(...TRUST)
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
  const { maxUsd } = flags;
  const trusted = trustedIn(flags);
  const { baseUrl, path, params } = partsOf(url);
  const account = accountOf(flags.wallet);
  const networks = networksNamed(flags.network);
  // Who sells by a catalogue that the issuer did not sign is paid nothing.
  const shop = { baseUrl, ...trusted, catalog: 'served' } as const;
  const { kept, onSigned } = keeping(url, flags.payment);
  const payer = { account, maxUsd, networks };
  const client = signalpressClient({ ...shop, ...payer, clock: now, onSigned });
  try {
    const buying = () => client.buy(path as PaidPath, params);
    return (await (kept === null ? buying() : client.redeliver(kept))).text;
  } catch (error) {
    throw inWordsOfTheCommand(error, flags.payment);
  }
}

/** Whom the options of a buyer trust; throws where they name nobody. */
export function trustedIn({ issuer, trust }: Pick<BuyFlags, 'issuer' | 'trust'>) {
  const { file } = trustNamed({ issuer: issuer === undefined ? undefined : [issuer], trust });
  if (file !== undefined) return { trust: formatTrust(file) };
  if (issuer === undefined) throw new RangeError(NOBODY_TRUSTED);
  return { issuer };
}

/** The payment that a file keeps, if there is one for this address, and what keeps a new one. */
function keeping(url: string, file: string | undefined) {
  if (file === undefined) return { kept: null, onSigned: () => undefined };
  const kept = readPayment(file);
  if (kept !== null && spelled(kept.url) !== spelled(url)) {
    throw new RangeError(
      `Cannot send the payment of "${file}" for "${url}": it is for "${kept.url}"; name another file`,
    );
  }
  return {
    kept,
    onSigned: (payment: PendingPayment) => {
      // Keeps a payment before it is sent, so that a power cut cannot lose it. No other payment is ever overwritten.
      const handle = openSync(file, 'wx', 0o600);
      try {
        writeFileSync(handle, `${JSON.stringify(payment, null, 2)}\n`);
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
      syncFolder(dirname(file));
    },
  };
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
  sentAt: z.iso.datetime().exactOptional(),
  release: z.strictObject({ sequence: z.int().min(1), as_of: z.iso.datetime() }).exactOptional(),
});

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

/** One spelling of an address, whatever the order of its parameters. */
function spelled(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  searchParams.sort();
  return `${origin}${pathname}?${searchParams}`;
}

const KEY_BYTES_MAX = 4096;

type BuyerAccount = ReturnType<typeof privateKeyToAccount>;

/** The account of a key file of 64 hex digits; one that nobody else has, and that owns nothing, without a file. */
export function accountOf(file: string | undefined): BuyerAccount {
  if (file === undefined) return privateKeyToAccount(generatePrivateKey());
  return accountOfKey(readPlain(file, KEY_BYTES_MAX).toString(), file);
}

/** The account of a key of 64 hex digits, which stands at `place`. */
export function accountOfKey(text: string, place: string): BuyerAccount {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})\s*$/i.exec(text) ?? [];
  if (digits !== undefined) return privateKeyToAccount(`0x${digits}`);
  // The text itself may be most of a key, so it is not repeated.
  throw new RangeError(`Cannot pay from "${place}": not a key of 64 hex digits; name another file`);
}

/** CAIP-2 names of the networks that a buyer named in either form, of all without a name; throws a RangeError for an unknown one. */
export function networksNamed(names: readonly string[] | undefined): string[] {
  if (names === undefined) return Object.values(USDC).map(({ caip2 }) => caip2);
  return names.map((name) => {
    const known = Object.entries(USDC).find(([own, { caip2 }]) => [own, caip2].includes(name));
    if (known !== undefined) return known[1].caip2;
    throw new RangeError(
      `Cannot pay on "${name}": not one of ${Object.keys(USDC).join(', ')}; name one of them`,
    );
  });
}

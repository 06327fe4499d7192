import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import secp256k1 from 'secp256k1';
import { checksumAddress, keccak256 } from '../../../gatekeeper/settle/address.ts';
import { findNetwork } from '../../../gatekeeper/settle/networks.ts';
import type { Authorization, RequirementsV1 } from '../../../gatekeeper/settle/payment.ts';
import { transferDigest } from '../../../gatekeeper/settle/signature.ts';

/** Long enough to sign thousands of payments before the first one is sent. */
const VALID_S = 3600;
/** Clients sign from a while ago, so that a late chain clock does not refuse them. */
const BACK_S = 600;

/** A throw-away wallet: its key is random, holds nothing and is never stored. */
interface Payer {
  /** The value of `X-PAYMENT` that meets one `accepts[]` entry; every call has its own nonce. */
  signPayment(terms: Pick<RequirementsV1, 'network' | 'payTo' | 'maxAmountRequired'>): string;
}

/** Signs with the native library: a bench needs thousands, and viem takes a millisecond for each. */
export function throwAwayPayer(nowMs: number): Payer {
  const key = randomBytes(32);
  const address = addressOf(key);
  return {
    signPayment(terms) {
      const { network, payTo: to, maxAmountRequired: value } = terms;
      const now = Math.floor(nowMs / 1000);
      const authorization: Authorization = {
        from: address,
        to,
        value,
        validAfter: String(now - BACK_S),
        validBefore: String(now + VALID_S),
        nonce: `0x${randomBytes(32).toString('hex')}`,
      };
      const payload = { signature: signed(key, network, authorization), authorization };
      const payment = { x402Version: 1, scheme: 'exact', network, payload };
      return Buffer.from(JSON.stringify(payment), 'utf8').toString('base64');
    },
  };
}

function addressOf(key: Uint8Array): string {
  const hash = keccak256(secp256k1.publicKeyCreate(key, false).subarray(1));
  return checksumAddress(`0x${Buffer.from(hash.subarray(12)).toString('hex')}`);
}

function signed(key: Uint8Array, name: string, authorization: Authorization): string {
  const network = findNetwork(name);
  if (network === undefined) {
    throw new RangeError(`Cannot pay on "${name}": not a network of this product`);
  }
  const { signature, recid } = secp256k1.ecdsaSign(transferDigest(network, authorization), key);
  return `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`;
}

/** Whom both sellers are paid to. Any address will do: nothing is ever settled. */
export const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';

/** What is bought in every run. */
const PRODUCT = '/gauge?entity=us-denver&signal_id=airquality.aqi';
/** Headers that node:http writes by itself. */
const OWN_HEADERS = ['date', 'connection', 'keep-alive'];

/** An answer as it was taken off the wire of the gatekeeper. */
export interface RecordedAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** The bytes of one GET. */
export function requestBytes(target: string, payment?: string): Buffer {
  const pays = payment === undefined ? '' : `X-PAYMENT: ${payment}\r\n`;
  return Buffer.from(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${pays}\r\n`);
}

/** Asks the gatekeeper once; throws where another status comes than the one wanted. */
export async function capture(
  port: number,
  path: string,
  wanted: number,
  payment?: string,
): Promise<RecordedAnswer> {
  const headers = payment === undefined ? {} : { 'x-payment': payment };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port, path, headers, agent: false }, resolve).once('error', reject).end();
  });
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  const { statusCode: status = 0, rawHeaders: raw } = answer;
  if (status !== wanted) throw new Error(`Cannot bench "${path}": status ${status}: ${body}`);
  const kept = raw.filter((_, at) => {
    return !OWN_HEADERS.includes(String(raw[at - (at % 2)]).toLowerCase());
  });
  return { status, headers: kept, body };
}

/** Signs what the price question of a target asks for, with a nonce of its own each time. */
export async function payFor(port: number, target: string): Promise<() => string> {
  const { body } = await capture(port, target, 402);
  const { accepts } = JSON.parse(body) as { accepts: readonly [RequirementsV1] };
  const payer = throwAwayPayer(Date.now());
  return () => payer.signPayment(accepts[0]);
}

/** Makes payments for the product as requests on the wire. */
export type Signer = (count: number) => Buffer[];

/**
 * Asks a gatekeeper what the product costs, and pays that: once here and at each other seller, since a buyer who has never paid
 * waits for one payment before the next.
 */
export async function signerFor(port: number, ...others: readonly number[]): Promise<Signer> {
  const pay = await payFor(port, PRODUCT);
  for (const each of [port, ...others]) await capture(each, PRODUCT, 200, pay());
  return (count) => Array.from({ length: count }, () => requestBytes(PRODUCT, pay()));
}

/** One purchase, so that other servers can sell the same bytes. */
export async function boughtBody(port: number): Promise<string> {
  const pay = await payFor(port, PRODUCT);
  return (await capture(port, PRODUCT, 200, pay())).body;
}

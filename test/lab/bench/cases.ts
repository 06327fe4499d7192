import { type IncomingMessage, request } from 'node:http';
import type { Payer } from './payer.ts';
import type { RecordedAnswer } from './server.ts';

const SIGNAL = 'airquality.aqi';
const ENTITY = 'us-denver';
const PRODUCT = `/gauge?signal_id=${SIGNAL}&entity=${ENTITY}`;
/** Headers that node:http writes by itself. */
const OWN_HEADERS = ['date', 'connection', 'keep-alive'];

export type ServerName = 'gatekeeper' | 'bare' | 'x402-express';

/** One question that servers are asked under load, without a payment. */
export interface Case {
  readonly name: string;
  readonly target: string;
  readonly status: 200 | 402;
  readonly servers: readonly ServerName[];
}

/** What the gatekeeper should reach, as a share of node:http that sends the same. */
export const LEAST_OF_BARE = 0.85;

export const CASES: readonly Case[] = [
  {
    name: 'free file',
    target: `/gauge/sample?signal_id=${SIGNAL}`,
    status: 200,
    servers: ['gatekeeper', 'bare'],
  },
  {
    name: '402, price question',
    target: '/gauge',
    status: 402,
    servers: ['gatekeeper', 'bare', 'x402-express'],
  },
  {
    name: '402, with query',
    target: PRODUCT,
    status: 402,
    servers: ['gatekeeper', 'bare', 'x402-express'],
  },
];

/** The bytes of one GET. */
export function requestBytes(target: string, payment?: string): Buffer {
  const pays = payment === undefined ? '' : `X-PAYMENT: ${payment}\r\n`;
  return Buffer.from(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${pays}\r\n`);
}

/** As many payments for the product as asked for, each with a nonce of its own. */
export function signedRequests(payer: Payer, challenge: RecordedAnswer, count: number): Buffer[] {
  const { accepts } = JSON.parse(challenge.body) as {
    accepts: [Parameters<Payer['signPayment']>[0]];
  };
  return Array.from({ length: count }, () => requestBytes(PRODUCT, payer.signPayment(accepts[0])));
}

/** Asks the gatekeeper once, so that the bare server can send the same bytes. */
export async function capture(
  port: number,
  target: string,
  payment?: string,
): Promise<RecordedAnswer> {
  const headers = payment === undefined ? {} : { 'x-payment': payment };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port, path: target, headers, agent: false }, resolve).once('error', reject).end();
  });
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  return { status: answer.statusCode ?? 0, headers: keptHeaders(answer.rawHeaders), body };
}

function keptHeaders(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (!OWN_HEADERS.includes(name.toLowerCase())) kept.push(name, raw[at + 1] ?? '');
  }
  return kept;
}

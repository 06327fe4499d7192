import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Network } from '../../gatekeeper/settle/networks.ts';
import { encoded, type SignedPayment } from './payer.ts';

/** Where a reader of the chain sits: on this machine, and at another address than the buyers. */
export const READER_ADDRESS = '127.0.0.2';

/** An answer without what differs for every request: its date and its name. */
export interface Heard {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** The headers that anybody can make of a settlement: every member of a payment stands in its calldata. */
export function rebuiltHeaders(
  { authorization, signature }: SignedPayment,
  { name, caip2, asset, extra }: Network,
): readonly (readonly [name: string, value: string])[] {
  const payload = { signature, authorization };
  const { to: payTo, value: amount } = authorization;
  const accepted = {
    scheme: 'exact',
    network: caip2,
    amount,
    asset,
    payTo,
    maxTimeoutSeconds: 300,
    extra,
  };
  return [
    ['x-payment', encoded({ x402Version: 1, scheme: 'exact', network: name, payload })],
    ['payment-signature', encoded({ x402Version: 2, accepted, payload })],
  ];
}

/** How a request is sent. */
interface Way {
  readonly headers: object;
  readonly localAddress?: string;
  /** Certificate of an https address. */
  readonly ca?: string | undefined;
}

/** Asks from an address of this machine; a target with a body behind it is asked by POST. */
export function askFrom(
  base: string,
  target: string,
  { headers, localAddress = READER_ADDRESS, ca }: Way,
): Promise<Heard> {
  const end = target.indexOf(' ');
  const path = end === -1 ? target : target.slice(0, end);
  const body = end === -1 ? undefined : target.slice(end + 1);
  const { hostname, port, protocol } = new URL(base);
  const method = body === undefined ? 'GET' : 'POST';
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const sent = { ...headers, ...length };
  const ask = protocol === 'https:' ? requestTls : request;
  return new Promise((resolve, reject) => {
    const asked = ask(
      { hostname, port, path, method, headers: sent, localAddress, agent: false, ca },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0, rawHeaders } = response;
          const lines = rawHeaders.flatMap((one, at) =>
            at % 2 === 0 && !/^(date|x-request-id)$/i.test(one)
              ? [`${one}: ${rawHeaders[at + 1]}`]
              : [],
          );
          resolve({ status, headers: lines, body: Buffer.concat(chunks).toString('utf8') });
        });
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

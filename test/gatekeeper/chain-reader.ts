import { createServer, request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { PaymentEvidence } from '../../gatekeeper/heart/payment/settlement.ts';
import type { ChainHead, ChainVerdict } from '../../gatekeeper/settle/evidence.ts';
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

/** The newest block when something is claimed. */
export const CLAIMED: ChainHead = '100:0xaa';

/** A transfer, in a block after it where none is given. */
export const paidIn = (transaction: string, block = 101n) =>
  ({ state: 'paid', transaction, block }) satisfies ChainVerdict;

/** A node that answers, and says this of payments. */
export const saying = (find: PaymentEvidence['find']): PaymentEvidence => ({
  find,
  head: async () => CLAIMED,
  watch: async () => ({ state: 'open' }),
});

/** Answers one JSON-RPC call; `hang` never answers, a throw becomes a JSON-RPC error. */
export type RpcAnswer = (method: string, params: readonly unknown[]) => unknown;

export interface RpcStub {
  readonly url: string;
  readonly asked: string[];
  /** HTTP requests; a batch is one. */
  requests: number;
  /** Whether several calls in one request are answered. */
  takesBatches: boolean;
  /** May be replaced while it runs. */
  answer: RpcAnswer;
  /** When set, sent instead of any answer. */
  raw: { status: number; body: string; headers?: Record<string, string> } | null;
  close(): Promise<void>;
}

export const HANG = Symbol('hang');
const callSchema = z.object({
  id: z.union([z.number(), z.string()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});

const callsSchema = z.union([callSchema, z.array(callSchema)]);

/** A node that says what a test wants it to say. */
export async function rpcStub(answer: RpcAnswer): Promise<RpcStub> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const sent = callsSchema.parse(JSON.parse(body));
      stub.requests += 1;
      stub.asked.push(...[sent].flat().map(({ method }) => method));
      if (stub.raw !== null) {
        response.writeHead(stub.raw.status, stub.raw.headers).end(stub.raw.body);
        return;
      }
      const text = Array.isArray(sent) && !stub.takesBatches ? NO_BATCHES : textOf(stub, sent);
      if (text !== null) response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stub: RpcStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    requests: 0,
    takesBatches: true,
    answer,
    raw: null,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return stub;
}

const NO_BATCHES = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}';

/** Null when one of the calls is never answered. */
function textOf({ answer }: RpcStub, sent: z.infer<typeof callsSchema>): string | null {
  const replies = [sent].flat().map(({ id, method, params }) => {
    const reply = replyOf(answer, method, params);
    return reply === null ? null : { jsonrpc: '2.0', id, ...reply };
  });
  if (replies.includes(null)) return null;
  return JSON.stringify(Array.isArray(sent) ? replies : replies[0]);
}

function replyOf(answer: RpcAnswer, method: string, params: readonly unknown[]): object | null {
  try {
    const result = answer(method, params);
    return result === HANG ? null : { result };
  } catch (error) {
    return { error: { code: -32000, message: error instanceof Error ? error.message : '' } };
  }
}

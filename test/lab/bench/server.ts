import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import secp256k1 from 'secp256k1';
import { Pool } from 'undici';
import { PAYEE, type RecordedAnswer } from './buyers.ts';

/** What one child process serves. Ports come back in the same order. */
export type Role =
  | ({ readonly kind: 'floor' } & FloorOptions)
  | { readonly kind: 'bare'; readonly answers: readonly RecordedAnswer[] }
  | {
      readonly kind: 'peer';
      readonly manifest: string;
      readonly facilitator: string;
      readonly body: string;
    }
  | { readonly kind: 'facilitator'; readonly delayMs?: number };

/** As the gatekeeper has it. */
const REQUESTS_PER_SOCKET_MAX = 10_000;
/** Stands for a transaction hash, another one in each answer. */
const TRANSACTION = '../../transaction@@';
let settlements = 0;
const FACILITATOR_ANSWERS: Readonly<Record<string, string>> = {
  '/verify': '{"isValid":true}',
  '/settle': `{"success":true,"transaction":"${TRANSACTION}","network":"base-sepolia"}`,
  '/supported': '{"kinds":[{"x402Version":1,"scheme":"exact","network":"base-sepolia"}]}',
};

async function serve(role: Role): Promise<readonly number[]> {
  switch (role.kind) {
    case 'bare':
      return Promise.all(role.answers.map((answer) => listen(bare(answer))));
    case 'peer':
      return [await listen(await peer(role))];
    case 'floor':
      return [await listen(floor(role))];
    case 'facilitator':
      return [await listen(facilitator(role.delayMs ?? 0))];
  }
}

function listen(handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  // Node tells it to clients in a header, so every server sends the same.
  server.maxRequestsPerSocket = REQUESTS_PER_SOCKET_MAX;
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** node:http with one ready answer and no look at the request: what serving cannot beat. */
function bare({ status, headers, body }: RecordedAnswer): RequestListener {
  const bytes = Buffer.from(body, 'utf8');
  const flat = [...headers];
  return (_, response) => {
    response.writeHead(status, flat);
    response.end(bytes);
  };
}

/** Says yes to everything, at once or after a while. */
function facilitator(delayMs: number): RequestListener {
  return (request, response) => {
    const answer = (): void => {
      response.writeHead(200, { 'content-type': 'application/json' });
      settlements += 1;
      const transaction = `0x${settlements.toString(16).padStart(64, '0')}`;
      const text = FACILITATOR_ANSWERS[request.url ?? ''] ?? '';
      response.end(text.replace(TRANSACTION, transaction));
    };
    request.resume();
    request.once('end', () => (delayMs === 0 ? answer() : setTimeout(answer, delayMs)));
  };
}

interface PeerReply {
  type(name: string): PeerReply;
  send(body: string): void;
}
type PeerHandler = (request: unknown, reply: PeerReply) => void;
type PeerApp = RequestListener & {
  use(middleware: unknown): void;
  get(path: string, handler: PeerHandler): void;
};
interface PeerModule {
  paymentMiddleware(payTo: string, routes: object, facilitator: { url: string }): unknown;
}

/** x402-express as its guide shows it, selling the same body at the same price. */
async function peer(role: Extract<Role, { kind: 'peer' }>): Promise<RequestListener> {
  const require = createRequire(role.manifest);
  const express = require('express') as () => PeerApp;
  const entry = pathToFileURL(require.resolve('x402-express')).href;
  const { paymentMiddleware } = (await import(entry)) as PeerModule;
  const app = express();
  const routes = { 'GET /gauge': { price: '$0.01', network: 'base-sepolia' } };
  app.use(paymentMiddleware(PAYEE, routes, { url: role.facilitator }));
  app.get('/gauge', (_, reply) => reply.type('json').send(role.body));
  return app;
}

/** Like what a payment needs to be described. */
const CALL_BYTES = 1200;
const CALL_HEADERS = ['content-type', 'application/json', 'accept', 'application/json'];
/** Like the receipt of a payment. */
const RECEIPT = 'x'.repeat(200);

interface FloorOptions {
  readonly facilitator: string;
  /** Paths that are asked in turn for each payment. */
  readonly calls: readonly string[];
  readonly body: string;
}

/**
 * What no seller on node:http and undici can beat on one core: the payment is parsed, one signature recovered,
 * the facilitator asked. Nothing is checked and nothing is written down.
 */
function floor({ facilitator, calls, body }: FloorOptions): RequestListener {
  const ask = caller(facilitator);
  const bytes = Buffer.from(body, 'utf8');
  const headers = ['content-type', 'application/json', 'x-payment-response', RECEIPT];
  headers.push('content-length', String(bytes.length));
  const recover = recoverer();
  return async (request, response) => {
    JSON.parse(Buffer.from(String(request.headers['x-payment']), 'base64').toString('utf8'));
    recover();
    for (const path of calls) await ask(path);
    response.writeHead(200, headers);
    response.end(bytes);
  };
}

/** Recovers the same signature again and again: each time costs the same. */
function recoverer(): () => void {
  const digest = randomBytes(32);
  const { signature, recid } = secp256k1.ecdsaSign(digest, randomBytes(32));
  return () => {
    secp256k1.ecdsaRecover(signature, recid, digest, false);
  };
}

/** Through the dispatch interface of undici, which costs half of what its `request` does. */
function caller(facilitator: string): (path: string) => Promise<unknown> {
  const pool = new Pool(facilitator, { connections: 1024, pipelining: 1 });
  const body = Buffer.alloc(CALL_BYTES, 'x');
  return (path) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const headers = [...CALL_HEADERS];
      pool.dispatch(
        { method: 'POST', path, headers, body },
        {
          // Without this undici takes the handler for one of its older interface.
          onRequestStart: () => {},
          onResponseData: (_, chunk) => chunks.push(chunk),
          onResponseEnd: () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8'))),
          onResponseError: (_, error) => reject(error),
        },
      );
    });
}

// Whoever started this process waits for the ports.
process.send?.(await serve(JSON.parse(process.argv[2] ?? '') as Role));
// The parent is gone or done; leaving this way writes a CPU profile where one was asked for.
process.on('disconnect', () => process.exit());

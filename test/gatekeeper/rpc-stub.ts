import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

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

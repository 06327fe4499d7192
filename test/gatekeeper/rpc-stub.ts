import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** Answers one JSON-RPC call; `hang` never answers, a throw becomes a JSON-RPC error. */
export type RpcAnswer = (method: string, params: readonly unknown[]) => unknown;

export interface RpcStub {
  readonly url: string;
  readonly asked: string[];
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

/** A node that says what a test wants it to say. */
export async function rpcStub(answer: RpcAnswer): Promise<RpcStub> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const { id, method, params } = callSchema.parse(JSON.parse(text));
      stub.asked.push(method);
      if (stub.raw !== null) {
        response.writeHead(stub.raw.status, stub.raw.headers).end(stub.raw.body);
        return;
      }
      const reply = replyOf(stub.answer, method, params);
      if (reply !== null) response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stub: RpcStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    answer,
    raw: null,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return stub;
}

function replyOf(answer: RpcAnswer, method: string, params: readonly unknown[]): object | null {
  try {
    const result = answer(method, params);
    return result === HANG ? null : { result };
  } catch (error) {
    return { error: { code: -32000, message: error instanceof Error ? error.message : '' } };
  }
}

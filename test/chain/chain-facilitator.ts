import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator';
import { privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import type { Network } from '../../gatekeeper/settle/networks.ts';
import type { Chain } from './chain.ts';

/** What goes wrong with one call; null when nothing does. */
export type Fault =
  | null
  /** 503 at once, nothing done. */
  | 'down'
  /** The connection ends at once, nothing done. */
  | 'reset'
  /** Right, but only after SLOW_MS. */
  | 'slow'
  /** Done, but answered with 500. */
  | 'done-then-500'
  /** Done, but the connection ends. */
  | 'done-then-reset'
  /** Done, but never answered. */
  | 'done-then-silent'
  /** Says that it settled, and does nothing. */
  | 'lie-success'
  /** Settles, and names another transaction. */
  | 'lie-transaction'
  /** Settles, and names another payer. */
  | 'lie-payer'
  /** Refuses what it could settle. */
  | 'lie-refusal'
  /** Knows no accounts with code, and says of them what hosted ones say. */
  | 'keys-only';

export const SLOW_MS = 300;
/** When a call came, and when everything that it did was done: by `performance.now()`. */
export interface SettleCall {
  readonly askedMs: number;
  doneMs: number | null;
}
type CallName = 'verify' | 'settle' | 'supported';

/** A facilitator over HTTP on the published facilitator packages, which settles on our own chain. */
export interface ChainFacilitator {
  readonly url: string;
  readonly calls: Record<CallName, number>;
  /** Calls of both kinds by nonce. */
  readonly asked: ReadonlyMap<string, number>;
  /** Calls of `/settle` by nonce, in the order in which they came. */
  readonly settlements: ReadonlyMap<string, readonly SettleCall[]>;
  /** Decides what goes wrong with each call; the nonce is empty for `supported`. */
  fault: (name: CallName, nonce: string) => Fault;
  close(): Promise<void>;
}

const callSchema = z.object({
  paymentPayload: z.custom<PaymentPayload>(),
  paymentRequirements: z.custom<PaymentRequirements>(),
});
type Call = z.infer<typeof callSchema>;

/** With factories of wallets, it deploys those that come with a call to one of them (ERC-6492). */
export async function chainFacilitator(
  chain: Chain,
  factories: readonly string[] = [],
): Promise<ChainFacilitator> {
  const published = await publishedFacilitator(chain, factories);
  const settlements = new Map<string, SettleCall[]>();
  const asked = new Map<string, number>();
  const { network } = chain;
  const server = createServer(async (request, response) => {
    const call: SettleCall = { askedMs: performance.now(), doneMs: null };
    const name = (request.url ?? '').slice(1) as CallName;
    one.calls[name] += 1;
    const text = await textOf(request);
    const nonce = nonceOf(text);
    if (nonce !== '') asked.set(nonce, (asked.get(nonce) ?? 0) + 1);
    if (name === 'settle') settlements.set(nonce, [...(settlements.get(nonce) ?? []), call]);
    const given = { name, text, fault: one.fault(name, nonce), published, network };
    await answer(given, response).finally(() => {
      call.doneMs = performance.now();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const one: ChainFacilitator = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: { verify: 0, settle: 0, supported: 0 },
    asked,
    settlements,
    fault: () => null,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return one;
}

async function publishedFacilitator(
  { client, relayer, network }: Chain,
  factories: readonly string[],
): Promise<x402Facilitator> {
  const { key } = await relayer();
  const account = privateKeyToAccount(key);
  // One after another, each with the account nonce that the node names. A count of our own would be wrong for ever after a
  // transaction that the node lost, and nothing would settle again.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(submit: () => Promise<T>): Promise<T> => {
    const sent = last.then(submit);
    last = sent.catch(() => {});
    return sent;
  };
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: (args) => client.readContract({ ...args, args: args.args ?? [] }),
    verifyTypedData: (args) => client.verifyTypedData(args as never),
    writeContract: (args) => inTurn(() => client.writeContract({ ...args, account } as never)),
    sendTransaction: (args) => inTurn(() => client.sendTransaction({ ...args, account })),
    waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
    getCode: (args) => client.getCode(args),
  });
  const networks = network.caip2 as `${string}:${string}`;
  const eip6492AllowedFactories = [...factories];
  const config = { signer, networks, eip6492AllowedFactories };
  return registerExactEvmScheme(new x402Facilitator(), config);
}

function nonceOf(text: string): string {
  return /"nonce":"(0x[0-9a-f]{64})"/.exec(text)?.[1] ?? '';
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

interface Asked {
  readonly name: CallName;
  readonly text: string;
  readonly fault: Fault;
  readonly published: x402Facilitator;
  readonly network: Network;
}

async function answer(asked: Asked, response: ServerResponse): Promise<void> {
  const { name, fault } = asked;
  if (fault === 'reset') return void response.destroy();
  if (fault === 'down') return void response.writeHead(503).end();
  if (fault === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  const result = await resultOf(asked);
  if (fault === 'done-then-silent') return;
  if (fault === 'done-then-reset') return void response.destroy();
  if (fault === 'done-then-500') return void response.writeHead(500).end('broken');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(name === 'settle' ? told(result, fault) : result));
}

async function resultOf({ name, text, fault, published, network }: Asked): Promise<object> {
  if (name === 'supported') return supportedOn(network, published);
  const call = callSchema.parse(JSON.parse(text));
  if (fault === 'keys-only') {
    const reason = 'invalid_payload';
    return { isValid: false, success: false, invalidReason: reason, errorReason: reason };
  }
  if (name === 'verify') return verdict(() => published.verify(...partsOf(call)), 'isValid');
  const { paymentRequirements } = call;
  if (fault === 'lie-refusal') return { success: false, errorReason: 'insufficient_funds' };
  if (fault === 'lie-success') {
    const { network } = paymentRequirements;
    return { success: true, transaction: LIE, network, payer: payerOf(call) };
  }
  return verdict(() => published.settle(...partsOf(call)), 'success');
}

/** The published classes list every network in version 1, whatever chain they stand on. */
function supportedOn({ name, caip2 }: Network, published: x402Facilitator): object {
  const all = published.getSupported();
  return { ...all, kinds: all.kinds.filter((kind) => [name, caip2].includes(kind.network)) };
}

/** The published classes throw for what their own server would answer with a false verdict. */
async function verdict(ask: () => Promise<object>, word: 'isValid' | 'success'): Promise<object> {
  try {
    return await ask();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { [word]: false, [word === 'success' ? 'errorReason' : 'invalidReason']: reason };
  }
}

function partsOf({ paymentPayload, paymentRequirements }: Call) {
  return [paymentPayload, paymentRequirements] as const;
}

function payerOf({ paymentPayload }: Call): string {
  const { authorization } = z
    .object({ authorization: z.object({ from: z.string() }) })
    .parse(paymentPayload.payload);
  return authorization.from;
}

const LIE = `0x${'11'.repeat(32)}`;
function told(result: object, fault: Fault): object {
  if (fault === 'lie-transaction') return { ...result, transaction: LIE };
  if (fault === 'lie-payer') return { ...result, payer: `0x${'22'.repeat(20)}` };
  return result;
}

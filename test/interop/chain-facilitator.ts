import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWalletClient, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { settle, verify } from 'x402/facilitator';
import { SettleRequestSchema, SupportedPaymentKindsResponseSchema } from 'x402/types';
import type { Chain } from '../chain/chain.ts';

/** A facilitator over HTTP on the functions of x402 1.2, which settles on our own chain. */
export interface ChainFacilitator {
  readonly url: string;
  close(): Promise<void>;
}

export async function chainFacilitator(chain: Chain): Promise<ChainFacilitator> {
  const { key } = await chain.relayer();
  const signer = createWalletClient({
    chain: baseSepolia,
    transport: http(chain.url),
    account: privateKeyToAccount(key),
    pollingInterval: 20,
  }).extend(publicActions);
  const server = createServer(async (request, response) => {
    const answer = await answerOf(request, signer as never);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answerOf(
  request: IncomingMessage,
  signer: Parameters<typeof settle>[0],
): Promise<object> {
  if (request.url === '/supported') {
    const kinds = [{ x402Version: 1, scheme: 'exact', network: 'base-sepolia' }];
    return SupportedPaymentKindsResponseSchema.parse({ kinds });
  }
  let text = '';
  for await (const chunk of request) text += chunk;
  const { paymentPayload, paymentRequirements } = SettleRequestSchema.parse(JSON.parse(text));
  return request.url === '/verify'
    ? verify(signer as Parameters<typeof verify>[0], paymentPayload, paymentRequirements)
    : settle(signer, paymentPayload, paymentRequirements);
}

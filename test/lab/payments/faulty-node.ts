import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What happens to one question to the node: passed on, cut before or after it was, or answered with 500. */
export type NodeFault = null | 'cut-before' | 'cut-after' | '500-after';

/** Stands between the gatekeeper and the node. */
export interface FaultyNode {
  readonly url: string;
  fault: (question: number) => NodeFault;
  close(): Promise<void>;
}

export async function faultyNode(target: string): Promise<FaultyNode> {
  let questions = 0;
  const server = createServer(async (request, response) => {
    questions += 1;
    const fault = node.fault(questions);
    let body = '';
    for await (const chunk of request) body += chunk;
    if (fault === 'cut-before') return void response.destroy();
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(target, { method: 'POST', headers, body });
    const text = await answer.text();
    if (fault === 'cut-after') return void response.destroy();
    response.writeHead(fault === '500-after' ? 500 : 200, headers).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const node: FaultyNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: () => null,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return node;
}

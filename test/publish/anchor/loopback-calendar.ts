import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  formatTimestamp,
  OTS_OPS,
  stepTo,
  type Timestamp,
} from '../../../compiler/format/ots-proof.ts';

/** The easiest work of test networks: one hash in two shows it. */
export const TEST_LIMIT = 0x207fffff;
/** Height of the one block of the calendar. */
export const TEST_HEIGHT = 901_234;

const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(bytes).digest());
const HASH = { tag: OTS_OPS.sha256, operand: new Uint8Array(0) };

/** A calendar that keeps every digest it is given and, once told to, anchors each in a block of its own. */
export interface LoopbackCalendar {
  readonly url: string;
  readonly asked: string[];
  /** Anchors everything promised so far; answers a header for each promise. */
  mine(): Uint8Array[];
  /** Replaces what is answered. */
  misbehave(answer: ((request: IncomingMessage, response: ServerResponse) => void) | null): void;
  close(): Promise<void>;
}

export async function loopbackCalendar(): Promise<LoopbackCalendar> {
  const promised = new Map<string, Uint8Array>();
  const mined = new Map<string, Timestamp>();
  const asked: string[] = [];
  let other: Parameters<LoopbackCalendar['misbehave']>[0] = null;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (other !== null) return other(request, response);
    if (request.method === 'POST') return submit(request, response);
    const hex = request.url?.replace('/timestamp/', '') ?? '';
    const timestamp = mined.get(hex);
    response.writeHead(timestamp === undefined ? 404 : 200);
    return response.end(timestamp === undefined ? 'Pending' : formatTimestamp(timestamp));
  });
  const submit = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const nonce = { tag: OTS_OPS.append, operand: Uint8Array.of(promised.size, 1, 2, 3) };
    const timestamp = stepTo(new Uint8Array(Buffer.concat(chunks)), nonce, (salted) =>
      stepTo(salted, HASH, (message) => {
        promised.set(Buffer.from(message).toString('hex'), message);
        return { message, attestations: [{ kind: 'pending', uri: url }], steps: [] };
      }),
    );
    response.end(formatTimestamp(timestamp));
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    mine: () =>
      [...promised].map(([hex, message]) => {
        const { timestamp, header } = block(message);
        mined.set(hex, timestamp);
        return header;
      }),
    misbehave(answer) {
      other = answer;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** A block whose one transaction holds a message: the timestamp that leads there, and the header. */
function block(message: Uint8Array): { timestamp: Timestamp; header: Uint8Array } {
  const before = { tag: OTS_OPS.prepend, operand: Uint8Array.of(1, 0, 0, 0) };
  const after = { tag: OTS_OPS.append, operand: Uint8Array.of(0, 0, 0, 0) };
  let root = new Uint8Array(0);
  const end = (result: Uint8Array): Timestamp => {
    root = new Uint8Array(result);
    return { message: result, attestations: [{ kind: 'bitcoin', height: TEST_HEIGHT }], steps: [] };
  };
  const timestamp = stepTo(message, before, (a) =>
    stepTo(a, after, (b) => stepTo(b, HASH, (c) => stepTo(c, HASH, end))),
  );
  return { timestamp, header: minedHeader(root) };
}

/** A header over a Merkle root that shows the work of a test network. */
function minedHeader(root: Uint8Array, bits = TEST_LIMIT): Uint8Array {
  const header = new Uint8Array(80);
  header.set(root, 36);
  const view = new DataView(header.buffer);
  view.setUint32(72, bits, true);
  for (let nonce = 0; ; nonce += 1) {
    view.setUint32(76, nonce, true);
    const hash = sha256(sha256(header)).toReversed();
    if ((hash[0] ?? 0) < 0x7f) return header;
  }
}

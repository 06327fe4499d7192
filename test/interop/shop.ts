import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  PaymentPayloadV2Schema,
  PaymentRequirementsV2Schema,
  ResourceInfoSchema,
} from '@x402/core/schemas';
import { verifyTypedData } from 'viem';
import {
  SettleRequestSchema,
  SettleResponseSchema,
  SupportedPaymentKindsResponseSchema,
  VerifyRequestSchema,
  VerifyResponseSchema,
} from 'x402/types';
import { readJournalFile } from '../../gatekeeper/heart/journal/journal-file.ts';
import type { FacilitatorRequest } from '../../gatekeeper/settle/facilitator.ts';
import { findNetwork } from '../../gatekeeper/settle/networks.ts';
import { startGate } from '../gate.ts';
import { typedTransfer } from '../gatekeeper/payer.ts';
import { ledgerRows } from '../gatekeeper/tiny-service.ts';
import { writeFreshSample } from '../shared-folder.ts';
import { compileFolder } from '../snapshot-folder.ts';

/**
 * A facilitator over HTTP as hosted ones work: what it is sent must pass the published schemas of
 * its version and carry a signature that viem accepts. Nothing reaches a chain.
 */
interface StrictFacilitator {
  readonly url: string;
  /** Nonces, one for each settled authorization. */
  readonly settled: readonly string[];
  /** Nonces, one for each call of /verify. */
  readonly verified: readonly string[];
  /** Why requests were not understood; a test wants none. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

interface Book {
  readonly settled: string[];
  readonly verified: string[];
  readonly problems: string[];
}

async function strictFacilitator(): Promise<StrictFacilitator> {
  const book: Book = { settled: [], verified: [], problems: [] };
  const server = createServer(async (request, response) => {
    const { status, body } = await answerOf(request, book);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, ...book, close: () => closed(server) };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

async function answerOf(request: IncomingMessage, book: Book): Promise<Answer> {
  if (request.url === '/supported') return { status: 200, body: supported() };
  const call = JSON.parse(await textOf(request)) as FacilitatorRequest;
  const problem = await problemOf(call, request.url === '/settle');
  if (problem === null) return { status: 200, body: verdict(call, request.url, book) };
  book.problems.push(problem);
  const reasons = { invalidReason: problem, errorReason: problem };
  return { status: 400, body: { isValid: false, success: false, ...reasons } };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function supported(): object {
  const kinds = [{ x402Version: 1, scheme: 'exact', network: 'base' }];
  SupportedPaymentKindsResponseSchema.parse({ kinds });
  return { kinds: [...kinds, { x402Version: 2, scheme: 'exact', network: 'eip155:8453' }] };
}

/** The stub is held to the published schemas as well, where it speaks version 1. */
function verdict(call: FacilitatorRequest, url: string | undefined, book: Book): object {
  const { from: payer, nonce } = call.paymentPayload.payload.authorization;
  const v1 = call.x402Version === 1;
  if (url === '/verify') {
    book.verified.push(nonce);
    const valid = { isValid: true, payer };
    return v1 ? VerifyResponseSchema.parse(valid) : valid;
  }
  if (!book.settled.includes(nonce)) book.settled.push(nonce);
  const { network } = call.paymentRequirements;
  const settled = { success: true, transaction: nonce, network, payer };
  return v1 ? SettleResponseSchema.parse(settled) : settled;
}

async function problemOf(call: FacilitatorRequest, settling: boolean): Promise<string | null> {
  try {
    if (call.x402Version === 1) (settling ? SettleRequestSchema : VerifyRequestSchema).parse(call);
    else {
      // The schema lets the resource out, a catalogue of sellers does not.
      ResourceInfoSchema.parse(PaymentPayloadV2Schema.parse(call.paymentPayload).resource);
      PaymentRequirementsV2Schema.parse(call.paymentRequirements);
    }
    return (await isSigned(call)) ? null : 'invalid_exact_evm_payload_signature';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function isSigned(call: FacilitatorRequest): Promise<boolean> {
  const network = findNetwork(call.paymentRequirements.network);
  if (network === undefined) return false;
  const { authorization, signature } = call.paymentPayload.payload;
  return verifyTypedData({
    address: authorization.from as `0x${string}`,
    signature: signature as `0x${string}`,
    ...typedTransfer(network, authorization),
  });
}

export const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const CLI = resolve('build/compiler/cli/cli.js');

/** The real gatekeeper over a release of the sample, on loopback. */
export interface Shop {
  readonly url: string;
  readonly facilitator: StrictFacilitator;
  /** Issuer of the sample. */
  readonly did: string;
  /** Runs the offline verifier of the build over a delivered body; its exit code and words. */
  verify(body: string): Promise<{ readonly status: number | null; readonly text: string }>;
  /** Settled payments in its journal. */
  charges(): Promise<number>;
  close(): Promise<void>;
}

export async function openShop(): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-interop-'));
  const facilitator = await strictFacilitator();
  const snapshots = join(folder, 'snapshots');
  const asOf = writeFreshSample(snapshots);
  const baseUrl = 'http://127.0.0.1:4021';
  const data = join(folder, 'data');
  const { release } = await compileFolder(snapshots, { data, asOf, baseUrl });
  const did = release.issuer_did;
  const gatekeeper = await startGate({
    data,
    state: join(folder, 'state'),
    network: 'base',
    pay_to: PAYEE,
    facilitator_url: facilitator.url,
    token_secret: randomBytes(32).toString('hex'),
  });
  return {
    url: gatekeeper.url,
    facilitator,
    did,
    verify: (body) => runVerify(body, did),
    async charges() {
      const db = readJournalFile(join(folder, 'state', 'payments.db'));
      const rows = await ledgerRows(db, { time: 'created_at', state: 'settled' });
      db.close();
      return rows.length;
    },
    async close() {
      await gatekeeper.close();
      await facilitator.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Not spawnSync: connections to the shop end while this process waits, and its clients would not see that. */
async function runVerify(body: string, did: string): ReturnType<Shop['verify']> {
  const child = spawn(process.execPath, [CLI, 'verify', '-', '--issuer', did]);
  child.stdin.end(body);
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const texts = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await ended, text: texts.join('') };
}

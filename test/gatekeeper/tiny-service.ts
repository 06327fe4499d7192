import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import { canonicalRequest, route } from '../../compiler/contract/route.ts';
import {
  type Answered,
  type Question,
  type Service,
  SoldTargets,
} from '../../gatekeeper/answers/service.ts';
import { TEST_PAYEE } from '../../gatekeeper/config/settings.ts';
import { FOR_EVERYBODY } from '../../gatekeeper/http/cost.ts';
import { jsonReply } from '../../gatekeeper/http/reply.ts';
import { NETWORKS } from '../../gatekeeper/money/networks.ts';
import { challenger } from '../../gatekeeper/offer/challenge.ts';
import { folderSource } from '../../gatekeeper/release/folder-source.ts';
import { openRelease } from '../../gatekeeper/release/open-release.ts';
import { ROOMS } from '../../gatekeeper/rooms.ts';
import {
  TINY_BASE_URL,
  TINY_NOW,
  type TinyOptions,
  tinyDataDir,
  writeTinyRelease,
} from './tiny-release.ts';

/** A service over a tiny release, without a server; its purchases take no payment. */
export async function tinyService(options: TinyOptions = {}, now = TINY_NOW): Promise<Service> {
  const dataDir = tinyDataDir();
  writeTinyRelease(dataDir, options);
  const network = NETWORKS['base-sepolia'];
  const terms = { baseUrl: TINY_BASE_URL, payTo: TEST_PAYEE, network, serviceName: 'Tiny' };
  return {
    release: await openRelease({ source: folderSource(dataDir), issuerDid: null, baseUrl: null }),
    baseUrl: TINY_BASE_URL,
    operator: {
      networks: [network],
      payTo: TEST_PAYEE,
      tokens: null,
      takesReceipts: false,
      extensions: () => [],
      settlement: 'test',
    },
    challenger: challenger(terms),
    purchases: {
      open: async () => jsonReply(503, {}),
      openFormer: async () => null,
      transferOf: async () => ({ reason: 'invalid_payload', error: 'nothing is sold here' }),
    },
    sold: { citations: async () => [] },
    clock: () => now,
    log: () => undefined,
    targets: new SoldTargets(),
    rooms: ROOMS,
  };
}

const NO_RPC = { version: null, method: null, name: null };

/** The question that a target asks. */
export function question(
  target: string,
  accept = 'application/json',
  body: Buffer | null = null,
): Question {
  const request = canonicalRequest(target);
  const found = 'status' in request ? undefined : route(request, BUILTIN);
  if (found === undefined) throw new Error(`no route for ${target}`);
  const none = { acceptEncoding: '', rpc: NO_RPC, paymentHeaders: [] };
  return { route: found, accept, ...none, spend: FOR_EVERYBODY, body };
}

/** The JSON body of an answer; its status and body when it is another reply than 200. */
export function jsonOf(answered: Answered): Json {
  if (answered.kind === 'content') return JSON.parse(answered.content.body.toString('utf8'));
  if (answered.kind === 'miss') return { miss: true };
  return { status: answered.reply.status, ...JSON.parse(answered.reply.body.toString()) };
}

type Json = Readonly<Record<string, unknown>>;

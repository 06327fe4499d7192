import type Database from 'libsql';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { canonicalRequest, route } from '../../compiler/catalog/route.ts';
import { inventedBodies } from '../../compiler/describe/invented-body.ts';
import { outline } from '../../compiler/describe/manifest.ts';
import type { Endpoint } from '../../compiler/products/shapes/product.ts';
import {
  type Answered,
  basketMemory,
  type Question,
  type Service,
  soldTargets,
} from '../../gatekeeper/heart/answers/service.ts';
import { Books, type LedgerFilter, type LedgerRow } from '../../gatekeeper/heart/journal/ledger.ts';
import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import { folderSource } from '../../gatekeeper/heart/release/folder-source.ts';
import { openRelease } from '../../gatekeeper/heart/release/open-release.ts';
import type { ReadOptions } from '../../gatekeeper/heart/release/release-index.ts';
import type { Offers } from '../../gatekeeper/heart/release/release-source.ts';
import { ROOMS } from '../../gatekeeper/rooms.ts';
import { TEST_PAYEE } from '../../gatekeeper/settings/settings.ts';
import type { Journal } from '../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { type TokenService, tokenService } from '../../gatekeeper/settle/token.ts';
import { FOR_EVERYBODY } from '../../gatekeeper/wire/cost.ts';
import { jsonReply } from '../../gatekeeper/wire/reply.ts';
import { ServiceState, type Trouble } from '../../gatekeeper/wire/service-state.ts';
import { filingSet, listingRow } from '../filing-rows.ts';
import { compileFolder, writeSnapshots } from '../snapshot-folder.ts';
import { TINY_NOW, type TinyOptions, tinyData } from './tiny-release.ts';

/** A service over a tiny release, without a server; its purchases take no payment. */
export async function tinyService(options: TinyOptions = {}, now = TINY_NOW): Promise<Service> {
  return compiledService(tinyData(options), now);
}

/** The same over any data folder, at a time or an epoch in milliseconds. */
export async function compiledService(
  dataDir: string,
  now: string | number,
  steady: Pick<ReadOptions, 'now'> = {},
): Promise<Service> {
  const source = folderSource(dataDir);
  const release = await openRelease({ source, issuerDid: null, baseUrl: null, ...steady });
  const { base_url: baseUrl } = release.head;
  const network = NETWORKS['base-sepolia'];
  const shop = challenger({ baseUrl, payTo: TEST_PAYEE, network, serviceName: 'Example' });
  shop.show(release);
  return {
    release,
    baseUrl,
    operator: {
      networks: [network],
      payTo: TEST_PAYEE,
      tokens: null,
      takesReceipts: false,
      extensions: () => [],
      settlement: 'test',
    },
    challenger: shop,
    purchases: {
      open: async () => jsonReply(503, {}),
      openFormer: async () => null,
      transferOf: async () => ({ reason: 'invalid_payload', error: 'nothing is sold here' }),
    },
    sold: { citations: async () => [] },
    clock: () => new Date(now).getTime(),
    log: () => undefined,
    targets: soldTargets(),
    baskets: basketMemory(),
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

export const SECRET = 'a secret for tests that is long enough';

/** Tokens of a clock that stands still and numbers that are all alike. */
export function tinyTokens(more: Partial<Parameters<typeof tokenService>[0]> = {}): TokenService {
  const random = (bytes: number): Uint8Array => new Uint8Array(bytes).fill(7);
  return tokenService({ secrets: [SECRET], days: 30, clock: () => TINY_NOW, random, ...more });
}

/** Offers of a release that answers one request of each operation; null where it answers none. */
export function tinyOffers(requestOf: (row: Endpoint) => string | null): Offers {
  const rows: readonly Endpoint[] = BUILTIN.operations;
  const inventedBody = inventedBodies(BUILTIN);
  return new Map(
    rows.map((row) => {
      const request = requestOf(row);
      const output = row.priceUsd === null ? null : outline(inventedBody(row) ?? {});
      const sold = { sellsNow: request !== null, priceUsd: row.priceUsd ?? '0' };
      const offer = { ...sold, request: request ?? row.path, output, entry: {} };
      return [row.path, offer];
    }),
  );
}

/** When the releases of filings are asked. */
export const FILING_NOW = '2026-11-20T12:30:00Z';

/** A release of one filer's filings, and what its list says otherwise; `removeFolders` takes its folder away. */
export async function filingData(rows: readonly object[], list = {}): Promise<string> {
  const { data } = await compileFolder(writeSnapshots(filingSet([listingRow(list), ...rows])));
  return data;
}

/** A service over such a release. */
export async function filingService(rows: readonly object[], list = {}): Promise<Service> {
  return compiledService(await filingData(rows, list), FILING_NOW);
}

/** A journal without a payment that takes none, whose newest time is this. */
export const emptyJournal = (newestMs = 0): Journal => ({
  tokens: [],
  secret: Buffer.alloc(32),
  find: async () => null,
  findOnDisk: async () => null,
  bindingOf: () => null,
  identifiedKey: async () => null,
  soldTo: async () => null,
  hasSettled: async () => false,
  useOnce: async () => true,
  claim: async () => false,
  takeTransaction: async () => true,
  conclude: async () => {},
  unresolved: async () => [],
  delivered: async () => {},
  unfinal: async () => [],
  review: async () => {},
  openPayments: async () => ({ settling: 0, unknown: 0, oldestMs: null }),
  citations: async () => [],
  newestMs: () => newestMs,
});

/** All payments of an open journal file that a filter lets through. */
export async function ledgerRows(
  db: Database.Database,
  filter: LedgerFilter = { time: 'created_at' },
): Promise<LedgerRow[]> {
  const books = new Books(async (text, values) => db.prepare(text).all([...values]), 'file');
  const rows: LedgerRow[] = [];
  for await (const row of books.rows(filter)) rows.push(row);
  return rows;
}

/** A state that nobody reads. */
export function untoldState(): ServiceState {
  return new ServiceState({ clock: Date.now, log: () => undefined });
}

/** A reason that nobody hears of. */
export const UNTOLD: Trouble = { since: null, begin: () => undefined, end: () => undefined };

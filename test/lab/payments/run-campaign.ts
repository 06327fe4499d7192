import { createHash } from 'node:crypto';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defined } from '../../../compiler/format/errors.ts';
import { endpointAt } from '../../../compiler/products/products.ts';
import { filePath } from '../../../compiler/products/shapes/path.ts';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import { buyer, type Purchase } from '../../chain/buyer.ts';
import { accountOf, type Chain, startChain } from '../../chain/chain.ts';
import {
  type ChainFacilitator,
  chainFacilitator,
  type Fault,
  type SettleCall,
} from '../../chain/chain-facilitator.ts';
import { openStall, type Row, type Stall, type StallOptions } from '../../chain/stall.ts';
import { tinyFiles, writeTinyRelease } from '../../gatekeeper/tiny-release.ts';
import { type PostgresServer, startPostgres } from '../../postgres/postgres-server.ts';
import {
  type Audit,
  audit,
  authorizationOf,
  isOpen,
  offenders,
  paidAuthorizations,
} from './audit.ts';
import {
  type BuyerOptions,
  buy,
  choose,
  comeBack,
  draw,
  mannerOf,
  pause,
  type Story,
} from './client.ts';
import { chainReader, type Reading, type StrangersReport, strangers } from './strangers.ts';

/** Who settles: two facilitators with faults, or the operator's relayer over a node with faults. */
type Settler = 'facilitators' | 'relayer';

export interface CampaignOptions {
  readonly seed: number;
  readonly purchases: number;
  readonly settler: Settler;
  /** Where purchases are noted: a file, a database that is killed as well, or what the shop of `open` brings. */
  readonly journal: 'sqlite' | 'postgres' | 'shared';
  /** Told how far it is. */
  readonly progress: (done: number) => void;
  /** Opens what sells, one gatekeeper by default. */
  readonly open?: (options: StallOptions) => Promise<TestedShop>;
  /** Requests that each payment is for, as a basket; one that is no basket by default. */
  readonly basket?: number | undefined;
  /** Buyers at the same time. */
  readonly parallel?: number;
  /** After this time nobody begins to buy any more. */
  readonly minutes?: number;
}

/** What sells: it is killed at random, started again, and its journal is read at the end. */
export interface TestedShop extends Omit<Stall, 'journal' | 'pid' | 'stateDir'> {
  /** Its certificate, where it has one. */
  readonly ca?: string;
  /** A proxy stands before it that does not tell buyers apart, so they all name their purchases. */
  readonly hidesBuyers?: true;
  journal(): readonly Row[] | Promise<readonly Row[]>;
  /** Called when everybody has bought and nothing is killed any more, before the journal is read. */
  afterwards?(): Promise<void>;
}

interface CampaignReport extends Audit {
  readonly reading: Reading;
  readonly strangers: StrangersReport;
  readonly stories: readonly Story[];
  /** The purchases behind what should not be. */
  readonly offenders: readonly string[];
  readonly kills: number;
  readonly databaseKills: number;
  readonly releases: number;
  /** How often each fault was given. */
  readonly faults: Readonly<Record<string, number>>;
  readonly seconds: number;
}

const PARALLEL = 12;
const PAYERS = 6;
const FUNDS = 10_000_000_000n;
/** A kill comes at any instant up to this long after the gatekeeper is back. */
const LIFE_MS_MAX = 2500;
/** The same for the database, from its second life on: the first kill comes early, also in a short campaign. */
const DATABASE_LIFE_MS_MAX = 12_000;
const RELEASE_EVERY = 20;
/** Time after the last purchase in which nothing may be charged any more. */
const AFTERMATH_MS = 5000;
const recordOf = (entity: string): string => `/gauge?signal_id=airquality.aqi&entity=${entity}`;
const CITY = 'us-denver';

/** Two things of the same price: records of two cities, or one basket and the same in another order. */
function targetsOf({ basket }: CampaignOptions): readonly string[] {
  if (basket === undefined) return [CITY, 'us-chicago'].map(recordOf);
  const requests = [CITY, ...moreCities(basket)].map(recordOf);
  return [requests, requests.toReversed()].map(
    (each) => `/gauge/basket ${JSON.stringify({ requests: each })}`,
  );
}

function moreCities(basket: number | undefined): string[] {
  return Array.from({ length: (basket ?? 1) - 1 }, (_, at) => `us-city-${at + 1}`);
}

/** Files of a release with as many cities as a basket holds; the words of its records tell the release. */
function releaseFiles({ basket }: CampaignOptions, sequence: number): Map<string, Buffer> {
  const files = tinyFiles();
  const pathOf = (entity: string): string =>
    defined(
      filePath(endpointAt('/gauge'), { signal_id: 'airquality.aqi', entity }),
      'the path of the record',
    );
  const text = defined(files.get(pathOf(CITY)), 'the record').toString('utf8');
  for (const entity of [CITY, ...moreCities(basket)]) {
    const words =
      sequence === 1 ? text : text.replace('paid words', `words of release ${sequence}`);
    files.set(pathOf(entity), Buffer.from(words));
  }
  return files;
}
const FAULTS: readonly (readonly [Fault, number])[] = [
  [null, 66],
  ['slow', 8],
  ['down', 5],
  ['reset', 4],
  ['done-then-500', 5],
  ['done-then-reset', 4],
  ['done-then-silent', 1],
  ['lie-success', 2],
  ['lie-transaction', 2],
  ['lie-payer', 2],
  ['lie-refusal', 1],
];
const NODE_FAULTS: readonly (readonly [NodeFault, number])[] = [
  [null, 94],
  ['cut-before', 2],
  ['cut-after', 2],
  ['500-after', 2],
];

/** Buys under faults, kills and new releases, and holds everybody's word to the chain afterwards. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const started = performance.now();
  const ground = await prepare(options);
  try {
    const { chain, stall, database } = ground;
    const killers = [killer(stall, (kills) => draw(options.seed, `kill ${kills}`) * LIFE_MS_MAX)];
    if (database !== null) {
      const lifeMs = (kills: number): number =>
        draw(options.seed, `database kill ${kills}`) *
        (kills === 0 ? LIFE_MS_MAX : DATABASE_LIFE_MS_MAX);
      killers.push(killer(database, lifeMs));
    }
    const { url, ca, journal: rows } = stall;
    const reader = chainReader({ chain, url, ca, targets: targetsOf(options), journal: rows });
    const door = atTheDoor(ground);
    const bought = await buyAll(ground);
    const [kills = 0, databaseKills = 0] = await Promise.all(killers.map((one) => one.stop()));
    ground.calm();
    const stories = await Promise.all(bought.map((story) => ended(story, ground)));
    await ground.stall.afterwards?.();
    const journal = await settledJournal(ground);
    const reading = await reader.stop();
    const { asked, settlements } = ground;
    const outside = await door.stop(async () => ({ journal: await rows(), asked, settlements }));
    const seconds = (performance.now() - started) / 1000;
    const { faults, releases } = ground;
    const figures = await audit(ground.chain, stories, journal);
    const named = await offenders(ground, stories, journal);
    return {
      ...{ ...figures, reading, strangers: outside, stories, offenders: named },
      ...{ kills, databaseKills, releases, faults, seconds },
    };
  } finally {
    await ground.close();
  }
}

interface CampaignGround extends Omit<SettlingCalls, 'stall'> {
  readonly options: CampaignOptions;
  readonly chain: Chain;
  readonly stall: TestedShop;
  /** Server of the journal; null where it is a file. */
  readonly database: PostgresServer | null;
  readonly faults: Record<string, number>;
  releases: number;
  /** What each purchase was begun with, by its number. */
  readonly clients: Map<number, BuyerOptions>;
}

async function prepare(options: CampaignOptions): Promise<CampaignGround> {
  const chain = await startChain({ network: NETWORKS['base-sepolia'] });
  const faults: Record<string, number> = {};
  const given = <T extends string | null>(fault: T): T => {
    if (fault !== null) faults[fault] = (faults[fault] ?? 0) + 1;
    return fault;
  };
  for (let payer = 0; payer < PAYERS; payer++) {
    await chain.mint(accountOf(payerName(payer)).address, FUNDS);
  }
  const settling =
    options.settler === 'relayer'
      ? await relayed(options, chain, given)
      : await facilitated(options, chain, given);
  const database = options.journal === 'postgres' ? await startPostgres() : null;
  const journal = database === null ? {} : { journalUrl: await database.freshUrl() };
  const open = options.open ?? openStall;
  const files = releaseFiles(options, 1);
  const opened = open({ chain, files, ...settling.stall, ...journal });
  const stall = await opened.catch(async (error: unknown) => {
    await settling.close();
    await chain.close();
    await database?.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await stall.close();
    await settling.close();
    await chain.close();
    await database?.close();
  };
  const opening = { options, chain, stall, database, faults, releases: 1, clients: new Map() };
  return { ...settling, ...opening, close };
}

interface SettlingCalls {
  readonly stall: { readonly facilitatorUrl?: string; readonly env?: Record<string, string> };
  /** Calls that were made to settle a nonce. */
  settlements(nonce: string): readonly SettleCall[];
  /** Calls of both kinds about a nonce. */
  asked(nonce: string): number;
  /** Resolves once every call is read that was sent before. */
  caughtUp(): Promise<void>;
  /** Ends all faults. */
  calm(): void;
  close(): Promise<void>;
}
type GivenFault = <T extends string | null>(fault: T) => T;

async function facilitated(
  { seed }: CampaignOptions,
  chain: Chain,
  given: GivenFault,
): Promise<SettlingCalls> {
  const both: ChainFacilitator[] = [await chainFacilitator(chain), await chainFacilitator(chain)];
  for (const [number, one] of both.entries()) {
    const calls = new Map<string, number>();
    one.fault = (name, nonce) => {
      if (name === 'supported') return null;
      const call = `${name} ${nonce}`;
      calls.set(call, (calls.get(call) ?? 0) + 1);
      const fault = choose(draw(seed, `${number} ${call} ${calls.get(call)}`), FAULTS);
      return given(name === 'verify' ? forVerify(fault) : fault);
    };
  }
  return {
    stall: { facilitatorUrl: both.map(({ url }) => url).join(',') },
    settlements: (nonce) => both.flatMap((one) => one.settlements.get(nonce) ?? []),
    asked: (nonce) => both.reduce((sum, one) => sum + (one.asked.get(nonce) ?? 0), 0),
    caughtUp: async () => {
      await Promise.all(both.map(({ url }) => askByNewConnection(url)));
    },
    calm() {
      for (const one of both) one.fault = () => null;
    },
    async close() {
      for (const one of both) await one.close();
    },
  };
}

/** Connections are accepted in their order, one in each turn of the loop: by its answer, those before it are read. */
function askByNewConnection(url: string): Promise<void> {
  return new Promise((resolve) => {
    const asked = get(`${url}/supported`, { agent: false }, (response) => {
      response.resume().on('close', resolve);
    });
    asked.on('error', () => resolve());
  });
}

/** Lies are about settlements; a silent verification would only hold things up. */
function forVerify(fault: Fault): Fault {
  return fault === null || fault === 'slow' || fault === 'down' || fault === 'reset' ? fault : null;
}

async function relayed(
  { seed }: CampaignOptions,
  chain: Chain,
  given: GivenFault,
): Promise<SettlingCalls> {
  const node: FaultyNode = await faultyNode(chain.url);
  const { key } = await chain.relayer();
  node.fault = (question) => given(choose(draw(seed, `node ${question}`), NODE_FAULTS));
  return {
    stall: { env: { SIGNALPRESS_RPC_URL: node.url, SIGNALPRESS_RELAYER_KEY: key } },
    settlements: () => [],
    asked: () => 0,
    caughtUp: async () => {},
    calm() {
      node.fault = () => null;
    },
    close: () => node.close(),
  };
}

/** Strangers without money, for as long as others buy. */
function atTheDoor({ options, chain, stall }: CampaignGround): ReturnType<typeof strangers> {
  const [target = ''] = targetsOf(options);
  const names = Array.from({ length: PAYERS }, (_, at) => accountOf(payerName(at)).address);
  const { url, ca } = stall;
  return strangers({ network: chain.network, url, ca, target, names, seed: options.seed });
}

function payerName(number: number): string {
  return `campaign payer ${number}`;
}

async function buyAll(ground: CampaignGround): Promise<readonly Story[]> {
  const { purchases, progress, parallel = PARALLEL, minutes = Infinity } = ground.options;
  const endMs = performance.now() + minutes * 60_000;
  const stories: Story[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < purchases && performance.now() < endMs; index = next++) {
      if (index % RELEASE_EVERY === RELEASE_EVERY - 1) publish(ground);
      stories.push(await buyOne(ground, index));
      progress(stories.length);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return stories;
}

async function buyOne(
  { options, chain, stall, settlements, caughtUp, clients }: CampaignGround,
  index: number,
): Promise<Story> {
  const { seed } = options;
  const [first = '', second = ''] =
    draw(seed, `target ${index}`) < 0.5 ? targetsOf(options) : targetsOf(options).toReversed();
  const name = payerName(index % PAYERS);
  const { url } = stall;
  const sign = async (label: string): Promise<Purchase> => {
    const purchase = await signed(url, { seed, label, name, target: first, chain });
    const isNamed = stall.hidesBuyers === true || draw(seed, `named ${label}`) < 0.5;
    const identifier = createHash('sha256').update(`${seed} ${label} named`).digest('hex');
    return isNamed ? { ...purchase, identifier } : purchase;
  };
  const purchase = await sign(`${index}`);
  const manner = mannerOf(seed, index);
  const isPaid = async ({ payment }: Purchase): Promise<boolean> =>
    manner !== 'cancel' && (await chain.isUsed(payment));
  const isUnderWay = ({ payment }: Purchase): boolean =>
    settlements(payment.authorization.nonce).some(({ doneMs }) => doneMs === null);
  const underWay = async (asked: Purchase, timeoutMs: number): Promise<void> => {
    const endMs = performance.now() + timeoutMs;
    await Promise.race([caughtUp(), pause(timeoutMs)]);
    while (isUnderWay(asked) && performance.now() < endMs) await pause(100);
  };
  const signAgain = (): Promise<Purchase> => sign(`${index} again`);
  const asks = { isPaid, underWay, signAgain };
  const client = { seed, index, url, manner, purchase, other: second, ...asks };
  clients.set(index, client);
  const buying = buy(client);
  await pause(draw(seed, `meanwhile ${index}`) * 30);
  // Whoever comes second fails; which one that is, is what the campaign is about.
  if (manner === 'front-run') await chain.submit(purchase.payment).catch(() => {});
  if (manner === 'cancel') await chain.cancel(purchase.payment, accountOf(name)).catch(() => {});
  return buying;
}

interface ToSign {
  readonly seed: number;
  /** Chance and nonce depend on it. */
  readonly label: string;
  readonly name: string;
  readonly target: string;
  readonly chain: Chain;
}

async function signed(
  url: string,
  { seed, label, name, target, chain }: ToSign,
): Promise<Purchase> {
  const nonce = `0x${createHash('sha256').update(`${seed} ${label}`).digest('hex')}` as const;
  const version = draw(seed, `version ${label}`) < 0.5 ? 1 : 2;
  for (;;) {
    try {
      return await buyer(chain.network, name).sign(url, target, { nonce, version });
    } catch {
      // The gatekeeper is down: the client asks for the price again.
      await pause(100);
    }
  }
}

function ended(story: Story, { clients }: CampaignGround): Story | Promise<Story> {
  const options = clients.get(story.index);
  return story.finished || options === undefined ? story : comeBack(story, options);
}

/** A new release with other bodies, while payments for the old one are on their way. */
function publish(ground: CampaignGround): void {
  ground.releases += 1;
  const files = releaseFiles(ground.options, ground.releases);
  writeTinyRelease(ground.stall.dataDir, { sequence: ground.releases, files });
}

function killer(
  victim: { kill(): Promise<void>; start(): Promise<void> },
  lifeMs: (kills: number) => number,
) {
  let kills = 0;
  let running = true;
  const done = (async () => {
    while (running) {
      await pause(lifeMs(kills));
      if (!running) break;
      await victim.kill();
      kills += 1;
      await victim.start();
    }
  })();
  return {
    /** How often it killed. */
    async stop(): Promise<number> {
      running = false;
      await done;
      return kills;
    },
  };
}

/** Starts once more, so that what is still open is looked into, and waits until no paid one is. */
async function settledJournal({ stall, chain }: CampaignGround): Promise<readonly Row[]> {
  await stall.kill();
  await stall.start();
  const paid = await paidAuthorizations(chain);
  for (let wait = 0; wait < 100; wait++) {
    const rows = await stall.journal();
    if (!rows.some((row) => isOpen(row) && paid.transactions.has(authorizationOf(row)))) break;
    await pause(100);
  }
  // Whoever would charge late in the background does it now.
  await pause(AFTERMATH_MS);
  return stall.journal();
}

/** What happens to one question to the node: passed on, cut before or after it was, or answered with 500. */
type NodeFault = null | 'cut-before' | 'cut-after' | '500-after';

/** Stands between the gatekeeper and the node. */
interface FaultyNode {
  readonly url: string;
  fault: (question: number) => NodeFault;
  close(): Promise<void>;
}

async function faultyNode(target: string): Promise<FaultyNode> {
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

/** Figures that must be 0, with the words that stand beside them. */
const ZEROS: readonly (readonly [string, (report: CampaignReport) => number | bigint])[] = [
  ['charged without data', (report) => report.chargedWithoutData],
  ['data without charge', (report) => report.dataWithoutCharge],
  ['charged twice', (report) => report.chargedTwice],
  ['charged late', (report) => report.lateCharges],
  ['second resources opened by one payment', (report) => report.secondResources],
  ['deliveries of one payment that differ', (report) => report.differentBodies],
  ['receipts that name another transaction', (report) => report.wrongReceipts],
  ['purchases without an end', (report) => report.unfinished],
  ['differences between journal and chain', (report) => report.journalDifferences],
  ['payments that the journal leaves open', (report) => report.journalOpen],
  ['units between payee and journal', (report) => report.balanceDifference],
  ['bytes delivered to the chain reader', ({ reading }) => reading.bytes],
  ['rows of strangers without money', ({ strangers }) => strangers.rows],
  ['their settlements', ({ strangers }) => strangers.settlements],
  ['their deliveries', ({ strangers }) => strangers.delivered],
  ['settlements whose request the chain reader found out', ({ reading }) => reading.toldApart],
];

export function isClean(report: CampaignReport): boolean {
  return ZEROS.every(([, figure]) => BigInt(figure(report)) === 0n);
}

/** What a campaign showed, for people. */
export function closingReport(
  { seed, purchases, settler, journal }: Omit<CampaignOptions, 'progress'>,
  report: CampaignReport,
): string {
  const manners: Record<string, number> = {};
  for (const { manner } of report.stories) manners[manner] = (manners[manner] ?? 0) + 1;
  const outages = report.stories.reduce((sum, story) => sum + story.outages, 0);
  const lines = [
    `payment campaign: ${purchases} purchases, seed ${seed}, settled by ${settler}, journal ${journal}, ${report.seconds.toFixed(0)} s`,
    `  delivered ${report.delivered}, refused ${report.refused}, transfers on chain ${report.transfers}`,
    `  kills ${report.kills}, and ${report.databaseKills} of the database by itself, releases published ${report.releases}, outages seen by clients ${outages}`,
    `  buyers who went away and bought again ${report.left}, who came back after the last kill ${report.stories.filter(({ cameBack }) => cameBack).length}`,
    `  clients: ${listed(manners)}`,
    `  chain reader: ${report.reading.settlements} settlements, ${report.reading.tries} tries`,
    `  strangers: ${report.strangers.sent} payments, ${report.strangers.calls} calls caused, ${listed(report.strangers.statuses)}`,
    `  faults: ${listed(report.faults)}`,
    ...ZEROS.map(([words, figure]) => `  ${words}: ${figure(report)}`),
    ...report.offenders.map((words) => `  - ${words}`),
    isClean(report) ? 'nobody paid twice, for nothing, or not at all' : 'NOT CLEAN',
  ];
  return lines.join('\n');
}

function listed(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).sort(([left], [right]) => (left < right ? -1 : 1));
  return parts.map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
}

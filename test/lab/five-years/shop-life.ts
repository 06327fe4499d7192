import { cpSync, readdirSync, readFileSync, realpathSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { logOrigin, NOTE_KEY } from '../../../compiler/format/checkpoint.ts';
import { parseDidKey } from '../../../compiler/format/did-key.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../../compiler/format/iso-time.ts';
import type { LogPolicy } from '../../../compiler/format/log-policy.ts';
import { RELEASES_FOLDER } from '../../../compiler/format/release.ts';
import { askWitnesses } from '../../../compiler/publish/witness/ask-witnesses.ts';
import { releaseNames } from '../../../compiler/release/release-folders.ts';
import { checkEvidence, parseEvidence } from '../../../compiler/verify/monitor/evidence.ts';
import { Monitor } from '../../../compiler/verify/monitor/monitor.ts';
import type { MonitorStatus } from '../../../compiler/verify/monitor/monitor-state.ts';
import { readPolicy } from '../../../compiler/verify/policy-check.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { answer } from '../../../gatekeeper/heart/answers/answers.ts';
import { respond } from '../../../gatekeeper/heart/answers/respond.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import { proven } from '../../../gatekeeper/rooms/proven.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/wire/cost.ts';
import { headerFacts } from '../../../gatekeeper/wire/header-facts.ts';
import { compiledService, question } from '../../gatekeeper/tiny-service.ts';
import { StubWitness } from '../../publish/witness/stub-witness.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { VirtualClock } from '../../sources/fetch/test-row.ts';
import { seeded } from '../campaign.ts';
import { didOf, keyEvents, monthTime, type Plan, type Seeds, seedsOf, signersIn } from './plan.ts';

/** What is not proven has to be there twice in a row. */
const LOOKS = 2;
export const SHOP = 'https://example.org';
const MIRROR = 'https://mirror.example';

/** A monitor of two addresses, each of which shows the current release of a data folder. */
export class Watcher {
  readonly #folder = makeFolder();
  readonly #clock = new VirtualClock('2026-11-20T12:00:00Z');
  readonly #shown = new Map<string, string>();
  readonly #services = new Map<string, Service>();
  readonly #monitor: Monitor;
  readonly #issuer: string;

  constructor(issuer: string, policy: LogPolicy) {
    this.#issuer = issuer;
    this.#monitor = new Monitor({
      folder: this.#folder,
      addresses: [SHOP, MIRROR],
      issuers: [issuer],
      roots: [],
      signals: [],
      policy,
      everyMs: HOUR_MS,
      fetch: (url) => this.#fetch(url),
      clock: this.#clock,
      print: () => undefined,
    });
  }

  /** Which kinds of alarms are open after two looks an hour apart, from a time on. */
  async sees(shop: string, mirror: string, at: string): Promise<string[]> {
    this.#services.clear();
    this.#shown.set(SHOP, shop).set(MIRROR, mirror);
    this.#clock.ms = Date.parse(at);
    for (let look = 0; look < LOOKS; look += 1) {
      this.#clock.ms += HOUR_MS;
      await this.#monitor.look();
    }
    const text = readFileSync(join(this.#folder, 'status.json'), 'utf8');
    const { alarms, verdict } = JSON.parse(text) as MonitorStatus;
    const kinds = [...new Set(alarms.map(({ kind }) => kind))].sort();
    return kinds.length === 0 && verdict !== 'well' ? [verdict] : kinds;
  }

  /** What a third person finds in the evidence, who knows the first key alone. */
  verdicts(): string[] {
    const folder = join(this.#folder, 'evidence');
    return readdirSync(folder).map((name) => {
      const evidence = parseEvidence(readFileSync(join(folder, name), 'utf8'));
      return `${evidence.kind} ${checkEvidence(evidence, { trust: [this.#issuer] }).verdict}`;
    });
  }

  async #fetch(url: string): Promise<Response> {
    const { origin, pathname, search } = new URL(url);
    const data = this.#shown.get(origin);
    if (data === undefined) throw new TypeError('fetch failed');
    const asked = {
      method: 'GET',
      target: `${pathname}${search}`,
      facts: headerFacts([]),
      spend: FOR_EVERYBODY,
      readBody: async () => Buffer.alloc(0),
    };
    const { status, body } = (await respond(asked, await this.#service(data))).reply;
    return new Response(typeof body === 'string' ? body : Uint8Array.from(body), { status });
  }

  /** One service for each release that is shown. */
  async #service(data: string): Promise<Service> {
    const release = realpathSync(join(data, 'current'));
    const known = this.#services.get(release);
    if (known !== undefined) return known;
    const service = await compiledService(data, isoTime(this.#clock.ms));
    this.#services.set(release, service);
    return service;
  }
}

const NAMES = ['harbour', 'press', 'library'];

/** Three witnesses in memory, two of which make a quorum. */
export class Witnesses {
  readonly policy: LogPolicy;
  readonly #all: ReadonlyMap<string, StubWitness>;
  readonly #dead = new Set<string>();
  /** Milliseconds since 1970. */
  now = 0;

  constructor(issuers: readonly string[], baseUrl: string) {
    const name = logOrigin(baseUrl);
    const logs = issuers.map((did) => ({ name, type: NOTE_KEY.log, publicKey: parseDidKey(did) }));
    const now = (): number => this.now;
    this.#all = new Map(
      NAMES.map((each) => [each, new StubWitness({ name: `${each}.example/w`, logs, now })]),
    );
    const lines = [...this.#all].map(
      ([each, { vkey }]) => `witness ${each} ${vkey} https://${each}.example\n`,
    );
    const text = `${lines.join('')}group two 2 ${NAMES.join(' ')}\nquorum two\n`;
    this.policy = readPolicy(Buffer.from(text));
  }

  kill(name: string): void {
    this.#dead.add(name);
  }

  readonly fetch = async (url: string, { body }: RequestInit): Promise<Response> => {
    const name = new URL(url).hostname.replace(/\.example$/, '');
    const witness = this.#all.get(name);
    if (witness === undefined || this.#dead.has(name)) throw new TypeError('fetch failed');
    const { status, body: said } = witness.add(String(body));
    return new Response(said, { status });
  };
}

/** How long a release is promised to be the newest, in days; months are shorter. */
const VALID_DAYS = 40;

/** What is bought: one reading, one that joins the newest of several, and one that is cut when it is delivered. */
const PRODUCTS = {
  record: '/gauge?entity=btc&signal_id=crypto.spot',
  census: '/gauge/census?signal_id=crypto.spot',
  series: '/gauge/history-series?entity=btc&signal_id=crypto.spot',
} as const;
type Product = keyof typeof PRODUCTS;
const PRODUCT_NAMES = ['record', 'census', 'series'] as const;

export interface Bought {
  readonly month: number;
  readonly product: Product;
  readonly text: string;
}

/** What was noticed of an event, in words. */
interface Incident {
  readonly month: number;
  readonly event: string;
  readonly noticed: readonly string[];
}

/** The life of a small shop, month by month: releases, buyers, witnesses, a monitor, and what goes wrong. */
export class ShopLife {
  readonly plan: Plan;
  readonly seeds: Seeds;
  readonly data = join(makeFolder(), 'data');
  readonly #snapshots = join(makeFolder(), 'snapshots');
  readonly #random: (below: number) => number;
  readonly witnesses: Witnesses;
  readonly #watcher: Watcher;
  readonly bodies: Bought[] = [];
  readonly incidents: Incident[] = [];
  /** Months in which the monitor saw something though nothing was wrong. */
  readonly falseAlarms: string[] = [];
  #memory: string | null = null;
  readonly #proven = new Set<string>();
  /** The data folder before a release that something else is shown for. */
  #before = this.data;

  constructor(seed: number, plan: Plan) {
    this.plan = plan;
    this.#random = seeded(seed);
    this.seeds = seedsOf(this.#random);
    this.witnesses = new Witnesses(this.seeds.issuer.map(didOf), SHOP);
    this.#watcher = new Watcher(this.issuer, this.witnesses.policy);
  }

  /** The first key: all that a reader is told. */
  get issuer(): string {
    return didOf(this.seeds.issuer[0]);
  }

  async live(): Promise<void> {
    for (let month = 1; month <= this.plan.months; month += 1) await this.#month(month);
  }

  async #month(month: number): Promise<void> {
    const { plan, seeds } = this;
    if (month === plan.witnessDies) this.witnesses.kill('press');
    if ([plan.rollback, plan.fork, plan.freeze].includes(month)) this.#before = copyOf(this.data);
    keyEvents(this.data, month, { plan, seeds });
    this.#observe(month);
    await this.#publish(this.data, month);
    const lack = await this.#cosign(this.data, month);
    if (month === plan.witnessDies) {
      const noticed = [`policy: ${lack ?? 'met'}`];
      this.incidents.push({ month, event: 'a witness dies', noticed });
    }
    await this.#buy(month);
    if (month === plan.freeze) return this.#freeze(month);
    const alarms = await this.#watch(month, this.data);
    const judged = await this.#followed(this.data, month);
    const odd = [...alarms, ...(judged === 'verified' ? [] : [judged])];
    this.falseAlarms.push(...odd.map((each) => `month ${month}: ${each}`));
    if (month === plan.rollback) await this.#rollback(month);
    if (month === plan.fork) await this.#fork(month);
  }

  #observe(month: number, folder = this.#snapshots): void {
    const [observed_at, collected_at] = [10, 11].map((hour) =>
      monthTime(month).replace('T12', `T${hour}`),
    );
    const rows = ['btc', 'eth'].map((coin) =>
      reading(coin, { price_usd: 1000 + this.#random(100_000) }, { observed_at, collected_at }),
    );
    const batch = monthTime(month).slice(0, 10);
    writeSnapshots({ [`${batch}/crypto.spot.ndjson`]: ndjson(rows) }, folder);
  }

  async #publish(data: string, month: number, snapshots = this.#snapshots): Promise<void> {
    // What the disk says of the releases so far, as if each were a month old when the next one came.
    for (const [at, name] of releaseNames(data).reverse().entries()) {
      const then = new Date(Date.now() - (at + 1) * 30 * DAY_MS);
      utimesSync(join(data, RELEASES_FOLDER, name), then, then);
    }
    await compileFolder(snapshots, {
      data,
      asOf: monthTime(month),
      validUntil: monthTime(month, VALID_DAYS),
      ...signersIn(month, this.plan, this.seeds),
    });
  }

  /** What the policy lacks after all witnesses were asked; null for nothing. */
  async #cosign(data: string, month: number): Promise<string | null> {
    this.witnesses.now = Date.parse(monthTime(month)) + 300_000;
    const { fetch, policy, now } = this.witnesses;
    const { lack } = await askWitnesses(data, policy, {
      fetch,
      now: () => now,
      steady: () => now,
      sleep: async () => undefined,
    });
    return lack;
  }

  async #buy(month: number): Promise<void> {
    const service = await compiledService(this.data, monthTime(month, 1));
    const products = PRODUCT_NAMES.filter(
      (_, at) => this.plan.buysAll || month % PRODUCT_NAMES.length === at,
    );
    for (const product of products) {
      const asked = question(PRODUCTS[product]);
      const answered = await answer(asked, service);
      if (answered.kind !== 'content') throw new Error(`Cannot sell "${PRODUCTS[product]}"`);
      const { body } = await proven(answered.content, asked, service);
      this.bodies.push({ month, product, text: body.toString('utf8') });
    }
  }

  /** Alarms at addresses that show these folders, so many days after the release; proven ones last, and are told once. */
  async #watch(month: number, shop: string, { mirror = shop, days = 1 } = {}): Promise<string[]> {
    const kinds = await this.#watcher.sees(shop, mirror, monthTime(month, days));
    const news = kinds.filter((kind) => !this.#proven.has(kind));
    for (const verdict of this.#watcher.verdicts()) {
      const [kind = ''] = verdict.split(' ');
      for (const each of kind === 'heads' ? ['release_fork'] : [kind]) this.#proven.add(each);
    }
    return news.map((kind) => `monitor: ${kind}`);
  }

  /** What a reader is told who remembers each release that was verified before. */
  async #followed(data: string, month: number, days = 1): Promise<string> {
    const save = (text: string): void => {
      this.#memory = text;
    };
    const { exitCode, text } = await runVerify(data, {
      issuer: [this.issuer],
      memory: { text: this.#memory, save },
      now: Date.parse(monthTime(month, days)),
      policy: this.witnesses.policy,
    });
    const lines = text.split('\n').filter((line) => /^ +FAIL|\bstale:/.test(line));
    return exitCode === 0 ? 'verified' : lines.map((line) => line.trim()).join('; ');
  }

  /** The address shows what it showed a month ago. */
  async #rollback(month: number): Promise<void> {
    const noticed = await this.#watch(month, this.#before, { days: 2 });
    noticed.push(`verify --remember: ${await this.#followed(this.#before, month)}`);
    this.incidents.push({ month, event: 'rollback', noticed });
  }

  /** Whoever has the key, and the data of a month ago, signs another history, and shows it at the other address. */
  async #fork(month: number): Promise<void> {
    const fork = copyOf(this.#before);
    const snapshots = copyOf(this.#snapshots);
    this.#observe(month, snapshots);
    await this.#publish(fork, month, snapshots);
    const lack = await this.#cosign(fork, month);
    const noticed = await this.#watch(month, this.data, { mirror: fork, days: 3 });
    noticed.push(
      ...this.#watcher.verdicts().map((verdict) => `evidence: ${verdict}`),
      `policy: ${lack}`,
      `verify --remember: ${await this.#followed(fork, month)}`,
    );
    this.incidents.push({ month, event: 'fork', noticed });
  }

  /** The addresses go on showing the release of a month ago, beyond the time that it promised. */
  async #freeze(month: number): Promise<void> {
    const noticed = await this.#watch(month, this.#before, { days: 15 });
    noticed.push(`verify: ${await this.#followed(this.#before, month, 15)}`);
    this.incidents.push({ month, event: 'freeze', noticed });
    await this.#followed(this.data, month);
  }
}

function copyOf(folder: string): string {
  const copy = join(makeFolder(), 'copy');
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

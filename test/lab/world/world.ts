import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { hostsOf, rowOf } from '../../../compiler/catalog/register.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../../compiler/format/iso-time.ts';
import { agencyClient } from '../../../compiler/sources/fetch/agency-client.ts';
import { everyMsOf } from '../../../compiler/sources/fetch/fetch-cli.ts';
import type { SourceReport } from '../../../compiler/sources/fetch/sources-runner.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import { PACKAGE_FOLDER } from '../../../compiler/system/package-folder.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { answer } from '../../../gatekeeper/heart/answers/answers.ts';
import { compiledService, question } from '../../gatekeeper/tiny-service.ts';
import { SEED } from '../../snapshot-folder.ts';
import { Agency } from '../../sources/fetch/agency.ts';
import type { Play } from '../../sources/fetch/agency-payloads.ts';
import { PlayedShop } from '../../sources/fetch/played-shop.ts';
import { campaign, seeded } from '../campaign.ts';
import { didOf } from '../five-years/plan.ts';
import { AGENCIES, FAULTS, type Fault, OTHER_CERTIFICATE, type WorldAgency } from './agencies.ts';
import {
  factsAt,
  growth,
  lossesOf,
  type Published,
  rudeness,
  Stored,
  Truth,
  Turns,
  vagueness,
} from './checks.ts';

const START = '2026-11-20T00:07:00Z';
const IDS = Object.keys(AGENCIES);
const PROGRAM = join(PACKAGE_FOLDER, 'build/compiler/signalpress.js');
/** A stranger to the register; the names of its TLS are its own. */
const NOWHERE = 'http://nowhere.invalid';
/** A supervisor starts a program that was killed after such a time. */
const RESTART_MS = 120_000;
/** The last hours of a day, in which every agency is well. */
const CALM_HOURS = 4;
/** Faults of some entities last until each of them must have been asked. */
const LONG_HOURS = 5;
/** Breaches of a day that are shown at once. */
const SHOWN = 5;
const TIMEOUTS = { connect: 1000, silence: 100, total: 300 };
const KEYS = ['SIGNALPRESS_AIRNOW_KEY', 'SIGNALPRESS_EIA_KEY'];

export interface Plan {
  readonly seed: number;
  readonly hours: number;
  /** Hours from one release to the next. */
  readonly publishEvery: number;
  /** Faults that begin in an hour. */
  readonly faultsAnHour: number;
}

interface Ailing {
  readonly name: string;
  readonly fault: Fault;
  readonly until: number;
}

/** How often a fault was played, was noticed by the program, and did harm. */
interface Tally {
  injected: number;
  noticed: number;
  harmed: number;
}

/** A shop among agencies that fail. */
export class World {
  readonly plan: Plan;
  readonly breaches: string[] = [];
  readonly tallies = new Map<string, Tally>();
  readonly agency = new Agency();
  readonly #shop: PlayedShop;
  readonly #other = createServer(OTHER_CERTIFICATE, (_, response) => response.end());
  readonly #origins: Record<string, string> = {};
  readonly #random: (below: number) => number;
  readonly #truth = new Truth();
  readonly #stored: Stored;
  readonly #turns = new Turns();
  readonly #ailing = new Map<string, Ailing>();
  /** The next ones; what only an agency can play that is asked once a day comes first. */
  readonly #deck: string[] = [];
  #answered = new Map<string, number>();
  #lastPublished = Number.NEGATIVE_INFINITY;
  #releases = 0;
  /** Requests of programs that were killed come from another clock. */
  #judgedFrom = 0;
  #wasKilled = false;
  counts = { steps: 0, requests: 0, verified: 0, bought: 0 };

  constructor(plan: Plan) {
    this.plan = plan;
    this.#random = seeded(plan.seed);
    const plays = Object.fromEntries(IDS.map((id) => [id, this.#play(id)] as const));
    const client = agencyClient({
      userAgent: 'signalpress/test (ops@example.org)',
      origins: this.#origins,
      timeouts: TIMEOUTS,
      bytesMax: 1 << 20,
    });
    this.#shop = new PlayedShop(this.agency, {
      start: START,
      plays,
      everyMs: (id) => everyMsOf(sourceOf(id)),
      by: { client, publish: () => this.#publish() },
    });
    this.#stored = new Stored(this.#shop.snapshots);
    this.#deck.push('page 2 of 3 missing', '304 unasked', ...this.#shuffled(Object.keys(FAULTS)));
  }

  get now(): number {
    return this.#shop.clock.ms;
  }

  /** Lives all hours; `said` gets a line for each day. */
  async live(said: (line: string) => void): Promise<void> {
    await this.agency.open();
    await new Promise<void>((resolve) => this.#other.listen(0, '127.0.0.1', resolve));
    let told = 0;
    try {
      for (let hour = 0; hour < this.plan.hours; hour += 1) {
        await this.#hour(hour);
        const isLast = hour === this.plan.hours - 1;
        if (hour % 24 === 23 || isLast) {
          said(this.#dayLine(hour));
          for (const line of this.breaches.slice(told, told + SHOWN))
            said(`  ${line.slice(0, 400)}`);
          told = this.breaches.length;
        }
      }
    } finally {
      this.#other.close();
      await this.agency.close();
      await this.#shop.close();
    }
  }

  async #hour(hour: number): Promise<void> {
    const begin = Date.parse(START) + hour * HOUR_MS;
    this.#shop.clock.ms = Math.max(this.now, begin);
    this.#spread(hour);
    if (this.#ailing.has('run')) await this.#kill();
    await this.#step(hour);
    this.#shop.clock.ms = Math.max(this.now, begin + HOUR_MS / 2);
    await this.#step(hour);
    this.breaches.push(...growth(this.#shop.archive.folder));
  }

  /** Ends faults whose time has come, and begins others; every fault has its turn before one comes again. */
  #spread(hour: number): void {
    for (const [id, { until }] of this.#ailing) if (until <= hour) this.#ailing.delete(id);
    const isCalm = hour % 24 >= 24 - CALM_HOURS || hour >= this.plan.hours - CALM_HOURS;
    if (isCalm) this.#ailing.clear();
    if (this.#deck.length < Object.keys(FAULTS).length) {
      this.#deck.push(...this.#shuffled(Object.keys(FAULTS)));
    }
    for (let count = 0; count < this.plan.faultsAnHour && !isCalm; count += 1) {
      const begun = this.#deck.findIndex((name) => this.#begin(name, hour));
      if (begun >= 0) this.#deck.splice(begun, 1);
    }
    this.#playAll();
  }

  #begin(name: string, hour: number): boolean {
    const fault = FAULTS[name] ?? {};
    if (fault.isKill === true) {
      if (this.#ailing.has('run')) return false;
      this.#ailing.set('run', { name, fault, until: hour + 1 });
      return true;
    }
    const status = this.#shop.status();
    const fitting = this.#shuffled(IDS).filter((id) => {
      const due = Date.parse(status.sources[id]?.next_due ?? START);
      const agency = AGENCIES[id];
      if (agency === undefined || this.#ailing.has(id) || due > this.now) return false;
      return fault.fits?.(agency, id) ?? true;
    });
    const [id] = fitting;
    if (id === undefined) return false;
    const isLong = fault.quota !== undefined || fault.dead !== undefined;
    this.#ailing.set(id, {
      name,
      fault,
      until: hour + (isLong ? LONG_HOURS : 1 + this.#random(2)),
    });
    return true;
  }

  #shuffled(names: readonly string[]): string[] {
    return names
      .map((name) => [this.#random(1 << 20), name] as const)
      .sort(([a], [b]) => a - b)
      .map(([, name]) => name);
  }

  /** Moods and places of all agencies, as their faults have it. */
  #playAll(): void {
    this.agency.moods.clear();
    const { port } = this.#other.address() as AddressInfo;
    for (const id of IDS) {
      const { fault } = this.#ailing.get(id) ?? {};
      const { host, entities, partOf } = AGENCIES[id] as WorldAgency;
      for (const one of hostsOf(rowOf(id))) {
        const places = {
          'other-certificate': `https://127.0.0.1:${port}`,
          'no-such-name': NOWHERE,
        };
        const place = fault?.at === undefined ? this.agency.origins([one])[one] : places[fault.at];
        this.#origins[one] = place ?? '';
      }
      const { mood, part = '', dead, quota } = fault ?? {};
      if (mood === undefined || quota !== undefined) continue;
      const parts =
        dead === undefined ? [part] : entities.slice(0, dead).map((one) => partOf?.(one));
      for (const text of parts) this.agency.moods.set(`${host} ${text}`, mood);
    }
  }

  #play(id: string): Play {
    const agency = AGENCIES[id] as WorldAgency;
    return {
      host: agency.host,
      entities: agency.entities,
      reply: (now, path) => {
        const { fault } = this.#ailing.get(id) ?? {};
        const { quota, retryAfter, aheadMs = 0, odd } = fault ?? {};
        this.agency.retryAfter = retryAfter?.(this.now) ?? '';
        const answered = (this.#answered.get(id) ?? 0) + 1;
        this.#answered.set(id, answered);
        if (quota !== undefined && answered >= quota) this.agency.moods.set(agency.host, 'busy');
        const body = agency.body(now + aheadMs, path);
        const change = odd === undefined ? undefined : agency.odd?.[odd];
        return { body: change === undefined ? body : body.replace(...change), type: agency.type };
      },
    };
  }

  async #step(hour: number): Promise<void> {
    const { clock, archive } = this.#shop;
    this.#answered.clear();
    for (const [id, { fault }] of this.#ailing) {
      const { host } = AGENCIES[id] ?? {};
      if (fault.quota !== undefined && host !== undefined) this.agency.moods.delete(host);
    }
    const from = this.agency.asked.length;
    const [began, calm] = [clock.ms, new Map(this.#ailing)];
    this.#truth.learn(began);
    // Of two days one is lived by a job of cron, and one by a process that stays, unless it was killed.
    const isCron = Math.floor(hour / 24) % 2 === 0 || this.#wasKilled;
    this.#wasKilled = false;
    if (isCron) archive.tidy();
    const { sources } = isCron ? await this.#shop.once() : await this.#shop.step();
    for (let at = began; at <= clock.ms; at += HOUR_MS / 4) this.#truth.learn(at);
    this.#truth.learn(clock.ms);
    this.counts.steps += 1;
    const asked = this.agency.asked.slice(from);
    this.counts.requests += asked.length;
    const news = this.#stored.look();
    this.#blame(this.#truth.breaches(news, clock.ms));
    for (const report of sources) this.#judge(report, { began, ailing: calm });
    for (const id of IDS) {
      const { host } = AGENCIES[id] as WorldAgency;
      const own = this.agency.asked
        .slice(this.#judgedFrom)
        .filter((one) => one.host === host && one.at > began - DAY_MS);
      this.#blame(rudeness(own, rowOf(id), began), id);
      const answered = asked.filter((one) => one.host === host && one.status !== 429);
      const paths = answered.map(({ path }) => path);
      this.#blame(this.#turns.after(id, paths), id);
    }
  }

  /** One source in one step. */
  #judge(
    { outcome, failure }: SourceReport,
    { began, ailing }: { began: number; ailing: ReadonlyMap<string, Ailing> },
  ): void {
    const id = outcome.source;
    const { name, fault } = ailing.get(id) ?? {};
    if (failure !== null) this.#blame(vagueness(id, failure), id);
    const { waiting = 0, unread = 0 } = this.#shop.status().sources[id] ?? {};
    if (name === undefined || fault === undefined) {
      if (failure !== null)
        this.#blame([`stopped: ${id} has no fault, and failed: ${failure}`], id);
      if (waiting > 0) return;
      const ended = new Set(factsAt(this.now, id).map((fact) => JSON.stringify(fact)));
      const offered = factsAt(began, id).filter((fact) => ended.has(JSON.stringify(fact)));
      this.#blame(lossesOf(offered, this.#stored.readings), id);
      return;
    }
    const tally = this.#tally(name);
    tally.injected += 1;
    const isNoticed = failure !== null || unread > 0 || outcome.remarks.length > 0;
    if (isNoticed) tally.noticed += 1;
    else if (fault.isHarmless !== true) this.#blame([`unnoticed: ${name} at ${id}`], id);
  }

  #tally(name: string): Tally {
    const tally = this.tallies.get(name) ?? { injected: 0, noticed: 0, harmed: 0 };
    this.tallies.set(name, tally);
    return tally;
  }

  /** Notes breaches, and against the fault that was played. */
  #blame(lines: readonly string[], id = 'run'): void {
    for (const line of lines) {
      const ailing = this.#ailing.get(id);
      if (ailing !== undefined) this.#tally(ailing.name).harmed += 1;
      this.breaches.push(`${isoTime(this.now)} ${line}${ailing ? ` [${ailing.name}]` : ''}`);
    }
  }

  /** A release now and then: what lies between is only counted. */
  async #publish(): Promise<number> {
    this.#releases += 1;
    if (this.now - this.#lastPublished < this.plan.publishEvery * HOUR_MS) return this.#releases;
    this.#lastPublished = this.now;
    await this.#shop.compile();
    await this.#verify();
    await this.#buy();
    return this.#releases;
  }

  async #verify(): Promise<void> {
    const { data } = this.#shop;
    const { exitCode, text } = await runVerify(data, { issuer: [didOf(SEED)], now: this.now });
    this.counts.verified += 1;
    if (exitCode !== 0) this.#blame([`unverified: ${text.slice(0, 300)}`]);
  }

  /** What the shop sells of every entity is what was true when it was observed. */
  async #buy(): Promise<void> {
    const service = await compiledService(this.#shop.data, isoTime(this.now));
    const about = new Set(
      factsAt(this.now).flatMap(({ signal, entity }) =>
        signal.startsWith('mcp') ? [] : `/gauge?entity=${entity}&signal_id=${signal}`,
      ),
    );
    for (const target of about) {
      const answered = await answer(question(target), service);
      if (answered.kind !== 'content') continue;
      const body = JSON.parse(answered.content.body.toString());
      const { entity, signal_id, observed_at, current } = body;
      const sold: Published = { signal: signal_id, entity, at: Date.parse(observed_at), current };
      this.counts.bought += 1;
      this.#blame(this.#truth.breaches([sold], this.now));
    }
  }

  /** Starts the shipped program, and kills it after some of its requests, or while it imports or publishes. */
  async #kill(): Promise<void> {
    const { snapshots, data } = this.#shop;
    const { name = '' } = this.#ailing.get('run') ?? {};
    this.#ailing.delete('run');
    const tally = this.#tally(name);
    tally.injected += 1;
    const config = join(data, '..', 'sources.json');
    const sources = Object.fromEntries(
      Object.entries(AGENCIES).map(([id, { entities }]) => [id, { entities }] as const),
    );
    writeFileSync(config, JSON.stringify({ origins: this.#origins, sources }));
    const clock = `{const D=Date,o=${this.now - Date.now()};globalThis.Date=class extends D{constructor(...a){a.length?super(...a):super(D.now()+o)}static now(){return D.now()+o}}}`;
    const began = performance.now();
    const asked = this.agency.asked.length;
    const child = spawn(
      process.execPath,
      [
        ...[
          '--import',
          `data:text/javascript,${encodeURIComponent(clock)}`,
          PROGRAM,
          'run',
          '--once',
        ],
        ...['--snapshots', snapshots, '--data', data, '--config', config, '--workers', '0'],
        ...['--issuer-name', 'Test issuer', '--base-url', 'https://example.org'],
      ],
      {
        stdio: 'ignore',
        env: {
          ...process.env,
          SIGNALPRESS_ISSUER_KEY: Buffer.from(SEED).toString('hex'),
          SIGNALPRESS_CONTACT: 'mailto:ops@example.org',
          ...Object.fromEntries(KEYS.map((key) => [key, 'key'] as const)),
        },
      },
    );
    const exited = once(child, 'exit');
    const most = asked + 1 + this.#random(12);
    while (child.exitCode === null && this.agency.asked.length < most) {
      if (performance.now() - began > 20_000) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await new Promise((resolve) => setTimeout(resolve, this.#random(300)));
    child.kill('SIGKILL');
    const [code] = await exited;
    if (code === null && this.agency.asked.length > asked) tally.noticed += 1;
    // Done before it could be killed, with some source failing or none.
    else if (code !== 0 && code !== 3) this.breaches.push(`kill: run ended with ${code}`);
    this.#judgedFrom = this.agency.asked.length;
    this.#wasKilled = true;
    this.#shop.clock.ms += performance.now() - began + RESTART_MS;
  }

  #dayLine(hour: number): string {
    const { steps, requests, verified, bought } = this.counts;
    const of = `${this.#stored.readings.size} readings, ${verified} releases verified, ${bought} records bought`;
    return `day ${Math.floor(hour / 24) + 1}: ${steps} steps, ${requests} requests, ${of}, ${this.breaches.length} breaches`;
  }
}

/** How each fault went. */
export function tableOf(tallies: ReadonlyMap<string, Tally>): string[] {
  const row = (cells: readonly (string | number)[]): string =>
    cells
      .map((cell, at) => (at === 0 ? String(cell).padEnd(24) : String(cell).padStart(8)))
      .join(' ');
  return [
    row(['fault', 'injected', 'noticed', 'harmed']),
    ...Object.keys(FAULTS).map((name) => {
      const { injected = 0, noticed = 0, harmed = 0 } = tallies.get(name) ?? {};
      return row([name, injected, noticed, harmed]);
    }),
  ];
}

/**
 * `signalpress run` against agencies that fail in every way, for ten simulated days: what it stores and sells is true, nothing is
 * lost for good, nobody is asked rudely, and each fault is told.
 */
export const experiment = campaign(
  { seed: 24, days: 10, every: 3, faults: 3 },
  async ({ flags, say }) => {
    const { seed, days, every, faults } = flags;
    const plan = { seed, hours: days * 24, publishEvery: every, faultsAnHour: faults };
    const world = new World(plan);
    await world.live(say);
    for (const line of tableOf(world.tallies)) say(line);
    const missed = Object.keys(FAULTS).filter((name) => !world.tallies.has(name));
    return [...world.breaches, ...missed.map((name) => `never played: ${name}`)];
  },
);

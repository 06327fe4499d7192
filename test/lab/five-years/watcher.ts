import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { logOrigin } from '../../../compiler/format/checkpoint.ts';
import { parseDidKey } from '../../../compiler/format/did-key.ts';
import { HOUR_MS, isoTime } from '../../../compiler/format/iso-time.ts';
import type { LogPolicy } from '../../../compiler/format/log-policy.ts';
import { NOTE_KEY } from '../../../compiler/format/verifier-key.ts';
import { checkEvidence, parseEvidence } from '../../../compiler/verify/monitor/evidence.ts';
import { Monitor } from '../../../compiler/verify/monitor/monitor.ts';
import type { MonitorStatus } from '../../../compiler/verify/monitor/monitor-state.ts';
import { readPolicy } from '../../../compiler/verify/policy-check.ts';
import { respond } from '../../../gatekeeper/heart/answers/respond.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/wire/cost.ts';
import { headerFacts } from '../../../gatekeeper/wire/header-facts.ts';
import { compiledService } from '../../gatekeeper/tiny-service.ts';
import { StubWitness } from '../../publish/witness/stub-witness.ts';
import { makeFolder } from '../../snapshot-folder.ts';
import { VirtualClock } from '../../sources/fetch/virtual-clock.ts';

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

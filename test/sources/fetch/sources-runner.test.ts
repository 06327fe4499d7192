import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hostsOf, rowOf } from '../../../compiler/catalog/register.ts';
import { replay } from '../../../compiler/publish/evidence/replay.ts';
import type { AgencyClient } from '../../../compiler/sources/fetch/agency-client.ts';
import { runLoop } from '../../../compiler/sources/fetch/fetch-cli.ts';
import { runMetrics } from '../../../compiler/sources/fetch/run-metrics.ts';
import { NO_SOURCE_STATUS } from '../../../compiler/sources/fetch/sources-runner.ts';
import { systemClock } from '../../../compiler/system/clock.ts';
import { samplesIn } from '../../gatekeeper/logged-service.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { registryPage, server } from '../kit/recorded.ts';
import { Agency, type Reply } from './agency.ts';
import { gaugeAnswer } from './agency-payloads.ts';
import { ALL_PLAYS } from './all-plays.ts';
import { digestsOf, PlayedShop } from './played-shop.ts';
import { VirtualClock } from './test-row.ts';

const NO_STATUS = {
  version: 1 as const,
  updated_at: null,
  imported_through: null,
  compile: { is_due: true, last_success: null, last_error: null, release: null },
  sources: {},
  warned_on: null,
};
const REPORT = { sources: [], settled: 0, release: null, warnings: [], status: NO_STATUS };

/** A runner whose next work comes after so many milliseconds; a step may fail. */
function played(clock: VirtualClock, waits: readonly (number | Error)[]) {
  const stop = new AbortController();
  const faults: unknown[] = [];
  let step = 0;
  const runner = {
    step: async () => {
      const wait = waits[step];
      step += 1;
      if (step === waits.length) stop.abort();
      if (wait instanceof Error) throw wait;
      return REPORT;
    },
    nextWake: () => clock.now() + Number(waits[step - 1]),
  };
  const by = {
    clock,
    signal: stop.signal,
    onStep: () => {},
    onFault: (e: unknown) => faults.push(e),
  };
  return { run: () => runLoop(runner, by), faults, steps: () => step };
}

describe('runLoop()', () => {
  it('waits until something is due, looks now and then, and ends when it is told to', async () => {
    const clock = new VirtualClock('2026-11-20T11:00:00Z');
    const { run, steps } = played(clock, [30_000, 7_200_000, -5, 1]);
    await run();
    expect(steps()).toBe(4);
    expect(clock.waits).toEqual([30_000, 600_000, 1000]);
  });

  it('goes on after a step that failed', async () => {
    const clock = new VirtualClock('2026-11-20T11:00:00Z');
    const { run, faults } = played(clock, [new Error('no space left'), 1]);
    await run();
    expect(faults).toMatchObject([{ message: 'no space left' }]);
    expect(clock.waits).toEqual([300_000]);
  });
});

describe('systemClock()', () => {
  it('wakes up when it is told to end, and does not sleep after that', async () => {
    const stop = new AbortController();
    const clock = systemClock(Date.now, Math.random);
    const slept = clock.sleep(3_600_000, stop.signal);
    stop.abort();
    await slept;
    await clock.sleep(3_600_000, stop.signal);
    await clock.sleep(1);
  });
});

const COMPILE = { is_due: true, last_success: null, last_error: null, release: null };

it('runMetrics() tells of each source, and nothing of a time that is not known', () => {
  const sources = {
    eia: { ...NO_SOURCE_STATUS, consecutive_failures: 2, next_due: '2026-11-29T11:20:00Z' },
    spc: { ...NO_SOURCE_STATUS, unread: 3 },
  };
  const status = { version: 1, updated_at: null, imported_through: null, warned_on: null } as const;
  const text = runMetrics({ ...status, compile: COMPILE, sources });
  const shown = samplesIn(text).map(({ name, labels, value }) => [name, labels.source, value]);
  expect(shown).toEqual([
    ['signalpress_source_failures', 'eia', 2],
    ['signalpress_source_failures', 'spc', 0],
    ['signalpress_source_due_time_seconds', 'eia', 1_795_951_200],
    ['signalpress_source_unread', 'eia', 0],
    ['signalpress_source_unread', 'spc', 3],
    ['signalpress_compile_failed', undefined, 0],
  ]);
  const failed = runMetrics({
    ...status,
    compile: { ...COMPILE, last_error: 'disk full' },
    sources: {},
  });
  expect(samplesIn(failed)).toEqual([{ name: 'signalpress_compile_failed', labels: {}, value: 1 }]);
});

afterAll(removeFolders);

describe('sources that are asked at once', () => {
  const agency = new Agency();
  const shops: PlayedShop[] = [];
  beforeAll(() => agency.open());
  afterAll(() => agency.close());
  afterEach(async () => {
    for (const shop of shops.splice(0)) await shop.close();
  });

  /** Agencies that answer in an order of our own, and what they saw. */
  class OrderedClient implements AgencyClient {
    most = 0;
    readonly asked: string[] = [];
    readonly answered: string[] = [];
    readonly busy: string[] = [];
    twiceAtOnce = 0;
    readonly #waitOf: (turn: number) => number;

    constructor(waitOf: (turn: number) => number) {
      this.#waitOf = waitOf;
    }

    readonly ask: AgencyClient['ask'] = async ({ url }, receive) => {
      const { host } = new URL(url);
      if (this.busy.includes(host)) this.twiceAtOnce += 1;
      this.busy.push(host);
      this.asked.push(host);
      this.most = Math.max(this.most, this.busy.length);
      await new Promise((resolve) => setTimeout(resolve, this.#waitOf(this.asked.length)));
      this.busy.splice(this.busy.indexOf(host), 1);
      this.answered.push(host);
      const play = Object.values(ALL_PLAYS).find(
        (one) => one.host === host && url.includes(one.part ?? ''),
      );
      const body = play?.reply(Date.parse('2026-11-20T11:07:00Z'), url).body ?? '';
      const incoming = await receive(chunksOf(body));
      return { kind: 'payload', headers: {}, incoming };
    };

    async close(): Promise<void> {}
  }

  async function* chunksOf(body: string | Uint8Array) {
    yield Buffer.from(body);
  }

  /** Every source that asks one address, of a host that no other asks. */
  const SEVERAL: ReadonlySet<string> = new Set([
    'bls',
    'cbp-bwt',
    'defillama',
    'hugging-face',
    'mcp-registry',
    'nws-warnings',
    'openfda-device',
  ]);
  const IDS = Object.entries(ALL_PLAYS)
    .filter(
      ([id, { part }]) => !SEVERAL.has(id) && (part === undefined || id === 'open-meteo-archive'),
    )
    .map(([id]) => id);

  async function asked(waitOf: (turn: number) => number, ids = IDS) {
    const client = new OrderedClient(waitOf);
    const publish = async (): Promise<number> => 1;
    const shop = new PlayedShop(agency, { plays: ALL_PLAYS, ids, by: { client, publish } });
    shops.push(shop);
    const { log, exit } = await shop.once();
    return { client, log, exit, stored: digestsOf(shop.snapshots) };
  }

  it('are six at most, and one that is slow does not hold up the others', async () => {
    const { client, exit } = await asked((turn) => (turn === 1 ? 1500 : 5));
    expect(exit).toBe(0);
    expect(client.most).toBe(6);
    expect(client.answered.at(-1)).toBe(client.asked[0]);
    expect(client.asked).toHaveLength(IDS.length);
  });

  it('give the same log and the same batches, whoever answers first', async () => {
    const first = await asked((turn) => 5 + turn);
    const last = await asked((turn) => 5 + ((turn * 13) % 6) * 20);
    expect(last.client.answered).not.toEqual(first.client.answered);
    expect(last.log).toBe(first.log);
    expect(last.stored).toEqual(first.stored);
    const named = first.log.split('\n').flatMap((line) => /^([a-z-]+): \d/.exec(line)?.[1] ?? []);
    expect(named).toEqual([...IDS].sort());
  });

  it('are of different hosts', async () => {
    const ids = ['open-meteo-archive', 'open-meteo-soil-moisture', 'spc', 'nhc'];
    const hosts = ids.map((id) => hostsOf(rowOf(id))[0]);
    expect(new Set(hosts).size).toBe(3);
    const { client, exit } = await asked(() => 20, ids);
    expect({ exit, twiceAtOnce: client.twiceAtOnce, most: client.most }).toEqual({
      exit: 0,
      twiceAtOnce: 0,
      most: 3,
    });
  });
});

describe('hour and midnight', () => {
  const agency = new Agency();
  let shop: PlayedShop;
  beforeAll(() => agency.open());
  afterAll(() => agency.close());
  afterEach(() => shop.close());

  const json = (body: unknown): Reply => ({ body: JSON.stringify(body), type: 'application/json' });
  const publish = async (): Promise<number> => 1;
  const at = (time: string): number => Date.parse(`2026-11-20T${time}Z`);

  /** Rows of a file of a batch, with what its head says of all. */
  function rowsOf(path: string): Record<string, unknown>[] {
    const lines = readFileSync(join(shop.snapshots, path), 'utf8').trimEnd().split('\n');
    const [head = {}, ...rows] = lines.map((line) => JSON.parse(line));
    return rows.map((row) => ({ ...head.header, ...row }));
  }

  describe('a step over the turn of an hour', () => {
    const [FIRST, SECOND] = ['07010000', '07020500'];
    const NWIS = 'https://waterservices.usgs.gov/nwis/iv/?format=json&sites=';
    const RIVERS = '2026-11-20T12Z/hydrology.river-level.ndjson';

    /** Stage of the first river at 10:45, as each step is told it; the second is asked five seconds later. */
    async function reported(stages: readonly (readonly [time: string, stage: number])[]) {
      shop = new PlayedShop(agency, {
        start: '2026-11-20T11:05:00Z',
        ids: ['usgs-nwis'],
        addresses: [FIRST, SECOND].map((site) => `${NWIS}${site}`),
        by: { publish },
      });
      const settled: string[] = [];
      for (const [time, stage] of stages) {
        shop.clock.ms = at(time);
        agency.serve('waterservices.usgs.gov', (path) => {
          const own = path.endsWith(FIRST) ? { [FIRST]: { '10:45': stage } } : null;
          const body = gaugeAnswer(own ?? { [SECOND]: { '10:45': 7, '11:45': shop.clock.ms % 9 } });
          return { body, type: 'application/json' };
        });
        settled.push((await shop.step({ isForced: true })).log);
      }
      const { archive, snapshots } = shop;
      return { log: settled.at(-1), replayed: replay({ snapshots, archive }) };
    }

    it('stores nothing that the agency took back before that hour, as a replay does', async () => {
      const { log, replayed } = await reported([
        ['11:05:00', 2],
        ['11:40:00', 3],
        ['11:59:58', 2],
      ]);
      expect(shop.clock.ms).toBe(at('12:00:03'));
      expect(rowsOf(RIVERS).map(({ entity }) => entity)).not.toContain(FIRST);
      expect(log).not.toContain('waited for this hour');
      expect(replayed).toMatchObject({ differs: [], unshown: [], waiting: [] });
    });

    it('stores and tells what the agency stood by', async () => {
      const { log, replayed } = await reported([
        ['11:05:00', 2],
        ['11:40:00', 3],
        ['11:59:58', 3],
      ]);
      const first = rowsOf(RIVERS).filter(({ entity }) => entity === FIRST);
      expect(first).toMatchObject([{ current: { stage_ft: 3 } }]);
      expect(log).toContain('1 revised readings that waited for this hour are stored');
      expect(replayed).toMatchObject({ differs: [], unshown: [], waiting: [] });
    });
  });

  describe('a list in pages over midnight', () => {
    it('is one capture of the day on which it began, and invents no absence', async () => {
      shop = new PlayedShop(agency, {
        start: '2026-11-20T23:59:59Z',
        ids: ['mcp-registry'],
        by: { publish },
      });
      agency.serve('registry.modelcontextprotocol.io', (path) =>
        path.includes('cursor=')
          ? json(registryPage([server('com.example/two')]))
          : json(registryPage([server('com.example/one')], 'com.example/one:1.0.0')),
      );
      expect(await shop.once()).toMatchObject({ exit: 0 });
      expect(shop.clock.ms).toBe(Date.parse('2026-11-21T00:00:00Z'));
      const notes = shop.archive.fetches();
      expect(notes.map(({ fetched_at }) => fetched_at)).toEqual(
        Array.from({ length: 2 }, () => '2026-11-20T23:59:59Z'),
      );
      // The agency's own clock is told as it was.
      expect(notes.map(({ http_date }) => http_date).sort()).toEqual([
        'Fri, 20 Nov 2026 23:59:59 GMT',
        'Sat, 21 Nov 2026 00:00:00 GMT',
      ]);
      const rows = rowsOf('2026-11-20T23Z/mcp.server.ndjson');
      const captures = rows.map(({ server_id, capture_date }) => [server_id, capture_date]);
      expect(captures.sort()).toEqual([
        ['com.example/one', '2026-11-20'],
        ['com.example/two', '2026-11-20'],
      ]);
    });
  });
});

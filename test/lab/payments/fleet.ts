import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Agent, setGlobalDispatcher } from 'undici';
import { z } from 'zod';
import { PAYEE, type Row, rowSchema, type StallOptions } from '../../chain/stall.ts';
import { type Balancer, startBalancer } from '../../deploy/balancer.ts';
import { freePorts, type GateProcess, gateProcess } from '../../deploy/gate-process.ts';
import { addressOf, startLoad, type Tally } from '../../deploy/load.ts';
import { writeTinyRelease } from '../../gatekeeper/tiny-release.ts';
import { type PostgresServer, startPostgres } from '../../postgres/postgres-server.ts';
import { campaign } from '../campaign.ts';
import { choose, draw } from './client.ts';
import { closingReport, isClean, runCampaign, type TestedShop } from './run-campaign.ts';

/**
 * The payment campaign with three gatekeepers on one PostgreSQL behind HAProxy: gatekeepers, database and balancer are
 * killed at random; afterwards every gatekeeper is restarted under load, without a failed answer. Needs haproxy and
 * openssl, and npm run test:chain and test:postgres to have run once.
 */
export const experiment = campaign(
  { seed: 1, purchases: 500, parallel: 24, minutes: 1e6 },
  async ({ flags, say, progress }) => {
    const options = {
      ...flags,
      ...({ settler: 'facilitators', journal: 'shared' } as const),
      progress: (done: number) => progress(done, flags.purchases),
    };
    let fleet: Fleet | null = null;
    const open = async (stall: StallOptions): Promise<Fleet> => {
      fleet = await openFleet({ ...stall, seed: flags.seed });
      setGlobalDispatcher(new Agent({ connect: { ca: fleet.ca } }));
      return fleet;
    };
    const report = await runCampaign({ ...options, open });
    const opened = fleet as Fleet | null;
    const rolling = opened?.rolling() ?? null;
    say(closingReport({ ...options, purchases: report.stories.length }, report));
    say(`killed: ${JSON.stringify(opened?.killed)}`);
    say(
      `rolling restart under load: ${rolling?.answers} answers, ${rolling?.purchases} purchases, failed answers: ${rolling?.failed}`,
    );
    return [
      ...(isClean(report) ? [] : ['the campaign is not clean']),
      ...(rolling?.failures ?? []),
      ...(rolling?.failed === 0 && rolling.purchases > 0 ? [] : ['the rolling restart failed']),
    ];
  },
);

const GATES = 3;
/** Seconds in which a gatekeeper goes on serving while the health check of haproxy.cfg finds that it stops. */
const DRAIN_S = 3;
/** Time for that check to find a gatekeeper that is back. */
const FOUND_MS = 2500;
const LOAD_BUYERS = 6;
const VICTIMS = [
  ['gatekeeper', 12],
  ['database', 3],
  ['balancer', 2],
] as const;
type Victim = (typeof VICTIMS)[number][0];

/** Three gatekeepers with one PostgreSQL, behind HAProxy with the file of gatekeeper/deploy. */
interface Fleet extends TestedShop {
  /** The certificate of the balancer. */
  readonly ca: string;
  readonly killed: Readonly<Record<Victim, number>>;
  /** What buyers got while every gatekeeper was restarted in turn; null before that. */
  readonly rolling: () => Tally | null;
}

async function openFleet(options: StallOptions & { readonly seed: number }): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-fleet-'));
  const dataDir = join(folder, 'data');
  writeTinyRelease(dataDir);
  const database = await startPostgres();
  const journalUrl = await database.freshUrl();
  const ports = await freePorts(GATES);
  const gates = ports.map((port, place) => {
    const env = {
      ...environment(options, dataDir, journalUrl),
      SIGNALPRESS_STATE: `state-${place}`,
    };
    return gateProcess({ port, cwd: folder, env });
  });
  const parts = { gates, database, balancer: await startBalancer({ kind: 'haproxy', ports }) };
  for (const gate of gates) await gate.start();
  await pause(FOUND_MS);
  return fleetOf(parts, { folder, dataDir, journalUrl, seed: options.seed, chain: options.chain });
}

interface FleetParts {
  readonly gates: readonly GateProcess[];
  readonly database: PostgresServer;
  readonly balancer: Balancer;
}

interface FleetPlace extends Pick<StallOptions, 'chain'> {
  readonly folder: string;
  readonly dataDir: string;
  readonly journalUrl: string;
  readonly seed: number;
}

function environment(
  { chain, facilitatorUrl, env }: StallOptions,
  dataDir: string,
  journalUrl: string,
): Record<string, string> {
  const settler =
    facilitatorUrl === undefined ? {} : { SIGNALPRESS_FACILITATOR_URL: facilitatorUrl };
  return {
    SIGNALPRESS_DATA: dataDir,
    SIGNALPRESS_JOURNAL: journalUrl,
    SIGNALPRESS_PAY_TO: PAYEE,
    SIGNALPRESS_NETWORK: chain.network.name,
    SIGNALPRESS_RPC_URL: chain.url,
    SIGNALPRESS_RATE_LIMIT: '0',
    SIGNALPRESS_TRUSTED_PROXY: '127.0.0.1',
    SIGNALPRESS_DRAIN_SECONDS: String(DRAIN_S),
    ...settler,
    ...env,
  };
}

function fleetOf(parts: FleetParts, place: FleetPlace): Fleet {
  const { gates, database, balancer } = parts;
  const killed = { gatekeeper: 0, database: 0, balancer: 0 };
  let kills = 0;
  let revive = async (): Promise<void> => undefined;
  let rolling: Tally | null = null;
  return {
    url: balancer.url,
    ca: balancer.ca,
    hidesBuyers: true,
    dataDir: place.dataDir,
    killed,
    rolling: () => rolling,
    async kill() {
      kills += 1;
      const victim = choose(draw(place.seed, `victim ${kills}`), VICTIMS);
      killed[victim] += 1;
      revive = await end(victim, draw(place.seed, `gate ${kills}`), parts);
    },
    start: () => revive(),
    journal: () => readJournal(place.journalUrl),
    async afterwards() {
      for (const gate of gates) {
        await gate.stop('SIGKILL');
        await gate.start();
      }
      await pause(FOUND_MS);
      rolling = await rollingRestart(parts, place);
    },
    async close() {
      await balancer.close();
      for (const gate of gates) await gate.stop('SIGKILL');
      await database.close();
      rmSync(place.folder, { recursive: true });
    },
  };
}

/** Ends a part without warning; answers what brings it back. */
async function end(
  victim: Victim,
  chance: number,
  parts: FleetParts,
): Promise<() => Promise<void>> {
  const { gates, database, balancer } = parts;
  if (victim === 'gatekeeper') {
    const gate = gates[Math.floor(chance * gates.length)] as GateProcess;
    await gate.stop('SIGKILL');
    return () => gate.start();
  }
  const part = victim === 'database' ? database : balancer;
  await part.kill();
  return () => part.start();
}

/** Restarts each gatekeeper in order while buyers buy, each request once. */
async function rollingRestart(
  { gates, balancer }: FleetParts,
  { chain }: FleetPlace,
): Promise<Tally> {
  const account = 'rolling';
  await chain.mint(addressOf(account), 1_000_000_000n);
  const load = startLoad(balancer.url, { ca: balancer.ca, buyers: LOAD_BUYERS, account });
  for (const gate of gates) {
    await gate.stop('SIGTERM');
    await gate.start();
    await pause(FOUND_MS);
  }
  return load.stop();
}

async function readJournal(url: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      'SELECT key, state, value, tx FROM signalpress.payment ORDER BY id',
    );
    return z.array(rowSchema).parse(rows);
  } finally {
    await client.end();
  }
}

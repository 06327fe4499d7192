import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Child, CORES, pin, startChild } from './child.ts';
import { type GateOptions, startGate } from './gate.ts';
import { load } from './load.ts';
import { boughtBody, type Signer, signerFor } from './stage.ts';
import { median, rate, ratio, ratioText, thrift } from './table.ts';

const PEER_MANIFEST = resolve('test/interop/package.json');
/** Longest load; the payments of a round are used up long before. */
const LOAD_MS = 60_000;

interface RatioRunOptions {
  readonly folder: string;
  readonly rounds: number;
  /** Purchases of one server in one round. */
  readonly payments: number;
  /** Purchases before the first round: the code of a server that has just started is not compiled yet. */
  readonly warmUp: number;
  /** Buyers who wait for an answer at the same time. */
  readonly atOnce: number;
  readonly profile: string | null;
}

interface Seller {
  readonly name: string;
  readonly child: Child;
  /** What it should reach of the peer. */
  readonly goal: number | null;
  readonly samples: RatioSample[];
}
interface RatioSample {
  readonly perSecond: number;
  readonly cpuMicros: number;
  /** Share of one core that the buyers and the facilitator took together; near 1 they are what is measured. */
  readonly restBusy: number;
}

/** Measures all sellers in interleaved rounds and prints one row for each. */
export async function ratioRun(options: RatioRunOptions): Promise<void> {
  const children: Child[] = [];
  try {
    const { sellers, stub, sign } = await open(options, children);
    const { atOnce } = options;
    for (const seller of sellers)
      await buy(seller, stub, { requests: sign(options.warmUp), atOnce });
    for (let round = 0; round < options.rounds; round++) {
      for (const seller of sellers) {
        const requests = sign(options.payments);
        seller.samples.push(await buy(seller, stub, { requests, atOnce }));
      }
    }
    print(sellers);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

async function open(
  options: RatioRunOptions,
  children: Child[],
): Promise<{ sellers: readonly Seller[]; stub: Child; sign: Signer }> {
  const { folder } = options;
  const started = async (starting: Promise<Child>, core: string): Promise<Child> => {
    const child = await starting;
    children.push(child);
    pin(child.pid, core);
    return child;
  };
  pin(process.pid, CORES.rest);
  const stub = await started(startChild({ kind: 'facilitator' }), CORES.rest);
  const facilitator = `http://127.0.0.1:${stub.port}`;
  const gate = (name: string, role: Omit<GateOptions, 'folder'>) =>
    started(startGate({ folder, ...role, execArgv: profiling(options, name) }), CORES.server);
  const both = await gate('verify-and-settle', { facilitator, verify: 'always' });
  const settle = await gate('settle-only', { facilitator, verify: 'settle-only' });
  const inside = await gate('inside', { facilitator: null });
  const sign = await signerFor(both.port);
  const sellers = [
    seller('gatekeeper, verify and settle', both, null),
    seller('gatekeeper, settle only', settle, 6),
    seller('gatekeeper, facilitator inside', inside, null),
  ];
  const body = await boughtBody(both.port, sign);
  const floor = (calls: readonly string[]) =>
    started(startChild({ kind: 'floor', facilitator, calls, body }), CORES.server);
  sellers.push(seller('floor, verify and settle', await floor(['/verify', '/settle']), null));
  sellers.push(seller('floor, settle only', await floor(['/settle']), null));
  sellers.push(seller('floor, no call', await floor([]), null));
  if (existsSync(join(PEER_MANIFEST, '../node_modules'))) {
    const peer = startChild({ kind: 'peer', manifest: PEER_MANIFEST, facilitator, body });
    sellers.push(seller(PEER, await started(peer, CORES.server), null));
  } else {
    console.log('x402-express is not installed; npm run test:interop installs it\n');
  }
  return { sellers, stub, sign };
}

const PEER = 'x402-express, verify and settle';

function seller(name: string, child: Child, goal: number | null): Seller {
  return { name, child, goal, samples: [] };
}

function profiling({ profile }: RatioRunOptions, name: string): string[] {
  return profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile, name)}`];
}

interface Buyers {
  readonly requests: readonly Buffer[];
  readonly atOnce: number;
}

async function buy({ child }: Seller, stub: Child, buyers: Buyers): Promise<RatioSample> {
  const before = [child.usage(), stub.usage()] as const;
  const own = process.cpuUsage();
  const { port } = child;
  const { requests, atOnce: connections } = buyers;
  const by = { port, connections, requests, ms: LOAD_MS };
  const { answers, ms } = await load({ ...by, status: 200 });
  const { user, system } = process.cpuUsage(own);
  const after = [child.usage(), stub.usage()] as const;
  return {
    perSecond: (1000 * answers) / ms,
    cpuMicros: (1000 * (after[0].cpuMs - before[0].cpuMs)) / answers,
    restBusy: ((user + system) / 1000 + after[1].cpuMs - before[1].cpuMs) / ms,
  };
}

function print(sellers: readonly Seller[]): void {
  console.log(columns(['seller', 'buys/s', 'us CPU', 'rest', 'x peer', 'x peer CPU', 'target']));
  const peer = sellers.find(({ name }) => name === PEER)?.samples ?? [];
  for (const { name, goal, samples } of sellers) {
    const [speed, cpu] = [ratio(samples, peer, rate), ratio(samples, peer, thrift)];
    const word = speed >= (goal ?? 0) ? 'reached' : 'MISSED';
    console.log(
      columns([
        name,
        median(samples.map(({ perSecond }) => perSecond)).toFixed(0),
        median(samples.map(({ cpuMicros }) => cpuMicros)).toFixed(0),
        `${(100 * median(samples.map(({ restBusy }) => restBusy))).toFixed(0)} %`,
        ratioText(speed),
        ratioText(cpu),
        goal === null || Number.isNaN(speed) ? '-' : `${goal} ${word}`,
      ]),
    );
  }
}

function columns(cells: readonly string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(12))).join('');
}

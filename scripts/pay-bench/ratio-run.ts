import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { median } from '../median.ts';
import { type Child, startChild } from '../serve-bench/child.ts';
import { load } from '../serve-bench/load.ts';
import { boughtBody, type Signer, signerFor } from './stage.ts';

const PEER_MANIFEST = resolve('test/interop/package.json');
/** Longest load; the payments of a round are used up long before. */
const LOAD_MS = 60_000;
/** The cores of a pinned run: one for the server under load, the other for everything else. */
const CORES = { server: '0', rest: '1' } as const;

export interface RatioRunOptions {
  readonly folder: string;
  readonly rounds: number;
  /** Purchases of one server in one round. */
  readonly payments: number;
  /** Purchases before the first round: the code of a server that has just started is not compiled yet. */
  readonly warmUp: number;
  /** Buyers who wait for an answer at the same time. */
  readonly atOnce: number;
  readonly pin: boolean;
  readonly profile: string | null;
}

interface Seller {
  readonly name: string;
  readonly child: Child;
  /** What it should reach of the peer. */
  readonly goal: number | null;
  readonly samples: Sample[];
}
interface Sample {
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
  const start = async (...args: Parameters<typeof startChild>): Promise<Child> => {
    const child = await startChild(...args);
    children.push(child);
    return child;
  };
  if (options.pin) pin(process.pid, CORES.rest);
  const stub = await start({ kind: 'facilitator' });
  const facilitator = `http://127.0.0.1:${stub.ports[0]}`;
  const gate = (
    name: string,
    role: { facilitator: string | null; verify?: 'always' | 'settle-only' },
  ) => start({ kind: 'gate', folder, ...role }, profiling(options, name));
  const both = await gate('verify-and-settle', { facilitator, verify: 'always' });
  const settle = await gate('settle-only', { facilitator, verify: 'settle-only' });
  const inside = await gate('inside', { facilitator: null });
  const sign = await signerFor(both.ports[0] ?? 0);
  const sellers = [
    seller('gatekeeper, verify and settle', both, 8),
    seller('gatekeeper, settle only', settle, 12),
    seller('gatekeeper, facilitator inside', inside, 5),
  ];
  const body = await boughtBody(both.ports[0] ?? 0, sign);
  const floor = (calls: readonly string[]) => start({ kind: 'floor', facilitator, calls, body });
  sellers.push(seller('floor, verify and settle', await floor(['/verify', '/settle']), null));
  sellers.push(seller('floor, settle only', await floor(['/settle']), null));
  sellers.push(seller('floor, no call', await floor([]), null));
  const peer = await startPeer(start, facilitator, body);
  if (peer !== null) sellers.push(seller(PEER, peer, null));
  if (options.pin) for (const { child } of sellers) pin(child.pid, CORES.server);
  return { sellers, stub, sign };
}

const PEER = 'x402-express, verify and settle';

function seller(name: string, child: Child, goal: number | null): Seller {
  return { name, child, goal, samples: [] };
}

function profiling({ profile }: RatioRunOptions, name: string): string[] {
  if (profile === null) return [];
  return ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${name}.cpuprofile`];
}

/** Moves all threads of a process to one core. */
function pin(pid: number, core: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' });
}

async function startPeer(
  start: typeof startChild,
  facilitator: string,
  body: string,
): Promise<Child | null> {
  if (!existsSync(join(PEER_MANIFEST, '../node_modules'))) {
    console.log('x402-express is not installed; npm run test:interop installs it\n');
    return null;
  }
  return start({ kind: 'peer', manifest: PEER_MANIFEST, facilitator, body });
}

interface Buyers {
  readonly requests: readonly Buffer[];
  readonly atOnce: number;
}

async function buy({ child }: Seller, stub: Child, buyers: Buyers): Promise<Sample> {
  const before = [await child.usage(), await stub.usage()] as const;
  const own = process.cpuUsage();
  const port = child.ports[0] ?? 0;
  const { requests, atOnce: connections } = buyers;
  const by = { port, connections, requests, ms: LOAD_MS };
  const { answers, ms } = await load({ ...by, once: true, status: 200 });
  const { user, system } = process.cpuUsage(own);
  const after = [await child.usage(), await stub.usage()] as const;
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
    const rate = ratio(samples, peer, (own, other) => own.perSecond / other.perSecond);
    const cpu = ratio(samples, peer, (own, other) => other.cpuMicros / own.cpuMicros);
    const word = rate >= (goal ?? 0) ? 'reached' : 'MISSED';
    console.log(
      columns([
        name,
        median(samples.map(({ perSecond }) => perSecond)).toFixed(0),
        median(samples.map(({ cpuMicros }) => cpuMicros)).toFixed(0),
        `${(100 * median(samples.map(({ restBusy }) => restBusy))).toFixed(0)} %`,
        rate.toFixed(2),
        cpu.toFixed(2),
        goal === null || Number.isNaN(rate) ? '-' : `${goal} ${word}`,
      ]),
    );
  }
}

/** Median of the ratios of one round each. */
function ratio(
  left: readonly Sample[],
  right: readonly Sample[],
  of: (own: Sample, other: Sample) => number,
): number {
  return median(
    left.flatMap((own, at) => {
      const other = right[at];
      return other === undefined ? [] : [of(own, other)];
    }),
  );
}

function columns(cells: readonly string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(12))).join('');
}

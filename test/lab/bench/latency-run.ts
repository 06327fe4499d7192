import { type Child, CORES, pin, startChild } from './child.ts';
import { startGate } from './gate.ts';
import { load } from './load.ts';
import { boughtBody, percentile, type Signer, signerFor } from './stage.ts';
import { median } from './table.ts';

const LOAD_MS = 60_000;

interface LatencyRunOptions {
  readonly folder: string;
  readonly rounds: number;
  /** Buyers who buy one thing after the other, all at the same time. */
  readonly buyers: number;
  /** What each of them buys in one round. */
  readonly purchases: number;
  /** How long the facilitator takes for each call: hosted ones take 50 to 1,000 ms. */
  readonly delayMs: number;
}

interface LatencySeller {
  readonly name: string;
  readonly child: Child;
  readonly calls: number;
  /** Percentiles of each round, in milliseconds. */
  readonly p50: number[];
  readonly p99: number[];
}

/**
 * How long buyers wait, at gatekeepers and at floors over one slow facilitator, in turns. Each begins somewhere within
 * the time of one call, like buyers who do not know of each other.
 */
export async function latencyRun(options: LatencyRunOptions): Promise<void> {
  const children: Child[] = [];
  try {
    const { sellers, sign } = await open(options, children);
    for (const seller of sellers) await buy(seller, sign, options);
    for (let round = 0; round < options.rounds; round++) {
      for (const seller of sellers) {
        const waits = await buy(seller, sign, options);
        seller.p50.push(percentile(waits, 0.5));
        seller.p99.push(percentile(waits, 0.99));
      }
    }
    print(sellers, options);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

async function open(
  { folder, delayMs }: LatencyRunOptions,
  children: Child[],
): Promise<{ sellers: readonly LatencySeller[]; sign: Signer }> {
  const started = async (starting: Promise<Child>, core: string): Promise<Child> => {
    const child = await starting;
    children.push(child);
    pin(child.pid, core);
    return child;
  };
  pin(process.pid, CORES.rest);
  const stub = await started(startChild({ kind: 'facilitator', delayMs }), CORES.rest);
  const facilitator = `http://127.0.0.1:${stub.port}`;
  const gate = (verify: 'always' | 'settle-only') =>
    started(startGate({ folder, facilitator, verify }), CORES.server);
  const settle = await gate('settle-only');
  const both = await gate('always');
  const sign = await signerFor(settle.port);
  const body = await boughtBody(settle.port, sign);
  const floor = await started(
    startChild({ kind: 'floor', facilitator, calls: ['/settle'], body }),
    CORES.server,
  );
  const sellers = [
    seller('settle only', settle, 1),
    seller('floor, settle only', floor, 1),
    seller('verify and settle', both, 2),
  ];
  return { sellers, sign };
}

function seller(name: string, child: Child, calls: number): LatencySeller {
  return { name, child, calls, p50: [], p99: [] };
}

async function buy(
  { child }: LatencySeller,
  sign: Signer,
  { buyers, purchases, delayMs }: LatencyRunOptions,
): Promise<readonly number[]> {
  const requests = sign(buyers * purchases);
  const by = { port: child.port, connections: buyers, requests, ms: LOAD_MS };
  const { waits } = await load({ ...by, spreadMs: delayMs, status: 200 });
  return waits;
}

function print(sellers: readonly LatencySeller[], { buyers, delayMs }: LatencyRunOptions): void {
  console.log(`\n${buyers} buyers, facilitator takes ${delayMs} ms a call; beyond the calls:`);
  for (const { name, calls, p50, p99 } of sellers) {
    const [middle, tail] = [median(p50) - calls * delayMs, median(p99) - calls * delayMs];
    const figures = `p50 ${middle.toFixed(1)} ms, p99 ${tail.toFixed(1)} ms`;
    console.log(`  ${name.padEnd(20)} ${calls} x ${delayMs} ms + ${figures}`);
  }
}

import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import {
  aimed,
  type BenchGround,
  bench,
  columns,
  compileSample,
  median,
  percentile,
  pin,
  rate,
  ratio,
  ratioText,
  type Sample,
  type Server,
  thrift,
} from '../bench.ts';
import { boughtBody, type Signer, signerFor } from './buyers.ts';
import { load } from './load.ts';

const OPTIONS = {
  ...{ only: '', rounds: 5, payments: 4000, buyers: 1000, 'cpu-prof': '' },
  /** Purchases before the first round: the code of a server that has just started is not compiled yet. */
  'warm-up': 12_000,
  /** Buyers who wait for an answer at the same time. */
  'at-once': 256,
};
type Ground = BenchGround<typeof OPTIONS>;

/** Longest load; the payments of a round are used up long before. */
const LOAD_MS = 60_000;

/**
 * Purchases at the shipped program, its log and its journal on, in interleaved rounds of one run, each server on one core,
 * buyers and facilitator on the other. Needs Linux. `--only` runs one of the four.
 */
export const experiment = bench(OPTIONS, async (ground) => {
  await compileSample(ground.folder);
  for (const [name, run] of Object.entries({ ratio: ratios, latency, crowd, slow })) {
    if (ground.flags.only === '' || ground.flags.only === name) await run(ground);
  }
});

/**
 * Purchases a second beside x402-express, both against one instant facilitator. "rest" is the share of one core that buyers
 * and facilitator took: they bound what is measured when it nears 100 %. "floor" is what nobody can beat on this machine
 * who recovers a signature and calls the facilitator over node:http and undici.
 */
async function ratios(ground: Ground): Promise<void> {
  const { sellers, stub, sign } = await openSellers(ground);
  const { rounds, payments, 'warm-up': warmUp, 'at-once': atOnce } = ground.flags;
  for (let round = 0; round <= rounds; round += 1) {
    for (const { child, samples } of sellers) {
      const requests = sign(round === 0 ? warmUp : payments);
      const sample = await sampleOf(child, stub, requests, atOnce);
      if (round > 0) samples.push(sample);
    }
    ground.progress(round, rounds);
  }
  printRatios(sellers, ground.say);
  await Promise.all([...sellers.map(({ child }) => child.stop()), stub.stop()]);
}

interface Seller {
  readonly name: string;
  readonly child: Server;
  /** What it should reach of the peer. */
  readonly goal: number | null;
  readonly samples: RatioSample[];
}
interface RatioSample extends Sample {
  /** Share of one core that the buyers and the facilitator took together; near 1 they are what is measured. */
  readonly restBusy: number;
}

const PEER_MANIFEST = resolve('test/interop/package.json');
const PEER = 'x402-express, verify and settle';

async function openSellers(
  ground: Ground,
): Promise<{ sellers: readonly Seller[]; stub: Server; sign: Signer }> {
  const { folder, flags, say } = ground;
  pin(process.pid, 'rest');
  const stub = await ground.server({ kind: 'facilitator' }, 'rest');
  const facilitator = `http://127.0.0.1:${stub.port}`;
  const sellers: Seller[] = [];
  const selling = async (name: string, starting: Promise<Server>, goal: number | null = null) => {
    const child = await starting;
    sellers.push({ name, child, goal, samples: [] });
    return child;
  };
  const gate = (name: string, how: object) => {
    const into = flags['cpu-prof'];
    const execArgv = into === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(into, name)}`];
    return ground.gate({ folder, ...how, execArgv, core: 'server' });
  };
  const always = gate('verify-and-settle', { facilitator, verify: 'always' });
  const { port } = await selling('gatekeeper, verify and settle', always);
  const settle = gate('settle-only', { facilitator, verify: 'settle-only' });
  await selling('gatekeeper, settle only', settle, 6);
  await selling('gatekeeper, facilitator inside', gate('inside', {}));
  const body = await boughtBody(port);
  for (const [name, calls] of [
    ['verify and settle', ['/verify', '/settle']],
    ['settle only', ['/settle']],
    ['no call', []],
  ] as const) {
    const role = { kind: 'floor', facilitator, calls, body } as const;
    await selling(`floor, ${name}`, ground.server(role, 'server'));
  }
  if (existsSync(join(PEER_MANIFEST, '../node_modules'))) {
    const role = { kind: 'peer', manifest: PEER_MANIFEST, facilitator, body } as const;
    await selling(PEER, ground.server(role, 'server'));
  } else say('x402-express is not installed; npm run test:interop installs it\n');
  const others = sellers.map(({ child }) => child.port).filter((each) => each !== port);
  return { sellers, stub, sign: await signerFor(port, ...others) };
}

async function sampleOf(
  child: Server,
  stub: Server,
  requests: readonly Buffer[],
  connections: number,
): Promise<RatioSample> {
  const before = [child.usage(), stub.usage()] as const;
  const own = process.cpuUsage();
  const by = { port: child.port, connections, requests, ms: LOAD_MS };
  const { answers, ms } = await load({ ...by, status: 200 });
  const { user, system } = process.cpuUsage(own);
  const after = [child.usage(), stub.usage()] as const;
  return {
    perSecond: (1000 * answers) / ms,
    cpuMicros: (1000 * (after[0].cpuMs - before[0].cpuMs)) / answers,
    restBusy: ((user + system) / 1000 + after[1].cpuMs - before[1].cpuMs) / ms,
  };
}

const WIDTHS = [34, 12, 12, 12, 12, 12, 12];

function printRatios(sellers: readonly Seller[], say: Ground['say']): void {
  const peer = sellers.find(({ name }) => name === PEER)?.samples ?? [];
  say(columns(WIDTHS, ['seller', 'bought/s', 'us CPU', 'rest', 'x peer', 'x peer, CPU', 'goal']));
  for (const { name, goal, samples } of sellers) {
    const [speed, cpu] = [ratio(samples, peer, rate), ratio(samples, peer, thrift)];
    say(
      columns(WIDTHS, [
        name,
        median(samples.map(({ perSecond }) => perSecond)).toFixed(0),
        median(samples.map(({ cpuMicros }) => cpuMicros)).toFixed(0),
        `${(100 * median(samples.map(({ restBusy }) => restBusy))).toFixed(0)} %`,
        ratioText(speed),
        ratioText(cpu),
        goal === null || Number.isNaN(speed) ? '-' : `${goal} ${aimed(speed >= goal)}`,
      ]),
    );
  }
}

/** Buyers at a facilitator that takes a while, and what each of them buys in one round: hosted ones take 50 to 1,000 ms. */
const PATIENT = { buyers: 100, purchases: 6, delayMs: 300 };

/**
 * How long buyers wait, at gatekeepers and at floors over one slow facilitator, in turns. Each begins somewhere within
 * the time of one call, like buyers who do not know of each other.
 */
async function latency(ground: Ground): Promise<void> {
  const { folder, flags, say } = ground;
  const { buyers, purchases, delayMs } = PATIENT;
  pin(process.pid, 'rest');
  const stub = await ground.server({ kind: 'facilitator', delayMs }, 'rest');
  const facilitator = `http://127.0.0.1:${stub.port}`;
  const gate = (verify: 'always' | 'settle-only') =>
    ground.gate({ folder, facilitator, verify, core: 'server' });
  const settle = await gate('settle-only');
  const both = await gate('always');
  const sign = await signerFor(settle.port, both.port);
  const body = await boughtBody(settle.port);
  const role = { kind: 'floor', facilitator, calls: ['/settle'], body } as const;
  const sellers = [
    { name: 'settle only', child: settle, calls: 1 },
    { name: 'floor, settle only', child: await ground.server(role, 'server'), calls: 1 },
    { name: 'verify and settle', child: both, calls: 2 },
  ].map((seller) => ({ ...seller, p50: [] as number[], p99: [] as number[] }));
  for (let round = 0; round <= flags.rounds; round += 1) {
    for (const { child, p50, p99 } of sellers) {
      const requests = sign(buyers * purchases);
      const by = { port: child.port, connections: buyers, requests, ms: LOAD_MS };
      const { waits } = await load({ ...by, spreadMs: delayMs, status: 200 });
      if (round === 0) continue;
      p50.push(percentile(waits));
      p99.push(percentile(waits, 0.99));
    }
  }
  say(`\n${buyers} buyers, facilitator takes ${delayMs} ms a call; beyond the calls:`);
  for (const { name, child, calls, p50, p99 } of sellers) {
    const [middle, tail] = [median(p50) - calls * delayMs, median(p99) - calls * delayMs];
    const figures = `p50 ${middle.toFixed(1)} ms, p99 ${tail.toFixed(1)} ms`;
    say(`  ${name.padEnd(20)} ${calls} x ${delayMs} ms + ${figures}`);
    await child.stop();
  }
}

/** How much longer the slowest of a hundred buyers may wait than the middle one. */
const TAIL_MAX = 3;

/** How fairly buyers are served who all ask at once, one purchase after the other, with an instant facilitator. */
async function crowd(ground: Ground): Promise<void> {
  const { folder, say } = ground;
  const { rounds, buyers, payments } = ground.flags;
  pin(process.pid, 'rest');
  const stub = await ground.server({ kind: 'facilitator' }, 'rest');
  const facilitator = `http://127.0.0.1:${stub.port}`;
  const gate = await ground.gate({ folder, facilitator, verify: 'settle-only', core: 'server' });
  const sign = await signerFor(gate.port);
  const by = { port: gate.port, connections: buyers, ms: LOAD_MS };
  const all: (readonly number[])[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    all.push((await load({ ...by, requests: sign(3 * payments), status: 200 })).waits);
  }
  const [p50, p99] = [0.5, 0.99].map((share) =>
    median(all.slice(1).map((waits) => percentile(waits, share))),
  ) as [number, number];
  say(`\n${buyers} buyers at once, instant facilitator, settle only:`);
  say(
    `  p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms: ${(p99 / p50).toFixed(2)} x; ` +
      `target ${TAIL_MAX} x ${aimed(p99 <= TAIL_MAX * p50)}`,
  );
  await gate.stop();
}

/** How long the facilitator takes for each call. */
const DELAY_MS = 1000;
/** Free answers are asked for one after the other, like one visitor does. */
const FREE = '/gauge/sample?signal_id=airquality.aqi';
/** Longest wait for one answer. */
const WAIT_MS = 60_000;

/** Lets all buyers wait at once for a facilitator that takes a second, and asks for free answers meanwhile. */
async function slow(ground: Ground): Promise<void> {
  const { say, flags } = ground;
  const stub = await ground.server({ kind: 'facilitator', delayMs: DELAY_MS });
  const facilitator = `http://127.0.0.1:${stub.port}`;
  const gate = await ground.gate({ folder: ground.folder, facilitator });
  const { port } = gate;
  const sign = await signerFor(port);
  await Promise.all(sign(50).map((request) => answer(port, request)));
  const idle = await freeAnswers(port, () => false, 500);
  const requests = sign(flags.buyers);
  const before = gate.usage();
  const started = performance.now();
  let isOver = false;
  const peak = peakMemory(gate, () => isOver);
  const free = freeAnswers(port, () => isOver, Number.POSITIVE_INFINITY);
  const statuses = await Promise.all(requests.map((request) => answer(port, request)));
  isOver = true;
  const ms = performance.now() - started;
  const paid = statuses.filter((status) => status === 200).length;
  const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MB`;
  say(`\n${flags.buyers} buyers at once, facilitator takes ${DELAY_MS} ms to settle:`);
  say(`  ${paid} bought in ${(ms / 1000).toFixed(1)} s, ${flags.buyers - paid} did not`);
  say(`  free answers meanwhile: ${latencyText(await free)}; before: ${latencyText(idle)}`);
  say(
    `  memory: ${megabytes(before.rssBytes)} before, at most ${megabytes(await peak)}, ` +
      `${megabytes(gate.usage().rssBytes)} after`,
  );
}

/** Status of the answer to one request on a connection of its own. */
function answer(port: number, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(request));
    socket.setTimeout(WAIT_MS, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('data', (chunk) => {
      socket.destroy();
      resolve(Number(chunk.toString('latin1', 9, 12)));
    });
  });
}

/** Milliseconds of each free answer. */
async function freeAnswers(port: number, isOver: () => boolean, most: number): Promise<number[]> {
  const request = Buffer.from(`GET ${FREE} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  const times: number[] = [];
  while (!isOver() && times.length < most) {
    const started = performance.now();
    if ((await answer(port, request)) !== 200) throw new Error('Cannot go on: no free answer');
    times.push(performance.now() - started);
  }
  return times;
}

async function peakMemory(gate: Server, isOver: () => boolean): Promise<number> {
  let most = 0;
  while (!isOver()) {
    most = Math.max(most, gate.usage().rssBytes);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return most;
}

/** Median, tail and maximum in words. */
function latencyText(times: readonly number[]): string {
  const at = (share: number): string => percentile(times, share).toFixed(1);
  return `${times.length} answered, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
}

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compileSample } from './compile-sample.ts';
import {
  CASES,
  type Case,
  capture,
  requestBytes,
  type ServerName,
  signedRequests,
} from './serve-bench/cases.ts';
import { type Child, startChild } from './serve-bench/child.ts';
import { load } from './serve-bench/load.ts';
import { type Payer, throwAwayPayer } from './serve-bench/payer.ts';
import type { ReadyAnswer } from './serve-bench/server.ts';
import { caseRows, headRow, type Sample } from './serve-bench/table.ts';

/**
 * Requests a second of the real gatekeeper, beside bare node:http that sends the same bytes and
 * beside x402-express, in interleaved rounds of one run. Judge by the ratios: absolute figures move
 * with the machine. Usage: bench-serve [--rounds 5] [--ms 600] [--cpu-prof FOLDER]
 */
const PEER_MANIFEST = resolve('test/interop/package.json');
const PAYMENTS_PER_LOAD = 4000;
/** Requests at once; a buyer waits longer than a reader, so more of them wait together. */
const CONNECTIONS = { unpaid: 32, paid: 256 };
/** A payment runs through much more code than a challenge, so that it needs longer to be compiled. */
const WARM_UP_MS = { unpaid: 400, paid: 2000 };

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    ms: { type: 'string', default: '600' },
    'cpu-prof': { type: 'string' },
  },
});

interface Stage {
  readonly folder: string;
  readonly payer: Payer;
  readonly children: Child[];
  /** The challenge of the product, for the payments. */
  readonly challenge: ReadyAnswer;
  /** Where each server of each case listens. */
  readonly places: ReadonlyMap<Case, ReadonlyMap<ServerName, Place>>;
}
interface Place {
  readonly port: number;
  readonly child: Child;
}

await main();

async function main(): Promise<void> {
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'bench-serve-'));
  const children: Child[] = [];
  try {
    await compileSample(folder);
    const stage = await openStage(folder, children);
    await measure(stage);
    console.log(`took ${((performance.now() - started) / 1000).toFixed(0)} s`);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openStage(folder: string, children: Child[]): Promise<Stage> {
  const start = async (...args: Parameters<typeof startChild>): Promise<Place> => {
    const child = await startChild(...args);
    children.push(child);
    return { child, port: child.ports[0] ?? 0 };
  };
  const stub = await start({ kind: 'facilitator' });
  const facilitator = `http://127.0.0.1:${stub.port}`;
  const inside = await start({ kind: 'gate', folder, facilitator: null }, profiling('gate-inside'));
  const http = await start({ kind: 'gate', folder, facilitator }, profiling('gate-http'));
  const payer = throwAwayPayer(Date.now());
  const answers = await captureAll(inside.port, payer);
  const bare = await start({ kind: 'bare', answers: [...answers.values()] }, profiling('bare'));
  const peer = await startPeer(start, facilitator, answers);
  const places = CASES.map((one, index) => {
    const gate = one.facilitator === 'inside' ? inside : http;
    const own = new Map<ServerName, Place>([
      ['gatekeeper', gate],
      ['bare', { child: bare.child, port: bare.child.ports[index] ?? 0 }],
    ]);
    if (peer !== null) own.set('x402-express', peer);
    return [one, own] as const;
  });
  const challenge = challengeOf(answers);
  return { folder, payer, children, challenge, places: new Map(places) };
}

function profiling(name: string): string[] {
  const folder = flags['cpu-prof'];
  if (folder === undefined) return [];
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`];
}

async function startPeer(
  start: (...args: Parameters<typeof startChild>) => Promise<Place>,
  facilitator: string,
  answers: ReadonlyMap<Case, ReadyAnswer>,
): Promise<Place | null> {
  if (!existsSync(join(PEER_MANIFEST, '../node_modules'))) {
    console.log('x402-express is not installed; npm run test:interop installs it\n');
    return null;
  }
  const paid = [...answers].find(([one]) => one.paid);
  const body = paid?.[1].body ?? '';
  return start({ kind: 'peer', manifest: PEER_MANIFEST, facilitator, body });
}

/** One real answer for each case; the first payment is spent on it. */
async function captureAll(port: number, payer: Payer): Promise<Map<Case, ReadyAnswer>> {
  const answers = new Map<Case, ReadyAnswer>();
  for (const one of CASES) {
    const payment = one.paid ? paymentFor(payer, challengeOf(answers)) : undefined;
    const answer = await capture(port, one.target, payment);
    if (answer.status !== one.status) {
      throw new Error(`Cannot bench "${one.name}": status ${answer.status}: ${answer.body}`);
    }
    answers.set(one, answer);
  }
  return answers;
}

function paymentFor(payer: Payer, challenge: ReadyAnswer): string {
  const { accepts } = JSON.parse(challenge.body) as {
    accepts: [Parameters<Payer['signPayment']>[0]];
  };
  return payer.signPayment(accepts[0]);
}

function challengeOf(answers: ReadonlyMap<Case, ReadyAnswer>): ReadyAnswer {
  const found = [...answers.values()].find((answer) => answer.status === 402);
  if (found === undefined) throw new Error('Cannot pay: no case shows a challenge');
  return found;
}

async function measure(stage: Stage): Promise<void> {
  const samples = new Map(CASES.map((one) => [one, new Map<ServerName, Sample[]>()]));
  await round(stage, WARM_UP_MS, () => {});
  const ms = { unpaid: Number(flags.ms), paid: Number(flags.ms) };
  for (let count = 0; count < Number(flags.rounds); count++) {
    await round(stage, ms, (one, name, sample) => {
      const own = samples.get(one);
      own?.set(name, [...(own.get(name) ?? []), sample]);
    });
  }
  console.log(headRow());
  for (const [one, own] of samples) console.log(caseRows(one, own).join('\n'));
}

type Note = (one: Case, name: ServerName, sample: Sample) => void;

interface Durations {
  readonly unpaid: number;
  readonly paid: number;
}

async function round(stage: Stage, durations: Durations, note: Note): Promise<void> {
  for (const one of CASES) {
    const { payer, challenge } = stage;
    const ms = one.paid ? durations.paid : durations.unpaid;
    const requests = one.paid
      ? signedRequests(payer, challenge, PAYMENTS_PER_LOAD)
      : [requestBytes(one.target)];
    for (const name of one.servers) {
      const place = stage.places.get(one)?.get(name);
      if (place !== undefined) note(one, name, await loadOne(one, place, { requests, ms }));
    }
  }
}

async function loadOne(
  one: Case,
  { port, child }: Place,
  { requests, ms }: { requests: readonly Buffer[]; ms: number },
): Promise<Sample> {
  const before = await child.usage();
  const idle = performance.eventLoopUtilization();
  const connections = one.paid ? CONNECTIONS.paid : CONNECTIONS.unpaid;
  const by = { port, connections, requests, ms };
  const result = await load({ ...by, once: one.paid, status: one.status });
  const { utilization } = performance.eventLoopUtilization(idle);
  const after = await child.usage();
  return {
    perSecond: (1000 * result.answers) / result.ms,
    cpuMicros: (1000 * (after.cpuMs - before.cpuMs)) / result.answers,
    generatorBusy: utilization,
  };
}

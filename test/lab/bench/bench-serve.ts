import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { defined } from '../../../compiler/contract/defined.ts';
import { compileFolder, compileSample } from '../../../scripts/sample/write-sample.ts';
import { CASES, type Case, capture, requestBytes, type ServerName } from './cases.ts';
import { type Child, CORES, pin, startChild } from './child.ts';
import { startGate } from './gate.ts';
import { makeSnapshots } from './generated-snapshots.ts';
import { load } from './load.ts';
import { memoryRun } from './memory-run.ts';
import type { RecordedAnswer } from './server.ts';
import { caseRows, headRow, type Sample } from './table.ts';

/**
 * Unpaid requests a second of the shipped program, its log and its journal on, beside bare node:http that sends the same
 * headers and bytes and beside x402-express, in interleaved rounds of one run: each server on one core, the load on the
 * other. Judge by the ratios: absolute figures move with the machine. Needs Linux.
 * With --memory instead: resident memory of the shipped program with as many records, under free and paid requests for all
 * of them. Compiling 100,000 records takes minutes; --folder keeps them and takes them again.
 * Usage: bench-serve [--rounds 21] [--requests 3000] [--cpu-prof FOLDER]
 *        bench-serve --memory SECONDS [--records 100000] [--folder FOLDER]
 */
const PEER_MANIFEST = resolve('test/interop/package.json');
const CONNECTIONS = 32;
/** A server that has just started has not compiled its code yet: that takes some 40,000 requests. */
const WARM_UP_REQUESTS = 60_000;
/** Longest load; the requests of a round are answered long before. */
const LOAD_MS = 60_000;

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '21' },
    requests: { type: 'string', default: '3000' },
    'cpu-prof': { type: 'string' },
    memory: { type: 'string' },
    records: { type: 'string', default: '100000' },
    folder: { type: 'string' },
  },
});

/** Where each server of each case listens. */
type Places = ReadonlyMap<Case, ReadonlyMap<ServerName, Server>>;
interface Server {
  readonly port: number;
  readonly child: Child;
}

await main();

async function main(): Promise<void> {
  const started = performance.now();
  const folder = flags.folder ?? mkdtempSync(join(tmpdir(), 'bench-serve-'));
  const children: Child[] = [];
  try {
    if (flags.memory === undefined) {
      await compileSample(folder);
      await measure(await openPlaces(folder, children));
    } else {
      if (!existsSync(join(folder, 'data'))) await compileGenerated(folder, Number(flags.records));
      await memoryRun({ folder, seconds: Number(flags.memory) });
    }
    console.log(`took ${((performance.now() - started) / 1000).toFixed(0)} s`);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    if (flags.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Two readings of each record: a series and a change are there. */
async function compileGenerated(folder: string, records: number): Promise<void> {
  makeSnapshots(folder, 2 * records, records);
  await compileFolder(folder, '2026-11-20T12:00:00Z');
}

async function openPlaces(folder: string, children: Child[]): Promise<Places> {
  pin(process.pid, CORES.rest);
  const start = async (starting: Promise<Child>): Promise<Child> => {
    const child = await starting;
    children.push(child);
    pin(child.pid, CORES.server);
    return child;
  };
  const execArgv = profiling('gatekeeper');
  const gate = await start(startGate({ folder, facilitator: null, execArgv }));
  const { port } = gate;
  const answers = await Promise.all(CASES.map((one) => captured(port, one)));
  const bare = await start(startChild({ kind: 'bare', answers }, profiling('bare')));
  const peer = await startPeer(start);
  const places = CASES.map((one, index) => {
    const own = new Map<ServerName, Server>([
      ['gatekeeper', { child: gate, port }],
      ['bare', { child: bare, port: defined(bare.ports[index], 'the port') }],
    ]);
    if (peer !== null) own.set('x402-express', { child: peer, port: peer.port });
    return [one, own] as const;
  });
  return new Map(places);
}

function profiling(name: string): string[] {
  const folder = flags['cpu-prof'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(folder, name)}`];
}

/** What the bare server sends too. */
async function captured(port: number, { name, target, status }: Case): Promise<RecordedAnswer> {
  const answer = await capture(port, target);
  if (answer.status === status) return answer;
  throw new Error(`Cannot bench "${name}": status ${answer.status}: ${answer.body}`);
}

/** A challenge needs no facilitator. */
async function startPeer(
  start: (starting: Promise<Child>) => Promise<Child>,
): Promise<Child | null> {
  if (!existsSync(join(PEER_MANIFEST, '../node_modules'))) {
    console.log('x402-express is not installed; npm run test:interop installs it\n');
    return null;
  }
  const facilitator = 'http://127.0.0.1:9';
  return start(startChild({ kind: 'peer', manifest: PEER_MANIFEST, facilitator, body: '' }));
}

async function measure(places: Places): Promise<void> {
  const samples = new Map(CASES.map((one) => [one, new Map<ServerName, Sample[]>()]));
  await round(places, WARM_UP_REQUESTS, () => {});
  for (let count = 0; count < Number(flags.rounds); count++) {
    await round(places, Number(flags.requests), (one, name, sample) => {
      const own = samples.get(one);
      own?.set(name, [...(own.get(name) ?? []), sample]);
    });
  }
  console.log(headRow());
  for (const [one, own] of samples) console.log(caseRows(one, own).join('\n'));
}

type Note = (one: Case, name: ServerName, sample: Sample) => void;

async function round(places: Places, count: number, note: Note): Promise<void> {
  for (const one of CASES) {
    for (const name of one.servers) {
      const place = places.get(one)?.get(name);
      if (place !== undefined) note(one, name, await loadOne(one, place, count));
    }
  }
}

/** As many requests for every server: a crowded machine makes a round longer, not shorter of answers. */
async function loadOne(one: Case, { port, child }: Server, count: number): Promise<Sample> {
  const requests = Array<Buffer>(count).fill(requestBytes(one.target));
  const before = child.usage();
  const idle = performance.eventLoopUtilization();
  const by = { port, connections: CONNECTIONS, requests, ms: LOAD_MS };
  const result = await load({ ...by, status: one.status });
  const { utilization } = performance.eventLoopUtilization(idle);
  return {
    perSecond: (1000 * result.answers) / result.ms,
    cpuMicros: (1000 * (child.usage().cpuMs - before.cpuMs)) / result.answers,
    generatorBusy: utilization,
  };
}

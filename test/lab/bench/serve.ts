import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defined } from '../../../compiler/format/errors.ts';
import {
  aimed,
  type BenchGround,
  bench,
  columns,
  compileSample,
  median,
  pin,
  rate,
  ratio,
  ratioText,
  type Sample,
  type Server,
  thrift,
} from '../bench.ts';
import { capture, requestBytes } from './buyers.ts';
import { load } from './load.ts';

const PEER_MANIFEST = resolve('test/interop/package.json');
const CONNECTIONS = 32;
/** A server that has just started has not compiled its code yet: that takes some 40,000 requests. */
const WARM_UP_REQUESTS = 60_000;
/** Longest load; the requests of a round are answered long before. */
const LOAD_MS = 60_000;
const OPTIONS = { rounds: 21, requests: 3000, 'warm-up': WARM_UP_REQUESTS, 'cpu-prof': '' };

/**
 * Unpaid requests a second of the shipped program, its log and its journal on, beside bare node:http that sends the same
 * headers and bytes and beside x402-express, in interleaved rounds of one run: each server on one core, the load on the
 * other. Needs Linux.
 */
export const experiment = bench(OPTIONS, async (ground) => {
  const { flags, say, progress } = ground;
  await compileSample(ground.folder);
  const places = await openPlaces(ground);
  const samples = new Map(CASES.map((one) => [one, new Map<ServerName, LoadSample[]>()]));
  for (let count = 0; count <= flags.rounds; count += 1) {
    for (const one of CASES) {
      for (const name of one.servers) {
        const place = places.get(one)?.get(name);
        if (place === undefined) continue;
        const requests = count === 0 ? flags['warm-up'] : flags.requests;
        const sample = await loadOne(one, place, requests);
        const own = samples.get(one);
        if (count > 0) own?.set(name, [...(own.get(name) ?? []), sample]);
      }
    }
    progress(count, flags.rounds);
  }
  const names = ['case', 'server', 'req/s', 'us CPU', 'x bare', 'x bare, CPU', 'x peer'];
  say(columns(WIDTHS, [...names, 'generator'], 2));
  for (const [one, own] of samples) caseRows(one, own).forEach(say);
});

type ServerName = 'gatekeeper' | 'bare' | 'x402-express';

/** One question that servers are asked under load, without a payment. */
interface Case {
  readonly name: string;
  readonly target: string;
  readonly status: 200 | 402;
  readonly servers: readonly ServerName[];
}

/** What the gatekeeper should reach, as a share of node:http that sends the same. */
const LEAST_OF_BARE = 0.85;

const CASES: readonly Case[] = [
  {
    name: 'free file',
    target: '/gauge/sample?signal_id=airquality.aqi',
    status: 200,
    servers: ['gatekeeper', 'bare'],
  },
  {
    name: '402, price question',
    target: '/gauge',
    status: 402,
    servers: ['gatekeeper', 'bare', 'x402-express'],
  },
  {
    name: '402, with query',
    target: '/gauge?signal_id=airquality.aqi&entity=us-denver',
    status: 402,
    servers: ['gatekeeper', 'bare', 'x402-express'],
  },
];

/** Where each server of each case listens. */
type Places = ReadonlyMap<
  Case,
  ReadonlyMap<ServerName, { readonly port: number; readonly child: Server }>
>;

async function openPlaces(ground: BenchGround<typeof OPTIONS>): Promise<Places> {
  const { folder, flags, say } = ground;
  const profiling = (name: string): string[] => {
    const into = flags['cpu-prof'];
    return into === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(into, name)}`];
  };
  pin(process.pid, 'rest');
  const gate = await ground.gate({ folder, execArgv: profiling('gatekeeper'), core: 'server' });
  const { port } = gate;
  const answers = await Promise.all(
    CASES.map(({ target, status }) => capture(port, target, status)),
  );
  const bare = await ground.server({ kind: 'bare', answers }, 'server', profiling('bare'));
  const hasPeer = existsSync(join(PEER_MANIFEST, '../node_modules'));
  if (!hasPeer) say('x402-express is not installed; npm run test:interop installs it\n');
  // A challenge needs no facilitator.
  const facilitator = 'http://127.0.0.1:9';
  const role = { kind: 'peer', manifest: PEER_MANIFEST, facilitator, body: '' } as const;
  const peer = hasPeer ? await ground.server(role, 'server') : null;
  return new Map(
    CASES.map((one, index) => {
      const own = new Map<ServerName, { port: number; child: Server }>([
        ['gatekeeper', { child: gate, port }],
        ['bare', { child: bare, port: defined(bare.ports[index], 'the port') }],
      ]);
      if (peer !== null) own.set('x402-express', { child: peer, port: peer.port });
      return [one, own];
    }),
  );
}

/** One load on one server. */
interface LoadSample extends Sample {
  /** Share of the time that the load generator's own thread was busy, 0..1. */
  readonly generatorBusy: number;
}

/** As many requests for every server: a crowded machine makes a round longer, not shorter of answers. */
async function loadOne(
  one: Case,
  { port, child }: { readonly port: number; readonly child: Server },
  count: number,
): Promise<LoadSample> {
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

type Samples = ReadonlyMap<ServerName, readonly LoadSample[]>;

const WIDTHS = [22, 14, 9, 10, 9, 12, 9, 11];

/** Rows of one case, then what was aimed at; ratios are medians of the ratios of one round. */
function caseRows(one: Case, samples: Samples): string[] {
  const rows = one.servers.flatMap((name) => {
    const own = samples.get(name);
    if (own === undefined) return [];
    const against = (other: ServerName): readonly LoadSample[] =>
      name === other ? [] : (samples.get(other) ?? []);
    const cells = [
      one.name,
      name,
      median(own.map(({ perSecond }) => perSecond)).toFixed(0),
      median(own.map(({ cpuMicros }) => cpuMicros)).toFixed(1),
      ratioText(ratio(own, against('bare'), rate)),
      ratioText(ratio(own, against('bare'), thrift)),
      ratioText(ratio(own, against('x402-express'), rate)),
      `${(100 * median(own.map(({ generatorBusy }) => generatorBusy))).toFixed(0)} %`,
    ];
    return [columns(WIDTHS, cells, 2)];
  });
  const [own = [], bare = []] = [samples.get('gatekeeper'), samples.get('bare')];
  const reached = [ratio(own, bare, rate), ratio(own, bare, thrift)];
  const word = aimed(reached.every((value) => value >= LEAST_OF_BARE));
  const shown = reached.map((value) => value.toFixed(2)).join(', by CPU time ');
  return [...rows, `  ${one.name}: target ${LEAST_OF_BARE} x bare ${word} with ${shown}`];
}

import { spawnSync } from 'node:child_process';
import { campaign, type Experiment } from './campaign.ts';

// `npm run lab` lists the experiments, `npm run lab -- NAME [--option value]` runs one. It exits 1 where a campaign found
// something wrong. Benches only tell what they measured: judge by their ratios, since absolute figures move with the machine.

/** Runs tests in this terminal, and says whether they passed. */
function vitest(args: readonly string[], env: NodeJS.ProcessEnv = {}): readonly string[] {
  return command('npx', ['vitest', 'run', ...args], env);
}

function command(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status } = spawnSync(program, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return status === 0 ? [] : [`${program} ${args.join(' ')}: exit ${status}`];
}

/** Writes `test/golden/wire.txt` again, and `test/lab/long/cli/command-ends.txt`. */
const ledger = campaign({}, async () =>
  vitest([
    '--project',
    'shared',
    '--project',
    'lab',
    'golden/wire',
    'cli/command-ends',
    '--update',
  ]),
);

/** Agents with scripts of their own; what they said is printed with its tokens. */
const agents = campaign({}, async () => {
  const wrong = command('npm', [
    ...['ci', '--prefix', 'test/interop', '--ignore-scripts', '--no-audit', '--no-fund'],
  ]);
  const tests = ['--project', 'interop', 'test/interop/agents.test.ts'];
  return wrong.length > 0 ? wrong : vitest(tests, { SIGNALPRESS_TRANSCRIPTS: '1' });
});

type Row = readonly [about: string, load: () => Promise<{ readonly experiment: Experiment }>];

const EXPERIMENTS: Readonly<Record<string, Row>> = {
  kill: [
    'kill compiles at random instants; what is served stays whole',
    () => import('./kill/kill.ts'),
  ],
  syscalls: [
    'kill a compile, or let it fail, at single system calls (strace)',
    () => import('./kill/syscalls.ts'),
  ],
  'disk-full': [
    'compile on a small disk with ever more room (the right to mount)',
    () => import('./kill/disk-full.ts'),
  ],
  memory: [
    'the memory of a compile is bounded, whatever the size of its input',
    () => import('./kill/memory.ts'),
  ],
  flips: [
    'change one byte of every class in every file; verify names it',
    () => import('./flips/flips.ts'),
  ],
  bits: [
    'change single bits of files and delivered bodies; nobody takes them',
    () => import('./flips/bits.ts'),
  ],
  forgeries: [
    'show forged bodies to every judge; none believes a lie',
    () => import('./forgeries/forgeries.ts'),
  ],
  'five-years': [
    'live five years of a shop, with rotations, thefts, forks',
    () => import('./five-years/five-years.ts'),
  ],
  world: [
    'run against agencies that fail in every way, for ten days',
    () => import('./world/world.ts'),
  ],
  payments: [
    'buy on an own chain under faults and kills (npm run test:chain once)',
    () => import('./payments/payments.ts'),
  ],
  fleet: [
    'the same with three gatekeepers on one PostgreSQL behind HAProxy',
    () => import('./payments/fleet.ts'),
  ],
  conformance: [
    'the official conformance suite of MCP (from npm)',
    () => import('./conformance.ts'),
  ],
  mutants: [
    'change product code in single places; tests have to notice',
    () => import('./mutants/mutants.ts'),
  ],
  vectors: ['write test/vectors/*.json again', () => import('./vectors/vectors.ts')],
  bodies: [
    'write bodies with the verdict of every judge: --into FOLDER',
    () => import('./vectors/bodies.ts'),
  ],
  ledger: [
    'write the ledger of behaviour again: test/golden/wire.txt',
    async () => ({ experiment: ledger }),
  ],
  compile: ['bench: a whole compile beside its floor', () => import('./bench/compile.ts')],
  year: ['bench: an hour in the life of a shop', () => import('./bench/year.ts')],
  serve: [
    'bench: unpaid requests a second beside bare node:http',
    () => import('./bench/serve.ts'),
  ],
  'serve-memory': [
    'bench: resident memory with 100,000 records under load',
    () => import('./bench/serve-memory.ts'),
  ],
  free: [
    'bench: CPU of everything that can be asked without paying',
    () => import('./bench/free.ts'),
  ],
  pay: ['bench: purchases beside x402-express; latency, crowds', () => import('./bench/pay.ts')],
  catalog: ['bench: what a large catalogue costs', () => import('./bench/catalog.ts')],
  search: ['bench: the search over 100,000 entities', () => import('./bench/search.ts')],
  tokens: ['bench: tokens that a model reads of this service', () => import('./bench/tokens.ts')],
  agents: [
    'bench: what agents read and pay until they have a record',
    async () => ({ experiment: agents }),
  ],
};

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !Object.hasOwn(EXPERIMENTS, name)) {
  if (name !== undefined) console.error(`Cannot run "${name}": there is no such experiment\n`);
  for (const [each, [about]] of Object.entries(EXPERIMENTS))
    console.log(`${each.padEnd(12)} ${about}`);
  console.log('\nnpm run lab -- NAME --help shows the options of one.');
  process.exitCode = name === undefined ? 0 : 2;
} else process.exitCode = await run(name, args);

/** The exit code: 1 for what is wrong, 2 for what cannot be run so. */
async function run(name: string, args: readonly string[]): Promise<number> {
  // Whatever it started or wrote down for a while ends with it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(2));
  const { experiment } = (await EXPERIMENTS[name]?.[1]()) ?? {};
  if (experiment === undefined) return 2;
  if (args.includes('--help')) {
    for (const [option, value] of Object.entries(experiment.options)) {
      console.log(
        `  --${option}${typeof value === 'boolean' ? '' : ` ${value === '' ? 'TEXT' : value}`}`,
      );
    }
    return 0;
  }
  return (await experiment.run(args)) ? 0 : 1;
}

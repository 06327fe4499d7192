import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { isCode, messageOf } from '../compiler/format/errors.ts';
import { type WorkerRole, workerRole } from './fleet/workers/worker-role.ts';
import { type SignaturePool, signaturePool } from './heart/payment/signature-pool.ts';
import { COMMANDS, ON_DEMAND } from './rooms.ts';
import { type Config, settlementOf, settlementWarnings } from './settings/config.ts';
import {
  CONFIG_NAME,
  commandLine,
  loadConfig,
  loadJournalPlace,
  settingsHelp,
  unknownVariables,
  unknownVariableText,
} from './settings/load-config.ts';
import { slowSignatures } from './settle/signature.ts';
import { packageVersion, startGatekeeper } from './start.ts';
import { passedSocket } from './wire/listen.ts';
import { type Log, LogOutput, lineLog } from './wire/log/line-log.ts';
import { readOwnFile } from './wire/plain-file.ts';
import { StartError } from './wire/start-error.ts';

/** Each asks for an orderly stop; a terminal that closes must not cut off a payment. */
const STOPS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

const CONFIG_BYTES_MAX = 1_048_576;

/** How much the heap may grow, in percent, before V8 collects: by default fourfold, and dead buffers hold bytes until then. */
const HEAP_GROWING_PERCENT = 40;

const HELP = `Usage: signalpress-gate [flags]           serve a compiled release and charge through x402
       signalpress-gate ledger --help    what was sold
       signalpress-gate dashboard --help the same as a page, with open payments and sources
       signalpress-gate doctor --help    check everything that a start depends on

Flags, beside --help and --version; each is also a SIGNALPRESS_ variable and a member of ${CONFIG_NAME}; secrets are no flags:
${settingsHelp()}

Examples:
  signalpress-gate --port 8080
  signalpress-gate --data dist-data --pay-to 0x… --network base --facilitator-url https://…

Exit codes: 0 stopped on request; 1 could not start, and the error says why`;

const clock = (): number => Date.now();
const print = (text: string): boolean => process.stdout.write(text);
const note = (text: string): boolean => process.stderr.write(text);
const warn = (text: string): void => console.error(`WARNING: ${text}`);

/** Where settings come from beside the command line. */
function written() {
  const env = process.env;
  try {
    return { env, fileText: readOwnFile(CONFIG_NAME, CONFIG_BYTES_MAX).bytes.toString('utf8') };
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return { env, fileText: null };
    const why = `${messageOf(cause)}; make it a readable file, or remove it`;
    throw new StartError(`Cannot read "${CONFIG_NAME}": ${why}`, { cause });
  }
}

/** Commands beside serving; each takes the settings that a start would take. */
const BESIDE: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  async ledger(args) {
    const { ledgerCommand } = await COMMANDS.ledger();
    const { addBooksCommands } = await COMMANDS.books();
    const sources = { options: {}, ...written() };
    const place = loadJournalPlace(sources);
    // A reader that stops early (`| head`) is not a failure; a full disk is.
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
    const setExitCode = (code: number): void => {
      process.exitCode = code;
    };
    const config = () => loadConfig(sources);
    const by = { place, write: print, note, clock, config, setExitCode };
    const command = ledgerCommand(by);
    addBooksCommands(command, by);
    await command.parseAsync(args, { from: 'user' });
  },
  async dashboard(args) {
    const { dashboardCommand } = await COMMANDS.dashboard();
    const place = loadJournalPlace({ options: {}, ...written() });
    const onListen = (stop: () => Promise<void>): void => {
      for (const signal of STOPS) process.once(signal, stop);
    };
    const command = dashboardCommand({ place, note, clock, onListen });
    await command.parseAsync(args, { from: 'user' });
  },
  async doctor(args) {
    const { doctorCommand } = await COMMANDS.doctor();
    process.exitCode = await doctorCommand(args, { ...written(), write: print, clock });
  },
};

async function main(): Promise<void> {
  const [, , ...args] = process.argv;
  const [first = ''] = args;
  if (Object.hasOwn(BESIDE, first)) return BESIDE[first]?.(args.slice(1));
  const { wants, options } = commandLine(args);
  if (wants !== 'start') {
    console.log(wants === 'help' ? HELP : packageVersion());
    return;
  }
  const config = loadConfig({ options, ...written() });
  const role = workerRole(process.env);
  // Before the start, which may fail for want of what they were meant for.
  const strange = role === null ? unknownVariables(process.env) : [];
  for (const name of strange) warn(unknownVariableText(name));
  // A reader of the log that goes away must not take the service with it.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
  const output = new LogOutput(process.stdout);
  const log = lineLog(output, { clock });
  // Whatever ends the process, the lines before it are written, and the last one says why.
  process.on('uncaughtExceptionMonitor', (error) => {
    log({ event: 'crashed', error: messageOf(error) });
  });
  process.on('exit', () => output.flush());
  if (config.workers > 1 && role === null) await serveWithWorkers(config, { log, output });
  else await serve(config, { log, output }, role);
}

interface Logging {
  readonly log: Log;
  readonly output: LogOutput;
}

function announce(config: Config, url: string): void {
  console.error(`signalpress listens on ${url}`);
  for (const warning of settlementWarnings(config)) warn(warning);
  if (settlementOf(config) !== 'test') return;
  console.error(
    'To be paid, set SIGNALPRESS_PAY_TO, SIGNALPRESS_NETWORK, and SIGNALPRESS_FACILITATOR_URL or SIGNALPRESS_RELAYER_KEY.',
  );
}

/** Signatures go to a thread of their own where a core is left for it. */
function signatureThread({ workers }: Config): { signatures?: SignaturePool } {
  if (availableParallelism() <= workers) return {};
  // The bundle puts it there (scripts/bundle-programs.ts).
  const worker = new Worker(new URL('./signature-worker.js', import.meta.url));
  const signatures = signaturePool(worker);
  // After the pool listens, for listening holds the process.
  worker.unref();
  return { signatures };
}

async function serve(
  config: Config,
  { log, output }: Logging,
  role: WorkerRole | null,
): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const place = role?.place ?? 0;
  const gatekeeper = await startGatekeeper(config, {
    clock,
    log,
    version: packageVersion(),
    ...signatureThread(config),
    fd: role === null ? passedSocket(process.env, process.pid) : role.fd,
    place,
  });
  let isStopping = false;
  const stop = async (why: string): Promise<void> => {
    // Whoever asks again must not cut off what is being paid for.
    if (isStopping) return;
    isStopping = true;
    await gatekeeper.close(why);
    await output.close();
    process.exit(0);
  };
  for (const signal of STOPS) process.on(signal, stop);
  if (role === null) announce(config, gatekeeper.url);
  else (await ON_DEMAND.workers()).joinWorkers(gatekeeper.url, stop);
  if (place > 0) return;
  const slow = slowSignatures();
  if (slow !== null) warn(slow);
  const warning = await gatekeeper.facilitatorWarning;
  for (const line of warning?.split('\n') ?? []) warn(line);
}

/** Serves in several processes; this one only starts them and passes on their output. */
async function serveWithWorkers(config: Config, { log, output }: Logging): Promise<void> {
  // Only who wants several waits for it to load.
  const { forkedWorkers } = await ON_DEMAND.workers();
  const workers = forkedWorkers({
    count: config.workers,
    fd: passedSocket(process.env, process.pid),
    announce: (url) => announce(config, url),
    log,
    output: (text) => output.write(text.toString('utf8')),
    now: () => performance.now(),
  });
  for (const signal of STOPS) process.on(signal, () => workers.stop('SIGTERM'));
  const how = await workers.ended;
  await output.close();
  process.exit(how === 'stopped' ? 0 : 1);
}

main().catch((error: unknown) => {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
  // The channel to the parent would keep a worker alive.
  if (process.connected) process.exit();
});

#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import {
  CONFIG_NAME,
  type Config,
  loadConfig,
  loadStateDir,
  OPTION_NAMES,
  settlementOf,
  strangeText,
  strangeVariables,
} from './config.ts';
import { lineLog } from './http/line-log.ts';
import { ledgerCommand } from './journal/ledger-command.ts';
import { messageOf } from './message-of.ts';
import { type SignaturePool, signaturePool } from './payment/signature-pool.ts';
import { startGatekeeper } from './start.ts';
import { StartError } from './start-error.ts';

const FLAGS = OPTION_NAMES.map((name) => name.replaceAll('_', '-'));

/** Options by setting name; secrets are no options, for process lists show them. */
function commandLine(): Record<string, string | undefined> {
  const options = Object.fromEntries(FLAGS.map((name) => [name, { type: 'string' } as const]));
  try {
    const { values } = parseArgs({ options });
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name.replaceAll('-', '_'), String(value)]),
    );
  } catch (cause) {
    const known = FLAGS.map((name) => `--${name}`).join(' ');
    throw new StartError(`Cannot read the command line; use ${known}`, { cause });
  }
}

const HELP = `Usage: signalpress-gate [flags]           serve a compiled release and charge through x402
       signalpress-gate ledger --help    what was sold

Flags: ${FLAGS.map((name) => `--${name}`).join(' ')}
Each is also a SIGNALPRESS_ variable and a member of ${CONFIG_NAME}; README.md says what they mean.

Examples:
  signalpress-gate --port 8080
  signalpress-gate --data dist-data --pay-to 0x… --network base --facilitator-url https://…

Exit codes: 0 stopped when asked to, 1 refused: what is wrong is said`;

function configText(): string | null {
  try {
    return readFileSync(CONFIG_NAME, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null;
    throw new StartError(
      `Cannot read "${CONFIG_NAME}": ${messageOf(cause)}; make it a readable file, or remove it`,
      { cause },
    );
  }
}

function announce(config: Config, url: string): void {
  console.error(`signalpress listens on ${url}`);
  if (settlementOf(config) !== 'test') return;
  console.error(
    `TEST-ONLY: the local facilitator is on. No money moves; payments to ${config.payTo} are pretended.\n` +
      'To be paid, set SIGNALPRESS_FACILITATOR_URL or SIGNALPRESS_RELAYER_KEY, SIGNALPRESS_PAY_TO and SIGNALPRESS_NETWORK.',
  );
}

/** `signalpress-gate ledger …` reads the journal of the gatekeeper that the same settings start. */
function readLedger(args: readonly string[]): void {
  const stateDir = loadStateDir({ options: {}, env: process.env, fileText: configText() });
  const write = (text: string): void => {
    process.stdout.write(text);
  };
  ledgerCommand({ stateDir, write, clock: () => Date.now() }).parse(args, { from: 'user' });
}

/** Signatures go to a thread of their own where there is a second core for it. */
function signatureThread(): { signatures?: SignaturePool } {
  if (availableParallelism() < 2) return {};
  const worker = new Worker(new URL('./payment/signature-worker.js', import.meta.url));
  const signatures = signaturePool(worker);
  // After the pool listens, for listening holds the process.
  worker.unref();
  return { signatures };
}

async function main(): Promise<void> {
  const [, , first, ...rest] = process.argv;
  if (first === '--help' || first === '-h') {
    console.log(HELP);
    return;
  }
  if (first === 'ledger') {
    readLedger(rest);
    return;
  }
  const config = loadConfig({ options: commandLine(), env: process.env, fileText: configText() });
  // Before the start, which may fail for want of what they were meant for.
  for (const name of strangeVariables(process.env)) console.error(`WARNING: ${strangeText(name)}`);
  const clock = (): number => Date.now();
  // A reader of the log that goes away must not take the service with it.
  process.stdout.on('error', () => {});
  const log = lineLog((text) => process.stdout.write(text), clock);
  const signatures = signatureThread();
  const gatekeeper = await startGatekeeper(config, { clock, log, ...signatures });
  announce(config, gatekeeper.url);
  const stop = async (): Promise<void> => {
    await gatekeeper.close();
    log.flush();
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const trouble = await gatekeeper.facilitatorTrouble;
  if (trouble !== null) console.error(`WARNING: ${trouble}`);
}

main().catch((error: unknown) => {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
});

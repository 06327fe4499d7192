import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine } from '../config/command-line.ts';
import type { Config, PaidNetwork } from '../config/config.ts';
import {
  type ConfigSources,
  loadConfig,
  unknownVariables,
  unknownVariableText,
} from '../config/load-config.ts';
import { openRelease } from '../release/open-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { openSource } from '../remote/open-source.ts';
import { ServiceState } from '../state/service-state.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import { ask } from './ask.ts';
import type { Examined } from './check.ts';
import { examine, type Reported } from './examine.ts';
import { type FindingState, failed } from './finding.ts';
import type { TokenNode } from './token-node.ts';

const DOCTOR_HELP = `Usage: signalpress-gate doctor [flags] [--format text|json]

Checks everything that a start depends on, before anything is started: settings, secrets, release, journal, disk,
clock, facilitator, chain node, payee, and the public address with the proxies in front of it. It takes the settings
of signalpress-gate, writes nothing and moves no money. For a moment it listens on the port of the gatekeeper, to see
what arrives there.

Examples:
  signalpress-gate doctor
  signalpress-gate doctor --port 8080 --format json

Exit codes: 0 nothing failed; 1 something failed, and the report says what to do`;

/** File systems of Linux by their numbers (statfs(2)): the layer of a container, and memory. */
const PASSING = [0x794c7630, 0x01021994];

interface DoctorOptions {
  readonly env: ConfigSources['env'];
  readonly fileText: string | null;
  readonly write: (text: string) => unknown;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** `signalpress-gate doctor`: returns the exit code; throws a StartError for arguments that it does not know. */
export async function doctorCommand(args: readonly string[], by: DoctorOptions): Promise<number> {
  const { format, rest } = formatOf(args);
  const { wants, options } = commandLine(rest);
  if (wants !== 'start') {
    by.write(`${DOCTOR_HELP}\n`);
    return 0;
  }
  const findings = await findingsOf({ ...by, options });
  by.write(format === 'json' ? reportJson(findings) : reportText(findings));
  return isHealthy(findings) ? 0 : 1;
}

const FORMATS = ['text', 'json'] as const;
type Format = (typeof FORMATS)[number];

/** Takes `--format` out of the arguments; all others are those of the gatekeeper. */
function formatOf(args: readonly string[]): { readonly format: Format; readonly rest: string[] } {
  const at = args.findIndex((arg) => arg === '--format' || arg.startsWith('--format='));
  if (at === -1) return { format: 'text', rest: [...args] };
  const inline = args[at]?.startsWith('--format=') === true;
  const value = inline ? args[at]?.slice('--format='.length) : args[at + 1];
  const format = FORMATS.find((known) => known === value);
  if (format === undefined) {
    throw new StartError(
      `Cannot read flag "--format": not a format; write --format=${FORMATS.join(' or ')}`,
    );
  }
  return { format, rest: args.toSpliced(at, inline ? 1 : 2) };
}

/** Settings that cannot be read leave nothing to examine: their faults are the report. */
async function findingsOf(
  sources: ConfigSources & Pick<DoctorOptions, 'clock'>,
): Promise<readonly Reported[]> {
  let config: Config;
  try {
    config = loadConfig(sources);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const [, ...faults] = messageOf(error).split('\n  ');
    return faults.map((fault) => ({ check: 'settings', ...settingFault(fault) }));
  }
  const cacheDir = mkdtempSync(join(tmpdir(), 'signalpress-doctor-'));
  try {
    return await examine(examinedOf({ ...config, cacheDir }, sources));
  } finally {
    rmSync(cacheDir, { recursive: true, force: true });
  }
}

function settingFault(fault: string) {
  const cut = fault.indexOf('; ');
  return failed(fault.slice(0, cut), fault.slice(cut + 2));
}

function examinedOf(
  config: Config,
  { env, clock }: ConfigSources & Pick<DoctorOptions, 'clock'>,
): Examined {
  return {
    config,
    clock,
    ask,
    ignored: unknownVariables(env).map(unknownVariableText),
    release: once(() => openedRelease(config, clock)),
    node: nodeOf,
    space: (path) => {
      const { bavail, blocks, bsize, type } = statfsSync(path);
      const isLasting = !PASSING.includes(type);
      return { free: bavail * bsize, total: blocks * bsize, isLasting };
    },
  };
}

/** What is fetched from a host goes into a folder of its own, which is removed: the cache is left alone. */
async function openedRelease(config: Config, clock: () => number): Promise<ReleaseIndex> {
  const by = { clock, log: () => undefined };
  const source = await openSource(config, { ...by, state: new ServiceState(by) });
  return openRelease({ ...config, source });
}

/** Only who names a node waits for the libraries of the chain to load. */
async function nodeOf({ rpcUrl, network }: PaidNetwork): Promise<TokenNode | null> {
  if (rpcUrl === null) return null;
  const { tokenNode } = await import('./token-node.ts');
  return tokenNode(rpcUrl, network);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

const STATES: readonly FindingState[] = ['ok', 'warning', 'failed', 'skipped'];

/** Whether the gatekeeper should be started: warnings do not keep it from that. */
function isHealthy(findings: readonly Reported[]): boolean {
  return findings.every(({ state }) => state !== 'failed');
}

/** One line for each finding, and under it what to do. */
function reportText(findings: readonly Reported[]): string {
  const stateWidth = Math.max(...STATES.map(({ length }) => length));
  const nameWidth = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ state, check, detail, remedy }) => {
    const start = `${state.padEnd(stateWidth)}  ${check.padEnd(nameWidth)}  `;
    const todo = remedy === undefined ? [] : [`${' '.repeat(start.length)}-> ${remedy}`];
    return [start + detail, ...todo].map(printable);
  });
  return `${[...lines, '', sumText(findings)].join('\n')}\n`;
}

function sumText(findings: readonly Reported[]): string {
  const counts = STATES.map((state) => {
    return `${findings.filter((finding) => finding.state === state).length} ${state}`;
  });
  const verdict = isHealthy(findings) ? 'ready to start' : 'not ready to start';
  return `${verdict}: ${counts.join(', ')}`;
}

/** Details repeat what other services said. */
function printable(line: string): string {
  return line.replace(/[^\x20-\x7e]/g, '?');
}

/** The same for programs. */
function reportJson(findings: readonly Reported[]): string {
  return `${JSON.stringify({ ready: isHealthy(findings), findings }, null, 2)}\n`;
}

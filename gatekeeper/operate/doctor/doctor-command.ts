import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../compiler/format/errors.ts';
import { openSource } from '../../fleet/remote/open-source.ts';
import { openRelease } from '../../heart/release/open-release.ts';
import type { ReleaseIndex } from '../../heart/release/release-index.ts';
import type { Config } from '../../settings/config.ts';
import {
  type ConfigSources,
  commandLine,
  loadConfig,
  unknownVariables,
  unknownVariableText,
} from '../../settings/load-config.ts';
import { ServiceState } from '../../wire/service-state.ts';
import { inTime } from '../../wire/slots.ts';
import { StartError } from '../../wire/start-error.ts';
import { ask, type Examined, type Finding, failed, failure, STATES } from './check.ts';
import * as local from './local-checks.ts';
import * as remote from './remote-checks.ts';

const DOCTOR_HELP = `Usage: signalpress-gate doctor [flags] [--format text|json]

Checks everything that a start depends on, before anything is started: settings, secrets, release, sources, journal,
disk, clock, facilitator, chain node, payee, and the public address with the proxies in front of it. It takes the settings
of signalpress-gate, writes nothing and moves no money. For a moment it listens on the port of the gatekeeper, to see
what arrives there.

Examples:
  signalpress-gate doctor
  signalpress-gate doctor --port 8080 --format json

Exit codes: 0 nothing failed; 1 something failed, and the report says what to do`;

type Check = (examined: Examined) => Promise<readonly Finding[]>;

/** All checks, in the order of the report; a rejection counts as a failure, with its message. */
const CHECKS: Readonly<Record<string, Check>> = {
  settings: local.settingsCheck,
  secrets: local.secretsCheck,
  release: local.releaseCheck,
  sources: local.sourcesCheck,
  memory: local.memoryCheck,
  journal: local.journalCheck,
  disk: local.diskCheck,
  clock: local.clockCheck,
  facilitator: remote.facilitatorCheck,
  chain: remote.chainCheck,
  payee: remote.payeeCheck,
  address: remote.addressCheck,
};

const CHECK_TIMEOUT_MS = 60_000;
/** File systems of Linux by their numbers (statfs(2)): the layer of a container, and memory. */
const PASSING = [0x794c7630, 0x01021994];

type Reported = Finding & { readonly check: string };

/** `signalpress-gate doctor`: returns the exit code; throws a StartError for arguments that it does not know. */
export async function doctorCommand(
  args: readonly string[],
  by: Omit<ConfigSources, 'options'> & { clock: () => number; write: (text: string) => unknown },
): Promise<number> {
  const rest = args.flatMap((arg) =>
    arg.startsWith('--format=') ? ['--format', arg.slice('--format='.length)] : [arg],
  );
  const at = rest.indexOf('--format');
  const [, format = ''] = at === -1 ? ['', 'text'] : rest.splice(at, 2);
  if (format !== 'text' && format !== 'json')
    throw new StartError('Cannot read flag "--format": not a format; write --format=text or json');
  const { wants, options } = commandLine(rest);
  if (wants !== 'start') {
    by.write(`${DOCTOR_HELP}\n`);
    return 0;
  }
  const findings = await findingsOf({ ...by, options });
  const ready = findings.every(({ state }) => state !== 'failed');
  const text = format === 'json' ? JSON.stringify({ ready, findings }, null, 2) : report(findings);
  by.write(`${text}\n`);
  return ready ? 0 : 1;
}

/** Settings that cannot be read leave nothing to examine: their faults are the report. */
async function findingsOf(
  sources: ConfigSources & { readonly clock: () => number },
): Promise<readonly Reported[]> {
  const { env, clock } = sources;
  let config: Config;
  try {
    config = loadConfig(sources);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const [, ...faults] = messageOf(error).split('\n  ');
    return faults.map((fault) => {
      const cut = fault.indexOf('; ');
      return { check: 'settings', ...failed(fault.slice(0, cut), fault.slice(cut + 2)) };
    });
  }
  // What is fetched from a host goes into a folder of its own: the cache is left alone.
  const cacheDir = mkdtempSync(join(tmpdir(), 'signalpress-doctor-'));
  const own = { ...config, cacheDir };
  const open = async (): Promise<ReleaseIndex> => {
    const by = { clock, log: () => undefined };
    const source = await openSource(own, { ...by, state: new ServiceState(by) });
    return openRelease({ ...own, source });
  };
  let opened: Promise<ReleaseIndex> | null = null;
  try {
    return await examine({
      config: own,
      clock,
      ask,
      logMemory: env.SIGNALPRESS_LOG_MEMORY || null,
      ignored: unknownVariables(env).map(unknownVariableText),
      release() {
        opened ??= open();
        return opened;
      },
      // Only who names a node waits for the libraries of the chain to load.
      node: async ({ rpcUrl, network }) =>
        rpcUrl === null
          ? null
          : (await import('../../settle/chain/chain-node.ts')).tokenNode({ url: rpcUrl, network }),
      space(path) {
        const { bavail, blocks, bsize, type } = statfsSync(path);
        return { free: bavail * bsize, total: blocks * bsize, isLasting: !PASSING.includes(type) };
      },
    });
  } finally {
    rmSync(cacheDir, { recursive: true, force: true });
  }
}

/** Runs all checks at once; never rejects. */
export async function examine(
  examined: Examined,
  checks: Readonly<Record<string, Check>> = CHECKS,
): Promise<readonly Reported[]> {
  const late = [failed(`no result within ${CHECK_TIMEOUT_MS / 1000} s`, 'run doctor again')];
  const results = Object.entries(checks).map(async ([check, run]): Promise<Reported[]> => {
    const found = await inTime(run(examined), CHECK_TIMEOUT_MS).catch((error) => [failure(error)]);
    return (found ?? late).map((finding) => ({ check, ...finding }));
  });
  return (await Promise.all(results)).flat();
}

function report(findings: readonly Reported[]): string {
  const stateWidth = Math.max(...STATES.map(({ length }) => length));
  const nameWidth = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ state, check, detail, remedy }) => {
    const start = `${state.padEnd(stateWidth)}  ${check.padEnd(nameWidth)}  `;
    const todo = remedy === undefined ? [] : [`${' '.repeat(start.length)}-> ${remedy}`];
    // Details repeat what other services said.
    return [start + detail, ...todo].map((line) => line.replace(/[^\x20-\x7e]/g, '?'));
  });
  const count = (state: string): number => findings.filter((one) => one.state === state).length;
  const verdict = count('failed') === 0 ? 'ready to start' : 'not ready to start';
  const counts = STATES.map((state) => `${count(state)} ${state}`).join(', ');
  return [...lines, '', `${verdict}: ${counts}`].join('\n');
}

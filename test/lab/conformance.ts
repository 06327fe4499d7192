import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { compile } from '../../compiler/compile.ts';
import { loadConfig } from '../../gatekeeper/config/load-config.ts';
import { startGatekeeper } from '../../gatekeeper/start.ts';
import { sampleFiles } from '../../scripts/sample/sample-files.ts';
import { sampleClock, sampleHour } from '../../scripts/sample/sample-times.ts';
import { writeSample } from '../../scripts/sample/write-sample.ts';

/**
 * Runs the official conformance suite of the protocol against the real gatekeeper over the sample and
 * exits 1 when a check that applies fails. The suite needs Node 22, which comes from npm beside it.
 */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const NODE = 'node@22';

/** Checks of what this server does not offer: logs, questions back, the suite's own test tools. */
const NOT_OFFERED: readonly string[] = [
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
];

/** Scenarios that need nothing but tools of any name, with the revisions that the suite asks them of. */
const SCENARIOS: readonly (readonly [scenario: string, revisions: readonly string[]])[] = [
  ['server-initialize', ['2025-06-18', '2025-11-25']],
  ['ping', ['2025-06-18', '2025-11-25']],
  ['tools-list', ['2025-06-18', '2025-11-25', '2026-07-28']],
  ['dns-rebinding-protection', ['2025-11-25', '2026-07-28']],
  ['server-stateless', ['2026-07-28']],
  ['http-header-validation', ['2026-07-28']],
  ['caching', ['2026-07-28']],
];

type CheckState = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED';
interface ConformanceCheck {
  readonly id: string;
  readonly state: CheckState;
  readonly about: string;
}

/** One line of the suite for each check: time, id in brackets, state, words. */
const CHECK_LINE = /^\S+Z \[([a-z0-9-]+) *\] (SUCCESS|FAILURE|WARNING|SKIPPED) (.*)$/gm;

function checksIn(text: string): ConformanceCheck[] {
  const plain = stripVTControlCharacters(text);
  return [...plain.matchAll(CHECK_LINE)].map(([, id = '', state, about = '']) => {
    return { id, state: state as CheckState, about };
  });
}

/** What the suite prints about one scenario; it exits 1 for a failed check, which is judged here. */
function runScenario(url: string, scenario: string, revision: string): Promise<string> {
  const suite = ['server', '--url', url, '--scenario', scenario, '--spec-version', revision];
  const args = ['-y', '-p', NODE, '-p', SUITE, '--', 'conformance', ...suite];
  const child = spawn('npx', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(text));
  });
}

/** Prints one scenario; how many of its checks passed and how many that apply did not. */
function tell(
  name: string,
  checks: readonly ConformanceCheck[],
): { passed: number; failed: number } {
  const passed = checks.filter(({ state }) => state === 'SUCCESS');
  const trouble = checks.filter(({ state }) => state === 'FAILURE' || state === 'WARNING');
  const failed = trouble.filter(({ id }) => !NOT_OFFERED.includes(id));
  const beside = checks.length - passed.length - failed.length;
  console.log(`${name}: ${passed.length} passed, ${failed.length} failed, ${beside} do not apply`);
  for (const { id, state, about } of failed) console.log(`  ${state} ${id}: ${about}`);
  // A suite that did not run at all must not pass.
  return { passed: passed.length, failed: failed.length + (checks.length === 0 ? 1 : 0) };
}

async function openGate(folder: string): ReturnType<typeof startGatekeeper> {
  const [snapshots, data] = [join(folder, 'snapshots'), join(folder, 'data')];
  const asOf = sampleClock(new Date());
  writeSample(snapshots, sampleFiles({ hour: sampleHour(asOf) }));
  await compile({
    snapshots,
    data,
    asOf,
    issuerName: 'Conformance',
    baseUrl: 'http://127.0.0.1:4021',
    seed: new Uint8Array(32).fill(7),
    workers: 0,
  });
  const options = { port: '0', rate_limit: '0', data, state: join(folder, 'state') };
  const config = loadConfig({ options, env: {}, fileText: null });
  return startGatekeeper(config, { clock: () => Date.now(), log: () => undefined });
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-conformance-'));
  const gatekeeper = await openGate(folder);
  const sum = { passed: 0, failed: 0 };
  for (const [scenario, revisions] of SCENARIOS) {
    for (const revision of revisions) {
      const text = await runScenario(`${gatekeeper.url}/mcp`, scenario, revision);
      const { passed, failed } = tell(`${scenario} ${revision}`, checksIn(text));
      sum.passed += passed;
      sum.failed += failed;
    }
  }
  console.log(`${sum.passed} checks passed, ${sum.failed} failed`);
  await gatekeeper.close();
  rmSync(folder, { recursive: true });
  process.exitCode = sum.failed === 0 ? 0 : 1;
}

await main();

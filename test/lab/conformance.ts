import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { startGate } from '../gate.ts';
import { compileSample } from './bench.ts';
import { campaign } from './campaign.ts';

// The suite needs Node 22, which comes from npm beside it.
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

/** Runs the official conformance suite of MCP against the real gatekeeper over the sample. */
export const experiment = campaign({}, async ({ folder, say }) => {
  await compileSample(folder);
  const own = { data: join(folder, 'data'), state: join(folder, 'state') };
  const gatekeeper = await startGate(own);
  const wrong: string[] = [];
  let passed = 0;
  for (const [scenario, revisions] of SCENARIOS) {
    for (const revision of revisions) {
      const name = `${scenario} ${revision}`;
      const checks = checksIn(await runScenario(`${gatekeeper.url}/mcp`, scenario, revision));
      const good = checks.filter(({ state }) => state === 'SUCCESS').length;
      const trouble = checks.filter(({ state }) => state === 'FAILURE' || state === 'WARNING');
      const failed = trouble.filter(({ id }) => !NOT_OFFERED.includes(id));
      const beside = checks.length - good - failed.length;
      say(`${name}: ${good} passed, ${failed.length} failed, ${beside} do not apply`);
      wrong.push(...failed.map(({ id, state, about }) => `${name}: ${state} ${id}: ${about}`));
      // A suite that did not run at all must not pass.
      if (checks.length === 0) wrong.push(`${name}: no checks`);
      passed += good;
    }
  }
  await gatekeeper.close();
  say(`${passed} checks passed`);
  return wrong;
});

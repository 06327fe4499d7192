import { spawnSync } from 'node:child_process';
import { campaign } from './campaign.ts';

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

/** Writes `test/golden/wire.txt` again. */
export const ledger = campaign({}, async () =>
  vitest(['--project', 'shared', 'test/golden', '--update']),
);

/** Agents with scripts of their own; what they said is printed with its tokens. */
export const agents = campaign({}, async () => {
  const wrong = command('npm', [
    ...['ci', '--prefix', 'test/interop', '--ignore-scripts', '--no-audit', '--no-fund'],
  ]);
  const tests = ['--project', 'interop', 'test/interop/agents.test.ts'];
  return wrong.length > 0 ? wrong : vitest(tests, { SIGNALPRESS_TRANSCRIPTS: '1' });
});

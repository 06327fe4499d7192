import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import { built, CommandRuns } from '../../../command-runs.ts';
import { startGate } from '../../../gate.ts';
import { NOW_MS, payer } from '../../../gatekeeper/payer.ts';
import { compiledSample } from '../../../shop.ts';
import { makeFolder, removeFolders } from '../../../snapshot-folder.ts';

// The rest of the ledger of behaviour (test/golden/wire.test.ts): how each command ends.

/** A body as it was sold, and the key that signed it. */
interface SoldBody {
  readonly text: string;
  readonly did: string;
}

/**
 * How commands end, by their arguments: done, refused, and not to be judged. They run one after the other in one folder,
 * in which each finds what those before it made.
 */
function commandEnds({ text, did }: SoldBody): string[] {
  const cwd = makeFolder();
  const stranger = did.replace(/.{4}$/, 'aaaa');
  writeFileSync(join(cwd, 'body.json'), text);
  writeFileSync(join(cwd, 'altered.json'), text.replace('"value":', '"value":1'));
  writeFileSync(join(cwd, 'words.json'), 'no JSON');
  const key = ['--key', 'shop/issuer.key'];
  const shop = ['--snapshots', 'shop/snapshots'];
  const runs = new CommandRuns();
  const ends = [
    ['init', 'shop'],
    ['init', 'shop'],
    ['keygen', 'shop/issuer.key'],
    ['keygen', 'shop/issuer.key'],
    ['check', ...shop],
    ['check', '--snapshots', 'nowhere'],
    ['check', '--snapshots', '.'],
    ['lines', ...shop],
    ['compile', ...shop, '--data', 'data'],
    ['compile', ...shop, '--data', 'data', ...key, '--workers', '0'],
    ['releases', 'list', '--data', 'data'],
    ['releases', 'list', '--data', 'nowhere'],
    ['releases', 'rollback', '--data', 'data', ...key],
    ['stats', '--data', 'nowhere'],
    ['key', 'list', '--data', 'data'],
    ['key', 'list', '--data', 'nowhere'],
    ['verify', 'body.json', '--issuer', did],
    ['verify', 'body.json', '--issuer', did, '--expect', 'GET /gauge/census?signal_id=no.such'],
    ['verify', 'body.json', '--issuer', stranger],
    ['verify', 'body.json'],
    ['verify', 'altered.json', '--issuer', did],
    ['verify', 'words.json', '--issuer', did],
    ['verify', 'nowhere.json', '--issuer', did],
    ['verify', 'data', '--issuer', did],
    ['sources', 'list'],
    ['import', 'airnow', 'nowhere'],
    ['fetch', 'no-such-source'],
    ['publish', 'nowhere'],
    ['nowhere'],
    ['check', '--nowhere'],
  ].map((args) => ({ args, end: runs.plan(args, { cwd }) }));
  const told = ends.map(({ args, end }) => ({ words: ['signalpress', ...args], ...end() }));
  const gate = [
    ['--nowhere'],
    ['--port', 'x'],
    ['--version'],
    ['--data', 'nowhere', '--port', '0'],
    ['doctor', '--data', 'data', '--port', '0', '--state', 'state'],
    ['doctor', '--data', 'nowhere', '--port', '0', '--state', 'state'],
    ['doctor', '--nowhere'],
    ['ledger', 'list', '--state', 'nowhere'],
    ['ledger', 'audit'],
    ['dashboard', '--state', 'nowhere'],
  ].map((args) => {
    const program = built('gatekeeper/signalpress-gate.js');
    const { status } = spawnSync(process.execPath, [program, ...args], { cwd, env: {} });
    return { words: ['signalpress-gate', ...args], status };
  });
  const named = (word: string): string =>
    word
      .replace(did, '<issuer>')
      .replace(stranger, '<another>')
      .replace(/^GET .*/, "'$&'");
  return [...told, ...gate].map(
    ({ words, status }) => `  ${words.map(named).join(' ')} -> ${status}`,
  );
}

afterAll(removeFolders);

it('ends each command as it did when the ledger was written', async () => {
  const { data, did } = await compiledSample();
  const gate = await startGate({ data, test_payments: '1' }, { clock: () => NOW_MS });
  const text = await soldText(gate.url).finally(() => gate.close());
  const lines = commandEnds({ text, did });
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('command-ends.txt');
});

/** A record as a buyer gets it. */
async function soldText(url: string): Promise<string> {
  const target = '/gauge?signal_id=airquality.aqi&entity=us-denver';
  const { accepts } = (await (await fetch(url + target)).json()) as {
    accepts: [RequirementsV1];
  };
  const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
  return (await fetch(url + target, { headers: { 'x-payment': header } })).text();
}

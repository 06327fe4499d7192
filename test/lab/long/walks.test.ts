import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../../compiler/format/strict-json.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { built } from '../../command-runs.ts';
import { freePort, isUp, npxFolder } from '../../quick-start.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

// The walks of the documents, block by block as they stand there but for the port, in an empty folder each.

const CITE = 'compiler/client/CITE.md';
const CLIENT = 'compiler/client/README.md';
const FIRST_WEEK = 'compiler/FIRST-WEEK.md';
const PORT = '4021';
const WALK_MS_MAX = 240_000;

const npx = npxFolder({
  signalpress: built('compiler/signalpress.js'),
  'signalpress-gate': built('gatekeeper/signalpress-gate.js'),
});
const started: ChildProcess[] = [];
/** What a walk left running. */
const pids: number[] = [];

let port = '';
let shop = '';
beforeAll(async () => {
  port = String(await freePort());
  shop = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [built('scripts/quick-start.js')], {
    cwd: walkFolder(),
    env: { PATH: process.env.PATH, SIGNALPRESS_PORT: port },
    stdio: 'ignore',
  });
  started.push(child);
  expect(await isUp(shop)).toBe(true);
});
afterAll(async () => {
  for (const pid of pids) process.kill(pid, 'SIGTERM');
  await Promise.all(started.map(ended));
  removeFolders();
});

function ended(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null) return Promise.resolve();
  const end = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return end;
}

/** An empty folder but for the packages of the repository and the client. */
function walkFolder(): string {
  const folder = makeFolder();
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync('node_modules')) {
    symlinkSync(resolve('node_modules', name), join(modules, name));
  }
  symlinkSync(resolve(built('client-package')), join(modules, 'signalpress-client'));
  return folder;
}

function blocks(doc: string, kind: string): string[] {
  const found = readFileSync(doc, 'utf8').matchAll(
    new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'),
  );
  return [...found].map(([, code = '']) => code);
}

/** Runs blocks in one shell, one after the other; the output of each. A block that fails ends the walk. */
function walk(code: readonly string[], { cwd, at = port }: { cwd: string; at?: string }) {
  const marks = code.map((block, n) => `${block}\necho '== end of ${n}'`);
  const script = marks.join('\n').replaceAll(PORT, at);
  const env = { PATH: `${npx}:${process.env.PATH}`, HOME: cwd };
  // Into files: what a walk leaves running would hold a pipe open.
  const [said, blamed] = ['said.txt', 'blamed.txt'].map((name) => join(makeFolder(), name));
  const stdio: ['ignore', number, number] = [
    'ignore',
    openSync(`${said}`, 'w'),
    openSync(`${blamed}`, 'w'),
  ];
  const { status } = spawnSync('sh', ['-ec', script], { cwd, env, stdio, timeout: WALK_MS_MAX });
  const [stdout = '', stderr = ''] = [said, blamed].map((path) => readFileSync(`${path}`, 'utf8'));
  for (const handle of stdio.slice(1)) closeSync(Number(handle));
  return { status, stderr, outputs: stdout.split(/== end of \d+\n/) };
}

describe('"Cite this river level"', () => {
  const walked = () => {
    const cwd = walkFolder();
    return { cwd, ...walk(blocks(CITE, 'sh'), { cwd }) };
  };

  it('leads from words to a figure with a citation, and a changed digit fails', () => {
    const { cwd, status, stderr, outputs } = walked();
    expect([status, stderr.includes('Cannot')]).toEqual([0, false]);
    const [free = '', bought = '', altered = '', cited = ''] = outputs;
    expect(free).toContain('/gauge?entity=07032000&signal_id=hydrology.river-level');
    expect(free).toContain('"count":7');
    expect(bought).toMatch(/^verified {2}river\.json$/m);
    expect(altered).toMatch(/^failed: .*altered\.json\n[\s\S]*Do not print that\.\n$/);
    const river = parseJson(readFileSync(join(cwd, 'river.json'), 'utf8'));
    const { record_hash, issuer_DID } = (river as { _citation: Record<string, string> })._citation;
    const citation = readFileSync(join(cwd, 'citation.txt'), 'utf8');
    expect(citation).toMatch(
      /^hydrology\.river-level of 07032000 read [\d.]+ ft at \S+Z\. Signalpress/,
    );
    expect([citation.includes(`${record_hash}`), cited.includes(`${record_hash}`)]).toEqual([
      true,
      true,
    ]);
    expect(verifyBody(river, { trust: [`${issuer_DID}`] }).verdict).toBe('verified');
    expect(existsSync(join(cwd, 'signalpress.trust'))).toBe(true);
  });

  it('ends at a command that is not there, and at a cap below the price', () => {
    const [find = '', buy = ''] = blocks(CITE, 'sh');
    const misspelt = [find, buy.replace('signalpress buy', 'signalpress purchase')];
    expect(walk(misspelt, { cwd: walkFolder() }).status).toBe(1);
    const dear = walk([find, buy.replace('--max-usd 0.01', '--max-usd 0.001')], {
      cwd: walkFolder(),
    });
    expect([dear.status, dear.stderr]).toEqual([1, expect.stringContaining('--max-usd')]);
  });
});

/** The issuer of the shop, from its own list of keys: here nobody else could name it. */
async function issuerHere(): Promise<string> {
  const read = () => fetch(`${shop}/.well-known/keys.json`);
  // While a program ran, the shop may have closed the connection of before.
  const list = await (await read().catch(read)).json();
  return (list as { keys: readonly { did: string }[] }).keys[0]?.did ?? '';
}

const named = (text: string, did: string): string =>
  text.replaceAll('https://shop.example', shop).replaceAll('did:key:z6Mk…', did);

describe('the walk of a builder of agents', () => {
  it('searches, quotes, buys with a cap and verifies through the client', async () => {
    const cwd = walkFolder();
    const did = await issuerHere();
    const codes = blocks(CLIENT, 'js');
    expect(codes).toHaveLength(2);
    for (const code of codes) {
      writeFileSync(join(cwd, 'agent.mjs'), named(code, did));
      const env = { PATH: process.env.PATH, WALLET_KEY: `0x${'5'.repeat(64)}` };
      const end = spawnSync(process.execPath, ['agent.mjs'], { cwd, env, encoding: 'utf8' });
      expect([end.status, end.stderr]).toEqual([0, '']);
      expect(end.stdout).toMatch(/aqi_index[\s\S]*\bverified\b/);
      expect(end.stdout).toMatch(/\b0\.01\b/);
    }
    const foreign = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';
    writeFileSync(join(cwd, 'agent.mjs'), named(codes[0] ?? '', foreign));
    const env = { PATH: process.env.PATH, WALLET_KEY: `0x${'6'.repeat(64)}` };
    expect(spawnSync(process.execPath, ['agent.mjs'], { cwd, env }).status).toBe(1);
  });

  it('does the same over MCP on standard input and output, by the configuration', async () => {
    const cwd = walkFolder();
    const [text = ''] = blocks(CLIENT, 'json');
    const { command, args } = JSON.parse(named(text, await issuerHere())) as {
      command: string;
      args: string[];
    };
    const env = { PATH: `${npx}:${process.env.PATH}`, WALLET_KEY: `0x${'7'.repeat(64)}` };
    const child = spawn('npx', [command, ...args], { cwd, env });
    started.push(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    let id = 0;
    const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
      id += 1;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return JSON.parse((await lines.next()).value).result;
    };
    const use = async (name: string, args: object): Promise<Record<string, unknown>> => {
      const { content } = await ask('tools/call', { name, arguments: args });
      return JSON.parse((content as [{ text: string }])[0].text);
    };
    const clientInfo = { name: 'walk', version: '1' };
    await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    const { results } = await use('search', { words: 'air quality in Denver' });
    const { request } = (results as [{ request: string }])[0];
    expect(await use('quote', { request })).toEqual({ price_usd: '0.01' });
    const sold = await use('buy', { request });
    expect(sold).toMatchObject({ verdict: 'verified', paid_usd: '0.01' });
    expect(await use('buy', { request, max_usd: '0.001' })).toMatchObject({
      code: 'too_expensive',
    });
  });
});

describe('"A publisher\'s first week"', () => {
  it('leads to a shop that follows a second release, whose copy verifies', async () => {
    const cwd = walkFolder();
    const at = String(await freePort());
    const [first = '', second = '', third = ''] = blocks(FIRST_WEEK, 'sh');
    // The port that `init` writes, the end of the start, and that of what runs on.
    const init = `${first.split('\n')[0]}\nsed -i s/${PORT}/${at}/g shop/shop.env\n`;
    const rest = first.split('\n').slice(1).join('\n');
    const up = `echo $! > gate.pid; until curl -sf "$SIGNALPRESS_BASE_URL/healthz" > healthz; do sleep 0.1; done\n`;
    const seen =
      'until curl -s "$SIGNALPRESS_BASE_URL/healthz" | grep -q \'"sequence":2\'; do sleep 0.1; done\n';
    const slow = second.replace('curl -s', `${seen}curl -s`);
    const { status, stderr, outputs } = walk([init + rest + up, slow, third], { cwd, at });
    const pid = Number(readFileSync(join(cwd, 'gate.pid'), 'utf8'));
    pids.push(pid);
    expect([status, stderr.includes('forks the log')]).toEqual([0, false]);
    const [one = '', two = '', three = ''] = outputs;
    expect(one).toContain('Release 1 is published.');
    expect(one).toMatch(/^ready to start: \d+ ok, \d+ warning, 0 failed/m);
    expect(two).toContain('Imported usgs-earthquakes into batch');
    expect(two).toContain('no problems.');
    expect(two).toMatch(/^\* 000002-/m);
    expect(two).toContain('"sequence":2');
    expect(three).toMatch(/^verified {2}restored$/m);
    expect(existsSync(join(cwd, 'safe/issuer.key'))).toBe(true);
    expect(existsSync(join(cwd, 'copy/issuer.key'))).toBe(false);

    const stamp = '. shop/shop.env; npx signalpress anchor stamp --data "$SIGNALPRESS_DATA"';
    expect(readFileSync(FIRST_WEEK, 'utf8')).toContain('`npx signalpress anchor stamp`');
    const before = readdirSync(join(cwd, 'shop/dist-data'), { recursive: true }).length;
    const offline = walk([`${stamp} --calendar http://127.0.0.1:1`], { cwd });
    expect(offline.status).toBe(1);
    expect(readdirSync(join(cwd, 'shop/dist-data'), { recursive: true })).toHaveLength(before);

    // A folder without the key has no second day.
    const keyless = first.replace(/^npx signalpress keygen.*\n/m, '');
    expect(walk([keyless], { cwd: walkFolder() }).status).toBe(1);
  });
});

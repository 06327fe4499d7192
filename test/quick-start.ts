import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { makeFolder } from './snapshot-folder.ts';

interface QuickStart {
  /** The folder that it starts in. */
  readonly top: string;
  /** What its release says where it is served. */
  readonly baseUrl: string;
  /** What its clock says all the time; that of this machine where it is left out. */
  readonly now?: Date;
  /** Plays an operator with the data key. */
  readonly isKeyed?: boolean;
}

/** Runs `npm start` until it serves, and stops it: what it compiled stays below `root`; its words are told. */
export async function quickStartData({ top, baseUrl, now, isKeyed = false }: QuickStart) {
  mkdirSync(top, { recursive: true });
  const modules = join(top, 'node_modules');
  try {
    symlinkSync(resolve('node_modules'), modules);
  } catch {
    // A second start finds it there.
  }
  const env = {
    PATH: process.env.PATH,
    NO_COLOR: '1',
    SIGNALPRESS_PORT: '0',
    SIGNALPRESS_BASE_URL: baseUrl,
    SIGNALPRESS_TEST_PAYMENTS: '1',
    SIGNALPRESS_SAMPLE_GRID: isKeyed ? '1' : '0',
    ...(now === undefined ? {} : { NODE_OPTIONS: `--import=${clockAt(now)}` }),
  };
  const child = spawn(process.execPath, [resolve('build/scripts/quick-start.js')], {
    cwd: top,
    env,
  });
  let text = '';
  const closed = once(child, 'close');
  const isServing = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.includes('Ctrl-C')) resolve();
      });
    }
  });
  await Promise.race([isServing, closed]);
  child.kill('SIGTERM');
  await closed;
  if (!text.includes('Ctrl-C')) throw new Error(`Cannot start the quick start: ${text}`);
  return { text, root: join(top, '.signalpress/quick-start') };
}

/** A module that stops the clock of its process at an instant. */
function clockAt(instant: Date): string {
  const source = `
    const now = ${instant.getTime()};
    globalThis.Date = class extends Date {
      constructor(...given) {
        super(...(given.length === 0 ? [now] : given));
      }
      static now() {
        return now;
      }
    };`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** Files that start the programs of the package. */
type Programs = Readonly<Record<'signalpress' | 'signalpress-gate', string>>;

/** Follows in an empty folder what `init` prints, as it is printed, down to a record that was bought and verified. */
export async function expectPrintedShop(programs: Programs): Promise<void> {
  const cwd = makeFolder();
  const env = { PATH: `${npxFolder(programs)}:${process.env.PATH}`, HOME: cwd };
  const sh = (script: string) => spawnSync('sh', ['-ec', script], { cwd, env, encoding: 'utf8' });
  const made = sh('npx signalpress init shop --lines tides');
  expect([made.status, made.stderr]).toEqual([0, '']);
  const port = String(await freePort());
  const settings = join(cwd, 'shop/shop.env');
  writeFileSync(settings, readFileSync(settings, 'utf8').replaceAll('4021', port));
  const [own = '', buyer = ''] = blocksOf(made.stdout).map((text) => text.replaceAll('4021', port));
  const readme = readFileSync(join(cwd, 'shop/README.md'), 'utf8');
  for (const line of own.trim().split(/\n\s*/)) expect(readme).toContain(line);
  const shop = spawn('sh', ['-ec', own], { cwd, env, detached: true, stdio: 'ignore' });
  try {
    expect(await isUp(`http://127.0.0.1:${port}`)).toBe(true);
    const bought = sh(buyer);
    expect([bought.status, bought.stderr]).toEqual([0, '']);
    expect(bought.stdout).toContain('verified  shop/answer.json');
    const { entity, current } = JSON.parse(readFileSync(join(cwd, 'shop/answer.json'), 'utf8'));
    expect([entity, current.level_m]).toEqual(['station-one', 3.4]);
    expect(sh('npx signalpress init shop').status).toBe(1);
  } finally {
    if (shop.pid !== undefined && shop.exitCode === null) process.kill(-shop.pid, 'SIGKILL');
  }
}

/** A folder with a program `npx` that starts these, so that commands run as they are printed. */
export function npxFolder(programs: Programs): string {
  const folder = makeFolder();
  const rows = Object.entries(programs).map(
    ([name, path]) => `${name}) exec "${process.execPath}" "${path}" "$@";;`,
  );
  const text = `#!/bin/sh\nname=$1; shift\ncase $name in\n${rows.join('\n')}\nesac\nexit 9\n`;
  writeFileSync(join(folder, 'npx'), text);
  chmodSync(join(folder, 'npx'), 0o755);
  return folder;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const blocksOf = (text: string): string[] =>
  [...text.matchAll(/(?:^ {2}\S.*\n?)+/gm)].map(([block]) => block);

export async function isUp(url: string): Promise<boolean> {
  for (let attempt = 0; attempt < 1200; attempt += 1) {
    const isHealthy = await fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isHealthy) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const README = join(import.meta.dirname, '../../../../compiler/publish/upload/README.md');

/** Whether nginx with its dav module is here; Debian has it in nginx-light. */
export function hasNginx(): boolean {
  const { stderr } = spawnSync('nginx', ['-V'], { encoding: 'utf8' });
  return stderr?.includes('http_dav_module') === true;
}

/** An nginx with the configuration that compiler/publish/upload/README.md shows, on a loopback port. */
export interface Nginx {
  readonly url: string;
  /** What it serves. */
  readonly root: string;
  /** The header that may write. */
  readonly auth: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

const running = new Set<ChildProcess>();
/** For `afterEach`. */
export function stopNginx(): void {
  for (const child of running) child.kill('SIGTERM');
  running.clear();
}

export async function nginx(): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
  const root = join(folder, 'shop');
  mkdirSync(root);
  const port = await freePort();
  const [, shown = ''] = /```nginx\n([\s\S]*?)```/.exec(readFileSync(README, 'utf8')) ?? [];
  const word = 'a-long-random-word-of-this-test';
  const server = shown
    .replaceAll('/srv/shop', root)
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replace('change-me-to-a-long-random-word', word);
  const paths = ['proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const lines = [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `pid ${join(folder, 'pid')};`,
    `error_log ${join(folder, 'error.log')};`,
    'worker_processes 1;',
    'events { worker_connections 128; }',
    `http { access_log off; ${paths.join(' ')}\n${server}\n}`,
  ];
  const config = join(folder, 'nginx.conf');
  writeFileSync(config, lines.join('\n'));
  let child: ChildProcess | null = null;
  const site: Nginx = {
    url: `http://127.0.0.1:${port}`,
    root,
    auth: `Authorization: Bearer ${word}`,
    async start() {
      const args = ['-p', folder, '-c', config, '-g', 'daemon off;'];
      child = spawn('nginx', args, { stdio: 'ignore' });
      running.add(child);
      for (let tries = 0; tries < 200; tries += 1) {
        if (
          await fetch(site.url).then(
            () => true,
            () => false,
          )
        )
          return;
        await new Promise((done) => setTimeout(done, 25));
      }
      throw new Error(`nginx did not start: ${readFileSync(join(folder, 'error.log'), 'utf8')}`);
    },
    async stop() {
      const stopping = child;
      if (stopping === null) return;
      running.delete(stopping);
      stopping.kill('SIGTERM');
      await new Promise((done) => stopping.once('close', done));
    },
  };
  await site.start();
  return site;
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}

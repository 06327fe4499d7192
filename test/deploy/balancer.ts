import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from './gate-process.ts';

const DEPLOY = resolve('gatekeeper/deploy');
const START_TIMEOUT_MS = 120_000;

/** nginx or HAProxy with the file of gatekeeper/deploy, in front of gatekeepers. */
export interface Balancer {
  readonly url: string;
  /** Address without TLS, which leads to the other one. */
  readonly plainUrl: string;
  /** The certificate, which signs itself. */
  readonly ca: string;
  start(): Promise<void>;
  /** Ends it without warning. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export interface BalancerOptions {
  readonly kind: 'nginx' | 'haproxy';
  /** Ports of the gatekeepers; HAProxy takes any number, nginx two. */
  readonly ports: readonly number[];
}

/** Why such a balancer cannot be started here; null if it can. */
export function missingBalancer(kind: BalancerOptions['kind']): string | null {
  if (kind === 'nginx' && process.getuid?.() !== 0)
    return 'nginx changes its user, which only root may';
  try {
    execFileSync(kind, ['-v'], { stdio: 'ignore' });
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return null;
  } catch {
    return `${kind} and openssl are needed: install them`;
  }
}

export async function startBalancer({ kind, ports }: BalancerOptions): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), `signalpress-${kind}-`));
  const ca = selfSigned(folder);
  const [tls = 0, plain = 0] = await freePorts(2);
  const place = { folder, tls, plain, ports };
  const path = join(folder, 'balancer.conf');
  writeFileSync(path, kind === 'nginx' ? nginxConfig(place) : haproxyConfig(place));
  const args = kind === 'nginx' ? ['-c', path, '-g', 'daemon off;'] : ['-db', '-f', path];
  let child: ChildProcess | null = null;
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    child = null;
    if (running?.pid === undefined || running.exitCode !== null || running.signalCode !== null)
      return;
    const ended = new Promise((done) => running.once('close', done));
    // Its workers belong to the same group.
    process.kill(-running.pid, signal);
    await ended;
  };
  process.once('exit', () => {
    if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  });
  const balancer: Balancer = {
    url: `https://127.0.0.1:${tls}`,
    plainUrl: `http://127.0.0.1:${plain}`,
    ca,
    async start() {
      child = spawn(kind, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
      await listening(child, tls);
    },
    kill: () => kill('SIGKILL'),
    async close() {
      await kill('SIGTERM');
      rmSync(folder, { recursive: true });
    },
  };
  await balancer.start();
  return balancer;
}

interface Place {
  readonly folder: string;
  readonly tls: number;
  readonly plain: number;
  readonly ports: readonly number[];
}

type Change = readonly [from: string, to: string];

/** A file of the examples with other ports and paths; throws when it does not say what is to be replaced. */
export function changed(name: string, changes: readonly Change[]): string {
  let text = readFileSync(join(DEPLOY, name), 'utf8');
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`Cannot change "${name}": it does not say "${from}"`);
    text = text.replaceAll(from, to);
  }
  return text;
}

function nginxConfig({ folder, tls, plain, ports }: Place): string {
  return changed('nginx.conf', [
    ['/run/', `${folder}/`],
    ['/var/log/nginx/', `${folder}/`],
    ['/etc/signalpress/', `${folder}/`],
    ['listen 443 ', `listen 127.0.0.1:${tls} `],
    ['listen 80;', `listen 127.0.0.1:${plain};`],
    ['127.0.0.1:4021', `127.0.0.1:${ports[0]}`],
    ['127.0.0.1:4022', `127.0.0.1:${ports[1]}`],
  ]);
}

function haproxyConfig({ folder, tls, plain, ports }: Place): string {
  const [, , ...others] = ports.map((port, at) => `    server gate-${at + 1} 127.0.0.1:${port}\n`);
  const text = changed('haproxy.cfg', [
    ['/etc/signalpress/', `${folder}/`],
    ['bind :443 ', `bind 127.0.0.1:${tls} `],
    ['bind :80\n', `bind 127.0.0.1:${plain}\n`],
    ['gate-1:4021', `127.0.0.1:${ports[0]}`],
    ['gate-2:4021', `127.0.0.1:${ports[1]}`],
  ]);
  return text + others.join('');
}

/** Makes a key and a certificate in a folder, under all names that the examples use. */
function selfSigned(folder: string): string {
  const [key, certificate] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...curve, ...name, ...files], {
    stdio: 'ignore',
  });
  const text = readFileSync(certificate, 'utf8');
  writeFileSync(join(folder, 'tls.pem'), text + readFileSync(key, 'utf8'));
  return text;
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let text = '';
  child.stderr?.on('data', (piece) => {
    if (text.length < 10_000) text += piece;
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (child.exitCode === null && performance.now() < deadline) {
    if (await accepts(port)) return;
    await pause(50);
  }
  throw new Error(`Cannot start "${child.spawnfile}": ${text}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });
}

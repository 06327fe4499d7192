import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { changed } from './balancer.ts';
import { freePorts, GATE, gateProcess, hasLogged } from './gate-process.ts';
import { startLoad } from './load.ts';

/** Exposure that `systemd-analyze security` gives a service without any hardening: 9.6. */
const EXPOSURE_MAX = 2;

const runs = (command: string): boolean => {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** The units under the names that systemd would give them for a port, in a folder of their own. */
function units(service = changed('signalpress@.service', [])): string[] {
  return written({
    'signalpress@4021.service': service,
    'signalpress@4021.socket': changed('signalpress@.socket', []),
  });
}

function publisherUnits(service = changed('signalpress-run.service', [])): string[] {
  return written({
    'signalpress-run.service': service,
    'signalpress-run.timer': changed('signalpress-run.timer', []),
  });
}

/** Units in a folder of their own; what they start need not be installed here. */
function written(units: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-units-'));
  return Object.entries(units).map(([name, text]) => {
    writeFileSync(join(folder, name), text.replaceAll(/^(Exec\w+=)\S+/gm, '$1/bin/true'));
    return join(folder, name);
  });
}

function analyzed(args: readonly string[]): { code: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  return { code: status, text: stdout + stderr };
}

describe.skipIf(!runs('systemd-analyze'))('the systemd units (need systemd-analyze)', () => {
  it('are valid, and a wrong one is noticed', () => {
    expect(analyzed(['verify', ...units()])).toEqual({ code: 0, text: '' });
    const wrong = changed('signalpress@.service', [['KillMode=mixed', 'KillMode=most']]);
    expect(analyzed(['verify', ...units(wrong)]).text).toMatch(/kill ?mode/i);
    expect(analyzed(['verify', ...publisherUnits()])).toEqual({ code: 0, text: '' });
    const late = changed('signalpress-run.service', [['Type=oneshot', 'Type=onetime']]);
    expect(analyzed(['verify', ...publisherUnits(late)]).text).toMatch(/type/i);
  });

  it.each([
    ['signalpress@.service', units],
    ['signalpress-run.service', publisherUnits],
  ])('leave %s little that it could harm', (name, unitsOf) => {
    const threshold = ['security', '--offline=true', `--threshold=${EXPOSURE_MAX * 10}`];
    const [unit = ''] = unitsOf();
    expect(analyzed([...threshold, unit]).code).toBe(0);
    const bare = changed(name, []).replace(/^CapabilityBoundingSet[\s\S]*EPERM$/m, '');
    const [open = ''] = unitsOf(bare);
    expect(analyzed([...threshold, open]).code).not.toBe(0);
  });

  it('give a stop more time than the gatekeeper takes', () => {
    const [, seconds] =
      /^TimeoutStopSec=([0-9]+)$/m.exec(changed('signalpress@.service', [])) ?? [];
    expect(Number(seconds)).toBeGreaterThan(9 + 1);
  });
});

/** Does what a `.socket` unit does: holds a port, and passes it to a program that it starts again whenever it ends. */
const HOLDER = `
import os, signal, socket, sys
held = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
is_stopping = False
pid = 0
def pass_on(number, _):
    global is_stopping
    is_stopping = number == signal.SIGTERM
    os.kill(pid, signal.SIGTERM)
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, pass_on)
while not is_stopping:
    pid = os.fork()
    if pid == 0:
        os.dup2(held.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
        os.execv(sys.argv[2], sys.argv[2:])
    os.waitpid(pid, 0)
`;

describe.skipIf(!runs('python3'))('a socket that is held (needs python3)', () => {
  const holders = new Set<ChildProcess>();
  afterEach(() => {
    for (const holder of holders) holder.kill('SIGTERM');
    holders.clear();
  });

  it.each([[{}], [{ SIGNALPRESS_WORKERS: '2' }], [{ SIGNALPRESS_DRAIN_SECONDS: '1' }]])(
    'I47: restarts without one failed answer, under load: %j',
    async (more) => {
      const folder = mkdtempSync(join(tmpdir(), 'signalpress-held-'));
      writeTinyRelease(join(folder, 'data'));
      const [port = 0] = await freePorts(1);
      const holder = spawn('python3', ['-c', HOLDER, String(port), process.execPath, GATE], {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          PATH: process.env.PATH,
          SIGNALPRESS_DATA: 'data',
          SIGNALPRESS_STATE: 'state',
          SIGNALPRESS_TEST_PAYMENTS: '1',
          SIGNALPRESS_RATE_LIMIT: '0',
          ...more,
        },
      });
      holders.add(holder);
      const words = `listens on http://127.0.0.1:${port}`;
      await hasLogged(holder, words);
      const load = startLoad(`http://127.0.0.1:${port}`, { buyers: 4 });
      for (let restart = 0; restart < 2; restart += 1) {
        const restarted = hasLogged(holder, words);
        holder.kill('SIGHUP');
        await restarted;
        await pause(500);
      }
      const { failures, purchases } = await load.stop();
      expect(failures).toEqual([]);
      expect(purchases).toBeGreaterThan(0);
      const ended = new Promise((done) => holder.once('close', done));
      holder.kill('SIGTERM');
      expect(await ended).toBe(0);
    },
  );
});

describe('a socket that nobody holds', () => {
  it('refuses buyers during a restart, which the load notices', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalpress-own-'));
    writeTinyRelease(join(folder, 'data'));
    const [port = 0] = await freePorts(1);
    const env = { SIGNALPRESS_DATA: 'data', SIGNALPRESS_STATE: 'state' };
    const test = { SIGNALPRESS_TEST_PAYMENTS: '1', SIGNALPRESS_RATE_LIMIT: '0' };
    const gate = gateProcess({ port, cwd: folder, env: { ...env, ...test } });
    await gate.start();
    const load = startLoad(`http://127.0.0.1:${port}`, { buyers: 2 });
    await pause(300);
    await gate.stop('SIGTERM');
    await gate.start();
    const { failed } = await load.stop();
    await gate.stop('SIGTERM');
    expect(failed).toBeGreaterThan(0);
  });
});

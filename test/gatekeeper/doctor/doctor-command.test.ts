import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doctorCommand } from '../../../gatekeeper/doctor/doctor-command.ts';
import { examine } from '../../../gatekeeper/doctor/examine.ts';
import { failed, ok } from '../../../gatekeeper/doctor/finding.ts';
import { StartError } from '../../../gatekeeper/system/start-error.ts';
import { built } from '../../built.ts';
import { tinyDataDir, writeTinyRelease } from '../tiny-release.ts';
import { examined, freePort } from './examined.ts';

/** Every check, in the order of the report. */
const NAMES = [
  'settings',
  'secrets',
  'release',
  'journal',
  'disk',
  'clock',
  'facilitator',
  'chain',
  'payee',
  'address',
];
const GATE = 'gatekeeper/signalpress-gate.js';
const LOCAL = { head: { base_url: 'http://127.0.0.1:4021' } };

/** A data folder whose release is for this machine alone. */
function localData(): string {
  const dataDir = tinyDataDir();
  writeTinyRelease(dataDir, LOCAL);
  return dataDir;
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  let text = '';
  const state = join(mkdtempSync(join(tmpdir(), 'signalpress-doctor-')), 'state');
  const write = (part: string): void => {
    text += part;
  };
  const by = { env: { SIGNALPRESS_STATE: state, ...env }, fileText: null, write };
  const code = await doctorCommand(args, {
    ...by,
    clock: () => Date.parse('2026-11-21T12:00:00Z'),
  });
  return { code, text, state };
}

describe('doctorCommand()', () => {
  it('reports every check once, returns 0 where nothing failed, and makes nothing', async () => {
    const port = String(await freePort());
    const { code, text, state } = await run(['--data', localData(), '--port', port]);
    expect([code, text.includes('ready to start: ')]).toEqual([0, true]);
    const told = [...text.matchAll(/^(?:ok|skipped) +([a-z]+) /gm)].map(([, name]) => name);
    expect([...new Set(told)]).toEqual(NAMES);
    expect(existsSync(state)).toBe(false);
  });

  it('returns 1 where something failed, and says under it what to do', async () => {
    const { code, text } = await run(['--data', tinyDataDir(), '--port', '0']);
    expect(code).toBe(1);
    expect(text).toMatch(/^failed +release +Cannot open release .*\n +-> .*signalpress compile/m);
    expect(text).toMatch(/\nnot ready to start: .* 1 failed/);
  });

  it('reports all settings that cannot be read, and shows no secret', async () => {
    const env = { SIGNALPRESS_PORT: 'x', SIGNALPRESS_TOKEN_SECRET: 'too short' };
    const { code, text } = await run([], env);
    expect(code).toBe(1);
    expect(text).toMatch(
      /^failed +settings +SIGNALPRESS_PORT "x": not a whole number\n +-> set TCP/m,
    );
    expect(text).toContain('2 failed');
    expect(text).not.toContain('too short');
  });

  it('writes JSON for programs', async () => {
    for (const args of [['--format', 'json'], ['--format=json']]) {
      const { code, text } = await run([...args, '--data', localData(), '--port', '0']);
      const { ready, findings } = JSON.parse(text) as { ready: boolean; findings: object[] };
      expect([code, ready]).toEqual([0, true]);
      expect(findings[0]).toMatchObject({ check: 'settings', state: 'ok' });
    }
  });

  it('tells how it is called, and refuses what it does not know', async () => {
    expect((await run(['--help'])).text).toContain('Usage: signalpress-gate doctor');
    for (const args of [['--format', 'xml'], ['--format'], ['--prot', '1'], ['now']]) {
      await expect(run(args)).rejects.toThrow(StartError);
    }
  });
});

describe('examine()', () => {
  it('takes a check that throws for a failure, and the others go on', async () => {
    const findings = await examine(examined(), [
      { name: 'one', run: () => Promise.reject(new StartError('Cannot do it: broken; mend it')) },
      { name: 'two', run: async () => [ok('well')] },
    ]);
    expect(findings).toEqual([
      { check: 'one', ...failed('Cannot do it: broken', 'mend it') },
      { check: 'two', ...ok('well') },
    ]);
  });
});

describe('signalpress-gate doctor (needs a build)', () => {
  const doctor = (cwd: string, env: Record<string, string>) =>
    spawnSync(process.execPath, [built(GATE), 'doctor'], { cwd, env, encoding: 'utf8' });

  it('checks what the start would use, and leaves the folder as it was', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'signalpress-doctor-'));
    const port = await freePort();
    const config = { data: localData(), port };
    writeFileSync(join(cwd, 'signalpress.config.json'), JSON.stringify(config), { mode: 0o600 });
    const well = doctor(cwd, {});
    expect([well.status, well.stderr]).toEqual([0, '']);
    expect(well.stdout).toMatch(new RegExp(`^ok +address +127.0.0.1:${port} is free$`, 'm'));
    expect(readdirSync(cwd)).toEqual(['signalpress.config.json']);
    const ill = doctor(cwd, { SIGNALPRESS_DATA: join(cwd, 'none') });
    expect(ill.status).toBe(1);
    expect(ill.stdout).toMatch(/^failed +release /m);
  });
});

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nodeFault } from '../compiler/format/node-version.ts';
import { built } from './command-runs.ts';
import { loadedModules } from './loaded-modules.ts';
import { makeFolder, removeFolders } from './snapshot-folder.ts';

afterAll(removeFolders);
const ROOT = join(import.meta.dirname, '..');
const { bin, engines, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  bin: Record<string, string>;
  engines: { node: string };
  version: string;
};
const PROGRAMS = Object.entries(bin);

/** Runs a program on this Node, which says that it is another one. */
function runOn(node: string, path: string, args: readonly string[]) {
  const home = makeFolder();
  const pretend = join(home, 'pretend.cjs');
  writeFileSync(
    pretend,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } });`,
  );
  const argv = ['--require', pretend, built(path.replace(/^build\//, '')), ...args];
  return spawnSync(process.execPath, argv, { cwd: home, env: {}, encoding: 'utf8' });
}

describe('a program on an old Node', () => {
  it.each(PROGRAMS)('%s says which Node it needs', (name, path) => {
    const [, needed = ''] = /^>=(.*)$/.exec(engines.node) ?? [];
    for (const node of ['12.22.12', '18.20.8', '20.18.3']) {
      const { status, stdout, stderr } = runOn(node, path, ['--version']);
      expect([status, stdout, stderr]).toEqual([
        1,
        '',
        `${name} needs Node ${needed} or newer, but this is ${node}; install one from https://nodejs.org\n`,
      ]);
    }
  });

  it.each(PROGRAMS)('%s says its version on one that is new enough', (_, path) => {
    for (const node of ['20.19.0', '24.0.0', process.versions.node]) {
      const { status, stdout, stderr } = runOn(node, path, ['--version']);
      expect([status, stdout, stderr]).toEqual([0, `${version}\n`, '']);
    }
  });

  it.each(PROGRAMS)('%s loads only the look at the version before it', (_, path) => {
    const imports = (file: string): string[] =>
      [
        ...readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;'"(]*['"]([^'"]+)['"]/gm),
      ].map(([, name = '']) => resolve(dirname(file), name));
    const look = built('compiler/format/node-version.js');
    expect(imports(join(ROOT, path))).toEqual([look]);
    expect(imports(look)).toEqual([]);
  });
});

describe('nodeProblem()', () => {
  it.each(['20.19.0', '20.20.2', '21.0.0', '24.11.1'])('takes Node %s', (version) => {
    expect(nodeFault('signalpress', version)).toBeNull();
  });

  it.each(['18.20.8', '20.18.3', '20.9.0'])('refuses Node %s and says what to do', (version) => {
    expect(nodeFault('signalpress', version)).toBe(
      `signalpress needs Node 20.19 or newer, but this is ${version}; install one from https://nodejs.org`,
    );
  });
});

/** What a program loads before its first line runs: `import … from`, without types and without `import()`. */
const LOADED = /^(?:import|export) (?!type\b)(?:[^'"]*? from )?'([^']+)';$/gms;

/** Names of the packages that a source file loads, itself or by others. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const names = [...readFileSync(file, 'utf8').matchAll(LOADED)].map(([, name = '']) => name);
  return new Set(
    names.flatMap((name) =>
      name.startsWith('.') ? [...packagesOf(join(dirname(file), name), seen)] : [name],
    ),
  );
}

const cli = join(import.meta.dirname, '../compiler/cli/cli.ts');

describe('the start of signalpress', () => {
  it('loads commander and nothing else of npm', () => {
    const packages = [...packagesOf(cli)].filter((name) => !name.startsWith('node:'));
    expect(packages).toEqual(['commander']);
  });

  it('loads no HTTP client for a compile or a verification', () => {
    for (const command of ['compile', 'verify']) {
      const packages = packagesOf(join(dirname(cli), `${command}-cli.ts`));
      expect([...packages]).toEqual(expect.arrayContaining(['zod', 'node:crypto']));
      expect(packages).not.toContain('undici');
      expect(packages).not.toContain('viem');
    }
  });

  it('is read as it is loaded: the client of agencies does load undici', () => {
    expect(packagesOf(join(dirname(cli), '../sources/fetch/agency-client.ts'))).toContain('undici');
  });
});

const CLI = 'compiler/signalpress.js';
const loaded = (...args: readonly string[]) => loadedModules(CLI, args);

describe('the shipped signalpress (needs a build)', () => {
  it('loads commander and a list of commands to show its help', () => {
    const { status, modules } = loaded('--help');
    expect(status).toBe(0);
    expect(modules.some((url) => url.endsWith('/build/compiler/bundle/cli.js'))).toBe(true);
    expect(modules.length).toBeLessThan(8);
    expect(modules.filter((url) => url.includes('/shared-'))).toEqual([]);
  });

  it('loads few modules for a compile, and no package beside them', () => {
    const { status, modules } = loaded('compile', '--help');
    expect(status).toBe(0);
    expect(modules.length).toBeLessThan(30);
    expect(modules.some((url) => /\/compile-[^/]+$/.test(url))).toBe(true);
    expect(modules.filter((url) => /node_modules|undici|import-command|upload/.test(url))).toEqual(
      [],
    );
  });

  it('loads no part of a compile to verify', () => {
    const { status, modules } = loaded('verify', '--help');
    expect(status).toBe(0);
    expect(modules.some((url) => url.includes('/verify-cli-'))).toBe(true);
    expect(modules.filter((url) => /compile-|signal-job|node_modules|undici/.test(url))).toEqual(
      [],
    );
  });
});

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nodeFault } from '../compiler/format/node-version.ts';
import { built } from './built.ts';
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

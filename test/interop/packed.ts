import { execFile, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** A project outside the repository that has the file of `npm pack`, and viem. */
export interface Project {
  readonly folder: string;
  readonly packedBytes: number;
  /** Runs a module of it; what it prints. */
  run(code: string, env?: Readonly<Record<string, string>>): Promise<string>;
  remove(): void;
}

/** Packs a folder and unpacks the file as npm does, without asking a registry. */
export function projectWith(packageFolder: string, name: string): Project {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-project-'));
  const args = ['pack', '--silent', '--pack-destination', folder, resolve(packageFolder)];
  const packed = spawnSync('npm', args, { encoding: 'utf8' });
  const file = readdirSync(folder).find((one) => one.endsWith('.tgz'));
  if (file === undefined) throw new Error(`npm pack wrote nothing: ${packed.stderr}`);
  const target = join(folder, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  spawnSync('tar', ['xzf', join(folder, file), '-C', target, '--strip-components=1']);
  symlinkSync(resolve('node_modules/viem'), join(folder, 'node_modules/viem'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}');
  let runs = 0;
  return {
    folder,
    packedBytes: statSync(join(folder, file)).size,
    async run(code, env = {}) {
      runs += 1;
      const path = join(folder, `run-${runs}.mjs`);
      writeFileSync(path, code);
      const options = { env: { ...process.env, ...env }, cwd: folder };
      return (await promisify(execFile)(process.execPath, [path], options)).stdout;
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** The client for Python as its `pyproject.toml` installs it, in a folder for PYTHONPATH: pip needs a registry for its wheel. */
export function pythonClientIn(folder: string): string {
  const source = join(folder, 'python-source');
  cpSync(resolve('compiler/client/python'), source, { recursive: true });
  const target = join(folder, 'python');
  const args = ['-c', 'import setuptools; setuptools.setup()', 'build', '--build-lib', target];
  const run = spawnSync('python3', ['-W', 'ignore', ...args], { cwd: source, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr);
  return target;
}

import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);
const ROOT = join(import.meta.dirname, '../..');
const SETTINGS = {
  compilerOptions: {
    module: 'NodeNext',
    types: [],
    rootDir: '.',
    outDir: 'build',
    incremental: true,
    tsBuildInfoFile: 'build/.tsbuildinfo',
  },
  include: ['compiler'],
};
const DECLARED = {
  extends: '../tsconfig.json',
  compilerOptions: {
    declaration: true,
    emitDeclarationOnly: true,
    tsBuildInfoFile: '../build/.tsbuildinfo-client',
  },
  include: ['.'],
};

/** A project of one source that is built as this one is, by its own first steps. */
function makeProject(): { folder: string; build(): void } {
  const folder = makeFolder();
  mkdirSync(join(folder, 'compiler'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(SETTINGS));
  writeFileSync(join(folder, 'compiler/tsconfig.json'), JSON.stringify(DECLARED));
  writeFileSync(join(folder, 'compiler/price.ts'), "export const price: string = '0.01';\n");
  const run = (...argv: string[]): void => {
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, stdout, stderr]).toEqual([0, '', '']);
  };
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  return {
    folder,
    build() {
      run(join(ROOT, 'scripts/forget-broken-build.js'));
      run(tsc);
      run(tsc, '-p', 'compiler');
    },
  };
}

describe('forget-broken-build.js', () => {
  it.each(['price.js', 'price.d.ts'])('lets a build write a deleted %s again', (name) => {
    const { folder, build } = makeProject();
    const output = join(folder, 'build/compiler', name);
    build();
    const before = readFileSync(output, 'utf8');
    rmSync(output);
    build();
    expect(readFileSync(output, 'utf8')).toBe(before);
  });

  it('lets a build write an edited file again', () => {
    const { folder, build } = makeProject();
    const output = join(folder, 'build/compiler/price.js');
    build();
    const before = readFileSync(output, 'utf8');
    appendFileSync(output, 'throw new Error();\n');
    build();
    expect(readFileSync(output, 'utf8')).toBe(before);
  });

  it('lets a build start anew from notes that nobody can read', () => {
    const { folder, build } = makeProject();
    build();
    rmSync(join(folder, 'build/compiler/price.js'));
    writeFileSync(join(folder, 'build/.tsbuildinfo'), '{');
    build();
    expect(existsSync(join(folder, 'build/compiler/price.js'))).toBe(true);
  });

  it('leaves a whole build alone, so that the next one writes nothing', () => {
    const { folder, build } = makeProject();
    const names = ['.tsbuildinfo', '.tsbuildinfo-client', 'compiler/price.js'];
    const times = () => names.map((name) => statSync(join(folder, 'build', name)).mtimeMs);
    build();
    const before = times();
    build();
    expect(times()).toEqual(before);
  });

  it('is the first step of the build', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: { build: string };
    };
    expect(scripts.build).toMatch(/^node scripts\/forget-broken-build\.js && tsc && /);
  });
});

import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, removeFolders } from '../../../snapshot-folder.ts';

afterAll(removeFolders);
const ROOT = join(import.meta.dirname, '../../../..');
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

/** The first steps of this project's own build. */
function build(folder: string): void {
  const run = (...argv: string[]): void => {
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, stdout, stderr]).toEqual([0, '', '']);
  };
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  run(join(ROOT, 'scripts/forget-broken-build.js'));
  run(tsc);
  run(tsc, '-p', 'compiler');
}

/** A project of one source, built once; each test changes a copy. */
const project = makeFolder();
beforeAll(() => {
  mkdirSync(join(project, 'compiler'));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(SETTINGS));
  writeFileSync(join(project, 'compiler/tsconfig.json'), JSON.stringify(DECLARED));
  writeFileSync(join(project, 'compiler/price.ts'), "export const price: string = '0.01';\n");
  build(project);
});

function copied(): string {
  const folder = makeFolder();
  cpSync(project, folder, { recursive: true, preserveTimestamps: true });
  return folder;
}

describe('forget-broken-build.js', () => {
  it.each(['price.js', 'price.d.ts'])('lets a build write a deleted %s again', (name) => {
    const folder = copied();
    const output = join(folder, 'build/compiler', name);
    const before = readFileSync(output, 'utf8');
    rmSync(output);
    build(folder);
    expect(readFileSync(output, 'utf8')).toBe(before);
  });

  it('lets a build write an edited file again', () => {
    const folder = copied();
    const output = join(folder, 'build/compiler/price.js');
    const before = readFileSync(output, 'utf8');
    appendFileSync(output, 'throw new Error();\n');
    build(folder);
    expect(readFileSync(output, 'utf8')).toBe(before);
  });

  it('lets a build start again from notes that nobody can read', () => {
    const folder = copied();
    rmSync(join(folder, 'build/compiler/price.js'));
    writeFileSync(join(folder, 'build/.tsbuildinfo'), '{');
    build(folder);
    expect(existsSync(join(folder, 'build/compiler/price.js'))).toBe(true);
  });

  it('leaves a whole build alone, so that the next one writes nothing', () => {
    const folder = copied();
    const names = ['.tsbuildinfo', '.tsbuildinfo-client', 'compiler/price.js'];
    const times = () => names.map((name) => statSync(join(folder, 'build', name)).mtimeMs);
    const before = times();
    build(folder);
    expect(times()).toEqual(before);
  });

  it('is the first step of a build of what is not fresh', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<'build' | 'build:anew', string>;
    };
    expect(scripts.build).toMatch(/ fresh \|\| npm run --silent build:anew$/);
    expect(scripts['build:anew']).toMatch(
      /^node scripts\/forget-broken-build\.js && tsc -p scripts && /,
    );
  });
});

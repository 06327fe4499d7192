import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, removeFolders } from '../../../snapshot-folder.ts';

afterAll(removeFolders);
const STAMP = join(import.meta.dirname, '../../../../scripts/build-stamp.js');

function stamp(root: string, what: string): { status: number | null; stdout: string } {
  const { status, stdout } = spawnSync(process.execPath, [STAMP, what], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout };
}

/** A repository with one source in each folder, built as it is. */
function builtRoot(): string {
  const root = makeFolder();
  for (const folder of ['compiler', 'gatekeeper', 'scripts', 'build/compiler', 'test/lab']) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, 'one.ts'), 'export {};\n');
  }
  writeFileSync(join(root, 'package-lock.json'), '{}');
  expect(stamp(root, 'write').status).toBe(0);
  return root;
}

const isFresh = (root: string): boolean => stamp(root, 'fresh').status === 0;
const OLD = 'The build is older than its sources; run npm run build';

describe('build-stamp.js', () => {
  it('finds nothing to build in what was built, and a document that changed', () => {
    const root = builtRoot();
    expect([stamp(root, 'problem').stdout, isFresh(root)]).toEqual(['', true]);
    writeFileSync(join(root, 'test/lab/one.test.ts'), 'export const a = 1;\n');
    writeFileSync(join(root, 'build/.tsbuildinfo-check'), '{}');
    // Written again, as a rebase does it: the bytes count, not their time.
    writeFileSync(join(root, 'compiler/one.ts'), 'export {};\n');
    expect([stamp(root, 'problem').stdout, isFresh(root)]).toEqual(['', true]);
    // Documents are pages of a shop; the programs stay as they are.
    writeFileSync(join(root, 'compiler/README.md'), 'words');
    expect([stamp(root, 'problem').stdout, isFresh(root)]).toEqual(['', false]);
  });

  it.each<[string, (root: string) => void]>([
    ['changed', (root) => writeFileSync(join(root, 'gatekeeper/one.ts'), 'export { };\n')],
    ['new', (root) => writeFileSync(join(root, 'scripts/two.js'), '')],
    ['another experiment', (root) => writeFileSync(join(root, 'test/lab/one.ts'), '')],
    ['gone', (root) => rmSync(join(root, 'compiler/one.ts'))],
  ])('says what to do about a source that is %s', (_, change) => {
    const root = builtRoot();
    change(root);
    expect([stamp(root, 'problem').stdout, isFresh(root)]).toEqual([OLD, false]);
  });

  it('builds again for what the lab may import, while tests run the programs as they are', () => {
    const root = builtRoot();
    writeFileSync(join(root, 'test/one.ts'), 'export const a = 1;\n');
    expect([stamp(root, 'problem').stdout, isFresh(root)]).toEqual(['', false]);
  });

  it.each<[string, (root: string) => void]>([
    ['other packages', (root) => writeFileSync(join(root, 'package-lock.json'), '{"a":1}')],
    ['a style', (root) => writeFileSync(join(root, 'compiler/one.css'), '')],
    ['a file of the build that is gone', (root) => rmSync(join(root, 'build/compiler/one.ts'))],
    [
      'a file of the build that was written since',
      (root) => utimesSync(join(root, 'build/compiler/one.ts'), 1, 1),
    ],
  ])('builds again for %s', (_, change) => {
    const root = builtRoot();
    change(root);
    expect(isFresh(root)).toBe(false);
  });

  it('says what to do without a whole build', () => {
    const root = builtRoot();
    rmSync(join(root, 'build/.sources'));
    const { stdout } = stamp(root, 'problem');
    expect([stdout, isFresh(root)]).toEqual(['There is no whole build; run npm run build', false]);
  });
});

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

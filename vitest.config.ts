import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Folders of tests that need packages of their own, each with a command of its own: `npm run test:NAME`. */
const APART = ['interop', 'chain', 'postgres', 'browser', 'deploy'];

/** They lie in a folder of that name; those of the lab have it in front of `.test.ts`. */
const globsOf = (name: string): string[] => [
  `test/${name}/**/*.test.ts`,
  `test/lab/**/*.${name}.test.ts`,
];
const isApart = (path: string): boolean =>
  APART.some((name) => path.startsWith(`${name}/`) || path.endsWith(`.${name}.test.ts`));

/** What only a worker of its own can do: replace modules, watch every connection of the process, or measure its memory. */
const ALONE = ['vi.mock(', 'vi.doMock(', 'vi.spyOn(Socket.prototype', 'process.memoryUsage('];

const UNITS_AND_LAB = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !isApart(path))
  .map((path) => join('test', path));
const isAlone = (path: string): boolean =>
  ALONE.some((text) => readFileSync(path, 'utf8').includes(text));
const isLab = (path: string): boolean => path.startsWith('test/lab/');

/** Test files that may share the modules of a worker, or may not, in the lab or beside it. */
const filesOf = ({ lab, alone }: { lab: boolean; alone: boolean }): string[] =>
  UNITS_AND_LAB.filter((path) => isLab(path) === lab && isAlone(path) === alone);

/** Modules of the tests' own in their place. */
const OWN_MODULES = {
  alias: [
    { find: /^fast-check$/, replacement: join(import.meta.dirname, 'test/fewer-rounds.ts') },
    { find: /^@noble\/ed25519$/, replacement: join(import.meta.dirname, 'test/known-signatures.ts') },
    { find: /^@noble\/hashes\/sha2\.js$/, replacement: join(import.meta.dirname, 'test/known-hashes.ts') },
  ],
};

/** Limits suit a loaded machine; what a test should take is judged by the benches of test/lab, never here. */
export default defineConfig({
  test: {
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // By default one core stays idle, which on two cores doubles the time.
    maxWorkers: '100%',
    projects: [
      // Without isolation a worker loads a module once for all its test files: no test leaves anything in one.
      ...[
        { name: 'shared', isolate: false, include: filesOf({ lab: false, alone: false }) },
        { name: 'isolated', isolate: true, include: filesOf({ lab: false, alone: true }) },
        { name: 'lab', isolate: false, include: filesOf({ lab: true, alone: false }) },
        { name: 'lab-isolated', isolate: true, include: filesOf({ lab: true, alone: true }) },
      ].map((test) => ({ extends: true as const, resolve: OWN_MODULES, test })),
      ...APART.map((name) => ({
        extends: true as const,
        test: { name, include: globsOf(name), exclude: ['**/node_modules/**'] },
      })),
    ],
    setupFiles: ['test/compress-once.ts'],
    globalSetup: ['test/temporary-folder.ts', 'test/build-state.ts'],
  },
});

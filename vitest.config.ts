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
/** Those of the lab run in a project of their own, each file with its own modules. */
const isApart = (path: string): boolean =>
  path.startsWith('lab/') ||
  APART.some((name) => path.startsWith(`${name}/`) || path.endsWith(`.${name}.test.ts`));

/** What only a worker of its own can do: replace modules, or watch every connection of the process. */
const ALONE = ['vi.mock(', 'vi.doMock(', 'vi.spyOn(Socket.prototype'];

/** Tests whose files may share the modules of a worker. */
const SHARING = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !isApart(path))
  .map((path) => join('test', path))
  .filter((path) => !ALONE.some((text) => readFileSync(path, 'utf8').includes(text)));

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
      {
        extends: true,
        resolve: OWN_MODULES,
        test: {
          name: 'shared',
          include: SHARING,
          // Each worker loads a module once for all its test files: no test leaves anything in one.
          isolate: false,
        },
      },
      {
        extends: true,
        resolve: OWN_MODULES,
        test: {
          name: 'isolated',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...APART.flatMap(globsOf),
            'test/lab/**',
            '**/node_modules/**',
            ...SHARING,
          ],
        },
      },
      {
        extends: true,
        resolve: OWN_MODULES,
        test: {
          name: 'lab',
          include: ['test/lab/**/*.test.ts'],
          exclude: APART.flatMap(globsOf),
        },
      },
      ...APART.map((name) => ({
        extends: true as const,
        test: { name, include: globsOf(name), exclude: ['**/node_modules/**'] },
      })),
    ],
    setupFiles: ['test/worker-setup.ts'],
    globalSetup: ['test/temporary-folder.ts', 'test/build-state.ts'],
  },
});

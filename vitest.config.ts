import { defineConfig } from 'vitest/config';

/** Limits suit a loaded machine; what a test should take is judged by the scripts named bench, never here. */
export default defineConfig({
  test: {
    dir: 'test',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // By default one core stays idle, which on two cores doubles the time.
    maxWorkers: '100%',
    globalSetup: 'test/temporary-folder.ts',
  },
});

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** What keeps a test from running what is built; null where nothing does. */
    buildProblem: string | null;
  }
}

/** Compares the build with its sources, once a run. */
export default function setup(project: TestProject): void {
  const root = join(import.meta.dirname, '..');
  const script = join(root, 'scripts/build-stamp.js');
  const problem = execFileSync(process.execPath, [script, 'problem'], {
    cwd: root,
    encoding: 'utf8',
  });
  project.provide('buildProblem', problem === '' ? null : problem);
}

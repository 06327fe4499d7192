import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildProblem } from '../scripts/sources-digest.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** What keeps a test from running what is built; null where nothing does. */
    buildProblem: string | null;
  }
}

/** Compares the build with its sources, once a run. */
export default function setup(project: TestProject): void {
  project.provide('buildProblem', buildProblem(join(import.meta.dirname, '..')));
}

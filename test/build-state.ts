import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { sourcesDigest, stampPath } from '../scripts/sources-digest.ts';

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

/** What keeps a test from running what is built, and what to do; null where the build is that of these sources. */
export function buildProblem(root: string): string | null {
  if (!existsSync(stampPath(root))) return 'There is no whole build; run npm run build';
  if (readFileSync(stampPath(root), 'utf8') === sourcesDigest(root)) return null;
  return 'The build is older than its sources; run npm run build';
}

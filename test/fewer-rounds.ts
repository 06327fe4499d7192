import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type fastCheck from 'fast-check';
import type { Parameters } from 'fast-check';

// The tests' fast-check (vitest.config.ts). Properties run a tenth of their rounds, since `npm test` is what an engineer
// runs before each commit; FULL_ROUNDS=1, which `.ci/run` sets, runs all of them.

const ROUNDS_SHARE = process.env.FULL_ROUNDS === '1' ? 1 : 10;

/** Whoever asks for no more rounds than that gets them, and so does a run with a seed of its own, which is one case. */
const FEW = 20;

const { resolve } = createRequire(import.meta.url);
const real: typeof fastCheck = (await import(pathToFileURL(resolve('fast-check')).href)).default;

function fewer<T>(asked: Parameters<T> = {}): Parameters<T> {
  const { numRuns = 100, seed } = asked;
  if (seed !== undefined) return asked;
  return { ...asked, numRuns: Math.max(Math.min(numRuns, FEW), Math.ceil(numRuns / ROUNDS_SHARE)) };
}

const assert = (property: never, asked?: Parameters<unknown>) =>
  real.assert(property, fewer(asked));

export default { ...real, assert: assert as typeof fastCheck.assert };

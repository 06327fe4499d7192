/** `npm test` runs a tenth of what is run many times; FULL_ROUNDS=1, which `.ci/run` sets, runs all of it. */
export const ROUNDS_SHARE = process.env.FULL_ROUNDS === '1' ? 1 : 10;

/** Of very many like cases about a tenth, or all of them. The step is prime, so that cases of each kind in turn are met. */
export function someOf<T>(cases: readonly T[]): readonly T[] {
  return ROUNDS_SHARE === 1 ? cases : cases.filter((_, at) => at % (ROUNDS_SHARE + 1) === 0);
}

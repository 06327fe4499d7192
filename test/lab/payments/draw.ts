import { createHash } from 'node:crypto';

const RANGE = 2 ** 32;

/** A number in [0, 1) that depends on the seed and the label alone, so that chance does not depend on timing. */
export function draw(seed: number, label: string): number {
  return createHash('sha256').update(`${seed}|${label}`).digest().readUInt32BE(0) / RANGE;
}

/** One of the choices, each as likely as its weight says. */
export function choose<T>(chance: number, choices: readonly (readonly [T, number])[]): T {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
  let left = chance * total;
  for (const [choice, weight] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  throw new RangeError('Cannot choose: no choices');
}

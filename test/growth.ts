/** Times of a measured task: the fastest of a few runs, since other work only ever adds to it. */
const RUNS = 4;

function fastest(task: () => unknown): number {
  const times = Array.from({ length: RUNS }, () => {
    const began = performance.now();
    task();
    return performance.now() - began;
  });
  return Math.min(...times);
}

/** How many times longer a task takes for four times as much; 4 is linear, 16 quadratic. */
export function growth(size: number, taskOf: (size: number) => () => unknown): number {
  const [small, large] = [taskOf(size), taskOf(4 * size)];
  small();
  return fastest(large) / fastest(small);
}

/** Linear with room for a busy machine and for sorting, and far from quadratic. */
export const GROWTH_MAX = 9;

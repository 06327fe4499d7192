/** A measured task runs a few times, and the fastest counts: other work only ever adds to it. */
const RUNS = 4;

/** Milliseconds of CPU that a task takes: what else runs on the machine adds little to them. */
export function cpuMsOf(task: () => unknown): number {
  const began = process.cpuUsage();
  task();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

function fastest(task: () => unknown): number {
  return Math.min(...Array.from({ length: RUNS }, () => cpuMsOf(task)));
}

/** How many times longer a task takes for four times as much; 4 is linear, 16 quadratic. */
export function growth(size: number, taskOf: (size: number) => () => unknown): number {
  const [small, large] = [taskOf(size), taskOf(4 * size)];
  small();
  return fastest(large) / fastest(small);
}

/** Linear with room for a busy machine and for sorting, and far from quadratic. */
export const GROWTH_MAX = 9;

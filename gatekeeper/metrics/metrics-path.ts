/** Path of the metrics; not an operation of the table. */
export const METRICS_PATH = '/metrics';

export function isMetrics(target: string): boolean {
  return target === METRICS_PATH || target.startsWith(`${METRICS_PATH}?`);
}

import { jsonReply, type Reply } from './reply.ts';

const METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** Path of the health report; not an operation of the table. */
export const HEALTH_PATH = '/healthz';
/** Path of the metrics; not an operation of the table. */
export const METRICS_PATH = '/metrics';

export function isHealth(target: string): boolean {
  return isPath(target, HEALTH_PATH);
}

export function isMetrics(target: string): boolean {
  return isPath(target, METRICS_PATH);
}

function isPath(target: string, path: string): boolean {
  return target === path || target.startsWith(`${path}?`);
}

/** What HEALTH_PATH answers a method; null for one that every path answers alike. */
export function healthReply(method: string, health: () => Reply): Reply | null {
  if (method === 'OPTIONS') return null;
  if (METHODS.includes(method)) return health();
  const error = `${method} is not a method of ${HEALTH_PATH}; send GET`;
  return jsonReply(405, { error, allow: METHODS }, [['allow', METHODS.join(', ')]]);
}

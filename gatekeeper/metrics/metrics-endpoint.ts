import { createHash, timingSafeEqual } from 'node:crypto';
import type { MetricsEndpoint } from '../http/own-paths.ts';
import { jsonReply, NO_STORE } from '../http/reply.ts';
import type { Instruments } from './instruments.ts';

const METHODS = ['GET', 'HEAD'];
const ASKS: readonly [string, string] = ['www-authenticate', 'Bearer realm="metrics"'];

/** Without a token everybody is let in, so its address must be loopback then. */
export function metricsEndpoint(
  { text, contentType }: Pick<Instruments, 'text' | 'contentType'>,
  token: string | null,
): MetricsEndpoint {
  const wanted = token === null ? null : digest(`Bearer ${token}`);
  const isOpenTo = (authorization: string | null): boolean =>
    wanted === null || timingSafeEqual(digest(authorization ?? ''), wanted);
  return {
    isOpenTo,
    async reply(method, authorization) {
      if (!isOpenTo(authorization)) {
        const error = 'Metrics are for the operator; send "Authorization: Bearer <token>"';
        return jsonReply(401, { error }, [ASKS]);
      }
      if (!METHODS.includes(method)) {
        const error = `${method} is not a method of the metrics; send GET`;
        return jsonReply(405, { error, allow: METHODS }, [['allow', METHODS.join(', ')]]);
      }
      return {
        status: 200,
        headers: [['content-type', contentType], NO_STORE],
        body: Buffer.from(await text(), 'utf8'),
      };
    },
  };
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

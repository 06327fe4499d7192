import { createHash, timingSafeEqual } from 'node:crypto';
import type { Arrival } from '../http/limits.ts';
import { isMetrics, METRICS_PATH } from '../http/own-paths.ts';
import { jsonReply, NO_STORE, type Reply } from '../http/reply.ts';
import { plainResponse, type Responder } from '../http/request.ts';
import type { Instruments } from './instruments.ts';

const METHODS = ['GET', 'HEAD'];
const ASKS: readonly [string, string] = ['www-authenticate', 'Bearer realm="metrics"'];

/** Answers METRICS_PATH to whoever may read it. */
export interface MetricsEndpoint {
  /** Whoever knows the token reads the metrics even while a crowd is kept waiting. */
  isScrape(arrival: Pick<Arrival, 'target' | 'facts'>): boolean;
  reply(method: string, authorization: string | null): Promise<Reply>;
  /** The same responder with METRICS_PATH beside its own paths. */
  beside(responder: Responder): Responder;
}

/** Without a token everybody is let in, so its address must be loopback then. */
export function metricsEndpoint(
  { text, contentType }: Pick<Instruments, 'text' | 'contentType'>,
  token: string | null,
): MetricsEndpoint {
  const wanted = token === null ? null : digest(`Bearer ${token}`);
  const isOpenTo = (authorization: string | null): boolean =>
    wanted === null || timingSafeEqual(digest(authorization ?? ''), wanted);
  const reply: MetricsEndpoint['reply'] = async (method, authorization) => {
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
  };
  return {
    isScrape: ({ target, facts }) => isMetrics(target) && isOpenTo(facts.authorization),
    reply,
    beside: ({ respond, ...responder }) => ({
      ...responder,
      async respond(request) {
        if (!isMetrics(request.target)) return respond(request);
        const given = await reply(request.method, request.facts.authorization);
        return plainResponse(given, METRICS_PATH);
      },
    }),
  };
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

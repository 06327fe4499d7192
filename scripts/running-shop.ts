import { z } from 'zod';
import { KEYS_URL } from '../compiler/contract/static-files.ts';
import { HEALTH_PATH } from '../gatekeeper/http/request.ts';

/** A shop on this machine answers in milliseconds; whoever needs longer is none. */
const PATIENCE_MS = 3000;

const healthSchema = z.object({
  status: z.enum(['ready', 'not_ready']),
  why: z.array(z.string()).optional(),
  settlement: z.string(),
  release: z.object({ sequence: z.number(), as_of: z.string() }),
});
const keysSchema = z.object({ keys: z.array(z.object({ did: z.string() })) });

/** The shop that `npm start` started. */
export interface RunningShop {
  readonly url: string;
  /** Who signs what it sells, as it was asked for. */
  readonly issuer: string;
  /** Sequence and time of the release that it serves. */
  readonly sequence: number;
  readonly asOf: string;
}

/** Why there is no such shop, as the beginning of a sentence. */
interface NoShop {
  readonly absent: string;
}

/**
 * Looks for the shop of an issuer at a port of this machine. Throws where a shop takes real payments, or cannot sell at
 * this moment: a demo beside it would hide that.
 */
export async function runningShop(
  port: number,
  issuer: string | null,
  patienceMs = PATIENCE_MS,
): Promise<RunningShop | NoShop> {
  if (port === 0) return { absent: 'SIGNALPRESS_PORT is 0, which is no port to look at' };
  const url = `http://127.0.0.1:${port}`;
  const health = await answerOf(url + HEALTH_PATH, healthSchema, patienceMs);
  if (health === 'nobody') return { absent: `Nothing listens on port ${port}` };
  if (health === 'stranger') return { absent: `Another program listens on port ${port}` };
  if (health.settlement !== 'test') {
    const state = 'it takes real payments, and the demo only pretends to pay';
    throw cannotBuy(url, port, state);
  }
  const listed = await answerOf(url + KEYS_URL, keysSchema, patienceMs);
  if (
    issuer === null ||
    typeof listed === 'string' ||
    !listed.keys.some((key) => key.did === issuer)
  ) {
    return { absent: `Port ${port} serves the files of another issuer` };
  }
  if (health.status !== 'ready') {
    throw cannotBuy(url, port, `it is not ready (${health.why?.join(', ')})`);
  }
  return { url, issuer, sequence: health.release.sequence, asOf: health.release.as_of };
}

function cannotBuy(url: string, port: number, state: string): Error {
  return new Error(
    `Cannot buy from the shop at "${url}": ${state}; ` +
      `stop that shop, or let the demo look at another port: SIGNALPRESS_PORT=${port + 1} npm run demo`,
  );
}

/** The JSON of an address; 'nobody' where no program listens, 'stranger' where it answers something else, or nothing. */
async function answerOf<T>(
  url: string,
  schema: z.ZodType<T>,
  patienceMs: number,
): Promise<T | 'nobody' | 'stranger'> {
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: AbortSignal.timeout(patienceMs),
    });
    const answer = schema.safeParse(await response.json());
    return answer.success ? answer.data : 'stranger';
  } catch (error) {
    return isRefused(error) ? 'nobody' : 'stranger';
  }
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}

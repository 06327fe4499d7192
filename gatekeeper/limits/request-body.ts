import type { IncomingMessage } from 'node:http';
import { jsonReply, type Reply } from '../http/reply.ts';

/** Longest body of one request. */
const BODY_BYTES_MAX = 256 * 1024;
/** Bytes of bodies that are arriving at the same time, over all connections. */
const BODIES_BYTES_MAX = 32 * 1024 * 1024;
/** Seconds after which a service that is busy with other bodies is worth asking again. */
const BUSY_RETRY_S = 2;

/** Reads request bodies within one budget, so that many slow ones cannot fill the memory. */
export class BodyReader {
  #held = 0;

  /** Bytes of bodies that are arriving now. */
  get held(): number {
    return this.#held;
  }

  /** The whole body of a request, or the reply that refuses it; never rejects. */
  async read(request: IncomingMessage, limit = BODY_BYTES_MAX): Promise<Buffer | Reply> {
    if (Number(request.headers['content-length'] ?? 0) > limit) return tooLong(limit);
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        size += chunk.length;
        this.#held += chunk.length;
        if (size > limit) return tooLong(limit);
        if (this.#held > BODIES_BYTES_MAX) return busy();
        chunks.push(chunk);
      }
      return request.complete ? Buffer.concat(chunks, size) : cutOff();
    } catch {
      return cutOff();
    } finally {
      this.#held -= size;
    }
  }
}

function tooLong(limit: number): Reply {
  return jsonReply(413, { error: `Body longer than ${limit} bytes; send less`, no_charge: true });
}

function cutOff(): Reply {
  return jsonReply(400, {
    error: 'Body ended before its declared length; send it again',
    no_charge: true,
  });
}

function busy(): Reply {
  const body = { error: 'Too many request bodies at once; send it again', retryable: true };
  return jsonReply(503, body, [['retry-after', String(BUSY_RETRY_S)]]);
}

import type { ContentAnswer } from '../answers/service.ts';
import { JSON_MEDIA_TYPE } from '../http/reply.ts';

/** Most bytes of one free answer; what may be longer has pages or asks for a narrower filter. */
export const FREE_BYTES_MAX = 1_000_000;

/** A JSON body that is computed rather than stored. */
export function jsonContent(body: unknown, keepMs: number): ContentAnswer {
  return jsonBytes(Buffer.from(JSON.stringify(body), 'utf8'), keepMs);
}

/** A JSON body that is written already. */
export function jsonBytes(body: Buffer, keepMs: number): ContentAnswer {
  return { kind: 'content', content: { body, contentType: JSON_MEDIA_TYPE, keepMs } };
}

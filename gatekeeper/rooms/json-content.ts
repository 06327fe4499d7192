import { messageOf } from '../../compiler/format/errors.ts';
import type { Answered, Content, ContentAnswer, Service } from '../heart/answers/service.ts';
import { isLogged } from '../heart/release/read-body.ts';
import { JSON_MEDIA_TYPE, jsonReply } from '../wire/reply.ts';

/** Most bytes of one free answer; what may be longer has pages or asks for a narrower filter. */
export const FREE_BYTES_MAX = 1_000_000;

/** A JSON body that is computed rather than stored. */
export function jsonContent(
  body: unknown,
  keepMs: number,
  more: Pick<Content, 'isEmpty'> = {},
): ContentAnswer {
  const { content } = jsonBytes(Buffer.from(JSON.stringify(body), 'utf8'), keepMs);
  return { kind: 'content', content: { ...content, ...more } };
}

/** A JSON body that is written already. */
export function jsonBytes(body: Buffer, keepMs: number): ContentAnswer {
  return { kind: 'content', content: { body, contentType: JSON_MEDIA_TYPE, keepMs } };
}

const ERROR = 'The look-up could not be completed; this says nothing about the hash. Ask again';

/** The 503 of a look-up that the disk did not allow: it says nothing about what was asked. */
export function undetermined(
  asked: { endpoint: string; hash?: string },
  error: unknown,
  { log }: Service,
): Answered {
  if (!isLogged(error)) log({ event: 'look_up_failed', error: messageOf(error) });
  const body = { ...asked, undetermined: true, error: ERROR, no_charge: true, retryable: true };
  return { kind: 'reply', reply: jsonReply(503, body, [['retry-after', '5']]) };
}

import type { Answered, Service } from '../answers/service.ts';
import { jsonReply } from '../http/reply.ts';
import { isLogged } from '../release/read-body.ts';
import { messageOf } from '../system/message-of.ts';

const ERROR = 'The look-up could not be completed; this says nothing about the hash. Ask again';

/** The 503 of a look-up that the disk did not allow: it says nothing about what was asked. */
export function undetermined(
  asked: { readonly endpoint: string; readonly hash?: string },
  error: unknown,
  { log }: Service,
): Answered {
  if (!isLogged(error)) log({ event: 'look_up_failed', error: messageOf(error) });
  const body = { ...asked, undetermined: true, error: ERROR, no_charge: true, retryable: true };
  return { kind: 'reply', reply: jsonReply(503, body, [['retry-after', '5']]) };
}

/** Longest answer that is read, in bytes: a catalogue of 100,000 named entities is an eighth of it. */
const ANSWER_BYTES_MAX = 67_108_864;

/** A service that sends more than anybody asked for. */
export class LongAnswerError extends RangeError {
  override readonly name = 'LongAnswerError';

  constructor(max: number) {
    super(`longer than ${max} bytes`);
  }
}

/** All bytes of an answer; a service that sends more than `max` is not listened to any longer: throws a LongAnswerError. */
export async function answerBytes(
  { body }: Response,
  max = ANSWER_BYTES_MAX,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    size += read.value.length;
    if (size > max) {
      await reader?.cancel();
      throw new LongAnswerError(max);
    }
    parts.push(read.value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export async function arrived(response: Response): Promise<Response> {
  const { status, headers } = response;
  const bytes = await answerBytes(response);
  // Some statuses may have no body at all.
  return new Response(bytes.length === 0 ? null : bytes, { status, headers });
}

import type { HeaderFacts } from './header-facts.ts';
import type { Reply } from './reply.ts';

/** One range of bytes (RFC 9110, section 14.1.2); several at once are answered whole, as the standard allows. */
const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** What a request asks of a whole answer: a part of it, where one is asked for that is there. */
export function inRange(
  reply: Reply & { readonly body: Buffer },
  etag: string,
  { range, ifRange }: Pick<HeaderFacts, 'range' | 'ifRange'>,
): Reply {
  const { length } = reply.body;
  const whole: Reply = { ...reply, headers: [...reply.headers, ['accept-ranges', 'bytes']] };
  // Whoever has a part of something else gets all of this.
  if (range === null || (ifRange !== null && ifRange !== etag)) return whole;
  const asked = askedRange(range, length);
  if (asked === null) return whole;
  const [from, to] = asked;
  if (from >= to) {
    const headers = [...whole.headers, ['content-range', `bytes */${length}`] as const];
    return { status: 416, headers, body: '' };
  }
  const headers = [
    ...whole.headers,
    ['content-range', `bytes ${from}-${to - 1}/${length}`] as const,
  ];
  return { status: 206, headers, body: reply.body.subarray(from, to) };
}

/** From where up to where, the end left out; null where the header is not one that is understood. */
function askedRange(range: string, length: number): readonly [number, number] | null {
  const [, first, last] = RANGE.exec(range.trim()) ?? [];
  if (first === undefined || last === undefined || first + last === '') return null;
  if (first === '') return [Math.max(0, length - Number(last)), length];
  if (last !== '' && Number(last) < Number(first)) return null;
  return [Number(first), last === '' ? length : Math.min(Number(last) + 1, length)];
}

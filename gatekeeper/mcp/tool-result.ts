import type { Reply } from '../http/reply.ts';
import { BoundedMap } from '../system/bounded-map.ts';

/** The answer of a tool as the members of a JSON object: content for a model, and the same as data where the call succeeded. */
export interface ToolResult {
  readonly members: string;
  readonly bytes: number;
  readonly isError: boolean;
}

/** A result that repeats a JSON body, as text and as data. */
export function succeeded({ body }: Reply): ToolResult {
  const json = body.toString();
  return result(`${content(json)},"structuredContent":${json}`, false);
}

/** A result of members of its own. */
export function succeededWith(members: object): ToolResult {
  const json = JSON.stringify(members);
  return result(`${content(json)},"structuredContent":${json}`, false);
}

/** Bytes of results that are kept, with the bodies that they repeat. */
const PRINTED_BYTES_MAX = 16 * 1024 * 1024;
const printed = new BoundedMap<Reply['body'], ToolResult>({
  bytes: PRINTED_BYTES_MAX,
  isByUse: true,
});

/** The same for a body that is kept and given many times: it is printed once. */
export function succeededAgain(reply: Reply): ToolResult {
  return printedOnce(reply, succeeded);
}

/** The result of a body that is kept and given many times, each time in the same way. */
export function printedOnce(reply: Reply, print: (reply: Reply) => ToolResult): ToolResult {
  const { body } = reply;
  const known = printed.get(body);
  if (known !== undefined) return known;
  const made = print(reply);
  printed.set(body, made, body.length + made.bytes);
  return made;
}

/** A result that says what went wrong and what to send instead. */
export function failed(text: string): ToolResult {
  return result(content(text), true);
}

function result(given: string, isError: boolean): ToolResult {
  const members = `${given},"isError":${isError}`;
  return { members, bytes: Buffer.byteLength(members), isError };
}

function content(text: string): string {
  return `"content":${JSON.stringify([{ type: 'text', text }])}`;
}

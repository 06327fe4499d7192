import type { Reply } from '../reply.ts';

/** The answer of a tool as the members of a JSON object: content for a model, and the same as data where the call succeeded. */
export interface ToolResult {
  readonly members: string;
  readonly bytes: number;
  readonly isError: boolean;
}

/** By the body that is repeated: one that is kept for a minute or a release is printed once, and forgotten with it. */
const printed = new WeakMap<Buffer, ToolResult>();

/** A result that repeats a JSON body, as text and as data. */
export function succeeded({ body }: Reply): ToolResult {
  if (typeof body === 'string') return success(body);
  const known = printed.get(body);
  if (known !== undefined) return known;
  const made = success(body.toString('utf8'));
  printed.set(body, made);
  return made;
}

function success(json: string): ToolResult {
  return result(`${content(json)},"structuredContent":${json}`, false);
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

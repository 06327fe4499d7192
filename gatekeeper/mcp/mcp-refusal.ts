import type { HeaderFacts } from '../http/header-facts.ts';
import { jsonReply, type Reply } from '../http/reply.ts';
import { isLoopback } from '../system/loopback.ts';

const TAKEN: readonly string[] = ['application/json', 'application/*', '*/*'];

/** Why the headers of a tool call are refused before its body is read; null when they fit. */
export function mcpRefusal(facts: HeaderFacts, baseUrl: string): Reply | null {
  const foreign = foreignName(facts, hostName(baseUrl));
  if (foreign !== null) return refused(403, foreign);
  if (!isJson(facts.contentType)) return refused(415, 'Send Content-Type: application/json');
  if (takesJson(facts.accept)) return null;
  return refused(406, 'Answers are JSON; send Accept: application/json, text/event-stream');
}

function refused(status: number, message: string): Reply {
  const error = { code: -32600, message };
  return jsonReply(status, { jsonrpc: '2.0', id: null, error });
}

/** A page that reaches this service under another name was not meant to: DNS rebinding. */
function foreignName({ host, origin }: HeaderFacts, own: string): string | null {
  // Only this machine answers to a loopback name, so no page from elsewhere can be served under it.
  const isKnown = (name: string): boolean => name === own || isLoopback(name);
  if (!isKnown(hostName(`http://${host}`))) {
    return 'Host is not a name of this service; send the public host name';
  }
  if (origin === null || isKnown(hostName(origin))) return null;
  return 'Origin is not allowed; call this service from a program or from its own pages';
}

function hostName(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/** The media type of JSON in its only charset. */
function isJson(contentType: string | null): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return type.trim() === 'application/json' && utf8;
}

/** Whether a client that says what it takes would take JSON. */
function takesJson(accept: string): boolean {
  if (accept.trim() === '') return true;
  return accept
    .toLowerCase()
    .split(',')
    .some((range) => {
      const [type = '', ...parameters] = range.split(';').map((one) => one.trim());
      return TAKEN.includes(type) && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
    });
}

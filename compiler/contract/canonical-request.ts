import { bytesOfOctets } from './base64.ts';

/** Longest request target in bytes; longer ones are refused with 414. */
const TARGET_BYTES_MAX = 8192;
/** Most query parameters of one request, known or not. */
const QUERY_PARAMS_MAX = 64;

/** A request target with one meaning; anything that two servers could read differently was already refused. */
export interface CanonicalRequest {
  /** As it was sent: a path is never decoded, so no alias of a paid path exists. */
  readonly path: string;
  /** Query values by name, decoded once. */
  readonly values: ReadonlyMap<string, string>;
}

/** Why a target is refused. */
interface TargetRefusal {
  readonly status: 400 | 414;
  readonly error: string;
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;
const PRINTABLE = /^[\x21-\x7e]*$/;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a raw request target without any look-up; the path keeps its bytes, the query is decoded strictly. */
export function canonicalRequest(rawTarget: string): CanonicalRequest | TargetRefusal {
  if (rawTarget.length > TARGET_BYTES_MAX) {
    return { status: 414, error: `request target longer than ${TARGET_BYTES_MAX} bytes` };
  }
  const reason = spellingFault(rawTarget);
  if (reason !== null) return refusal(reason);
  const target = rawTarget.replace(ABSOLUTE_FORM, '');
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  if (!path.startsWith('/')) return refusal('request target must be a path that starts with "/"');
  const values = queryValues(mark === -1 ? '' : target.slice(mark + 1));
  return typeof values === 'string' ? refusal(values) : { path, values };
}

function refusal(error: string): TargetRefusal {
  return { status: 400, error };
}

function spellingFault(target: string): string | null {
  if (!PRINTABLE.test(target)) return 'request target must be printable ASCII without spaces';
  if (target.includes('#')) return 'request target must not hold "#"; encode it as %23';
  if (target.includes('\\')) return 'request target must not hold a backslash; encode it as %5C';
  return null;
}

function queryValues(query: string): ReadonlyMap<string, string> | string {
  const values = new Map<string, string>();
  const parts = query.split('&').filter((part) => part !== '');
  if (parts.length > QUERY_PARAMS_MAX) return `more than ${QUERY_PARAMS_MAX} query parameters`;
  for (const part of parts) {
    const sign = part.indexOf('=');
    const name = decodeQuery(sign === -1 ? part : part.slice(0, sign));
    const value = decodeQuery(sign === -1 ? '' : part.slice(sign + 1));
    if (name === null || value === null) return 'query is not percent-encoded UTF-8';
    if (values.has(name)) return `query parameter "${name.slice(0, 40)}" is repeated; send it once`;
    values.set(name, value);
  }
  return values;
}

/** Form decoding of one name or value; null for a broken escape or for bytes that are not UTF-8. */
function decodeQuery(text: string): string | null {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  if (/%(?![0-9a-fA-F]{2})/.test(spaced)) return null;
  const octets = spaced.replace(/%([0-9a-fA-F]{2})/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  try {
    return decoder.decode(bytesOfOctets(octets));
  } catch {
    return null;
  }
}

/** The canonical form of a request: its path, and its parameters sorted by name, each encoded. */
export function canonicalTarget(path: string, values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  if (pairs.length === 0) return path;
  return `${path}?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

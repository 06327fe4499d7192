// Strict RFC 8259: the text is checked first, then the native parser builds the value, so that nothing changes silently
// between the publisher's bytes and a hash. Decisions: `-0` becomes 0, every other doubtful form is refused by name.

/** What a JSON text can hold; objects are plain and carry no reserved key. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

/** True for a JSON object: neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const PATH_CHARS_MAX = 120;

/** Containers that may be open at once, in everything that is parsed, hashed or verified. */
export const JSON_DEPTH_MAX = 64;

/** Keys that are refused by name, because copying them by assignment changes an object's prototype or shadows it. */
const RESERVED_KEYS: readonly string[] = ['__proto__', 'constructor', 'prototype'];

const REASONS = {
  syntax: 'not JSON of RFC 8259; correct the text',
  trailing_text: 'text follows the value; send one value alone',
  bad_utf8: 'not UTF-8; encode the text as UTF-8',
  byte_order_mark: 'a byte order mark; remove it',
  control_character: 'a raw control character in a string; escape it',
  nul: 'U+0000 in a string; remove it',
  lone_surrogate: 'half of a surrogate pair; send the whole character',
  duplicate_key: 'the key appears twice in one object; keep one',
  reserved_key: 'the key is reserved; rename it',
  too_deep: 'too many open containers; flatten the value',
  number_not_finite: 'a number beyond the range of a double; write it as a string',
  integer_unsafe: 'an integer beyond 2^53-1; write it as a string',
  number_inexact:
    'a number that a double cannot keep digit for digit; round it or write it as a string',
} as const;
type JsonErrorCode = keyof typeof REASONS;

const CUT_OFF = 'not JSON: the text ends too early; save or send all of it';

const LINEAR_KEYS_MAX = 12;
/** Fifteen significant digits survive a double unchanged, whatever they are. */
const PLAIN_NUMBER_CHARS_MAX = 15;

/**
 * Why a JSON text was refused: `at` is the offset in UTF-16 units (-1 when unknown), `path` the value there, like
 * `current.stage_ft`.
 */
export class JsonError extends Error {
  readonly code: JsonErrorCode;
  readonly at: number;
  readonly path: string;

  constructor(
    code: JsonErrorCode,
    place: { at: number; path: string; isEnd?: boolean; cause?: unknown },
  ) {
    const subject = place.path === '' ? '' : ` "${place.path}"`;
    const reason = code === 'syntax' && place.isEnd === true ? CUT_OFF : REASONS[code];
    // Bytes that are not text have no character position to name.
    const where = place.at < 0 ? '' : ` at character ${place.at}`;
    super(`Cannot parse JSON${subject}${where}: ${reason}`, place);
    this.name = 'JsonError';
    this.code = code;
    this.at = place.at;
    this.path = place.path;
  }
}

/** Parses one JSON value strictly; throws a JsonError that names the reason, the offset and the path. */
export function parseJson(text: string, limits: { depth?: number } = {}): JsonValue {
  const scanner = new Scanner(text, limits.depth ?? JSON_DEPTH_MAX);
  scanner.document();
  return scanner.negativeZero
    ? JSON.parse(text, (_, value) => (value === 0 ? 0 : value))
    : JSON.parse(text);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8 and keeps a byte order mark, for the parser to refuse; throws a JsonError `bad_utf8`. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new JsonError('bad_utf8', { at: -1, path: '', cause });
  }
}

/** Walks a text once and throws at the first thing that is refused; it builds no value. */
class Scanner {
  readonly text: string;
  readonly depthMax: number;
  at = 0;
  depth = 0;
  negativeZero = false;

  constructor(text: string, depthMax: number) {
    this.text = text;
    this.depthMax = depthMax;
  }

  document(): void {
    this.space();
    this.value();
    this.space();
    if (this.at < this.text.length) this.refuse(this.codeHere('trailing_text'));
  }

  refuse(code: JsonErrorCode, at = this.at): never {
    const isEnd = at >= this.text.length;
    throw new JsonError(code, { at, path: jsonPath(this.text, at), isEnd });
  }

  codeHere(otherwise: JsonErrorCode): JsonErrorCode {
    return this.text.charCodeAt(this.at) === 0xfeff ? 'byte_order_mark' : otherwise;
  }

  space(): void {
    for (;;) {
      const unit = this.text.charCodeAt(this.at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.at += 1;
    }
  }

  value(): void {
    switch (this.text.charCodeAt(this.at)) {
      case 0x22:
        this.string();
        return;
      case 0x7b:
        this.object();
        return;
      case 0x5b:
        this.array();
        return;
      case 0x74:
        this.word('true');
        return;
      case 0x66:
        this.word('false');
        return;
      case 0x6e:
        this.word('null');
        return;
      default:
        this.number();
    }
  }

  word(word: string): void {
    if (!this.text.startsWith(word, this.at)) this.refuse('syntax');
    this.at += word.length;
  }

  open(): void {
    if (this.depth >= this.depthMax) this.refuse('too_deep');
    this.depth += 1;
    this.at += 1;
    this.space();
  }

  take(unit: number): boolean {
    if (this.text.charCodeAt(this.at) !== unit) return false;
    this.at += 1;
    return true;
  }

  array(): void {
    this.open();
    if (!this.take(0x5d)) {
      do {
        this.space();
        this.value();
        this.space();
      } while (this.take(0x2c));
      if (!this.take(0x5d)) this.refuse(this.codeHere('syntax'));
    }
    this.depth -= 1;
  }

  object(): void {
    this.open();
    if (!this.take(0x7d)) {
      const keys = new KeySet();
      do {
        this.space();
        this.key(keys);
        this.space();
        this.value();
        this.space();
      } while (this.take(0x2c));
      if (!this.take(0x7d)) this.refuse(this.codeHere('syntax'));
    }
    this.depth -= 1;
  }

  key(keys: KeySet): void {
    const start = this.at;
    if (this.text.charCodeAt(start) !== 0x22) this.refuse(this.codeHere('syntax'));
    const key = this.string() ?? this.text.slice(start + 1, this.at - 1);
    if (RESERVED_KEYS.includes(key)) this.refuse('reserved_key', start);
    if (!keys.add(key)) this.refuse('duplicate_key', start);
    this.space();
    if (!this.take(0x3a)) this.refuse(this.codeHere('syntax'));
  }

  /** Steps over a string; its decoded text is returned when the raw text is not already that. */
  string(): string | undefined {
    const { text } = this;
    const start = this.at;
    let plain = true;
    let at = start + 1;
    for (let unit = text.charCodeAt(at); unit !== 0x22; unit = text.charCodeAt(at)) {
      // Written so that the NaN past the end is refused here too.
      if (!(unit >= 0x20)) this.refuse(at < text.length ? 'control_character' : 'syntax', at);
      if (unit === 0x5c || (unit & 0xf800) === 0xd800) plain = false;
      at += unit === 0x5c ? 2 : 1;
    }
    this.at = at + 1;
    return plain ? undefined : this.decoded(start);
  }

  decoded(start: number): string {
    let decoded: string;
    try {
      decoded = JSON.parse(this.text.slice(start, this.at));
    } catch {
      this.refuse('syntax', start);
    }
    if (/\p{Surrogate}/u.test(decoded)) this.refuse('lone_surrogate', start);
    if (decoded.includes('\0')) this.refuse('nul', start);
    return decoded;
  }

  number(): void {
    const start = this.at;
    this.take(0x2d);
    const leadingZero = this.text.charCodeAt(this.at) === 0x30;
    if (this.digits() > 1 && leadingZero) this.refuse('syntax', start);
    if (this.take(0x2e)) this.digits();
    const exponent = this.take(0x65) || this.take(0x45);
    if (exponent) {
      if (!this.take(0x2b)) this.take(0x2d);
      this.digits();
    }
    const negativeZero = leadingZero && this.text.charCodeAt(start) === 0x2d;
    if (exponent || negativeZero || this.at - start > PLAIN_NUMBER_CHARS_MAX) this.exact(start);
  }

  digits(): number {
    const start = this.at;
    for (;;) {
      const unit = this.text.charCodeAt(this.at);
      if (!(unit >= 0x30 && unit <= 0x39)) break;
      this.at += 1;
    }
    if (this.at === start) this.refuse(this.codeHere('syntax'));
    return this.at - start;
  }

  exact(start: number): void {
    const written = this.text.slice(start, this.at);
    const value = Number(written);
    if (!Number.isFinite(value)) this.refuse('number_not_finite', start);
    // By value, not by spelling: 1e20 would come back from canonical JSON as an integer that is refused.
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      this.refuse('integer_unsafe', start);
    }
    if (!isExact(written, value)) this.refuse('number_inexact', start);
    if (Object.is(value, -0)) this.negativeZero = true;
  }
}

/** The keys of one object: few are compared one by one, many through a Set, so that the cost stays linear. */
class KeySet {
  readonly few: string[] = [];
  many: Set<string> | undefined;

  add(key: string): boolean {
    if (this.many === undefined) {
      if (this.few.includes(key)) return false;
      if (this.few.push(key) > LINEAR_KEYS_MAX) this.many = new Set(this.few);
      return true;
    }
    const { size } = this.many;
    return this.many.add(key).size > size;
  }
}

/** Whether a double prints the same decimal number that the JSON text spells; the sign of zero is left aside. */
export function isExact(written: string, value: number): boolean {
  return decimal(written) === decimal(String(value));
}

/** The number that a text spells, without its sign, as significant digits and a power of ten: `0.050` is `5e-2`. */
function decimal(written: string): string {
  const [mantissa = '', exponent = '0'] = written.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let first = 0;
  let last = digits.length;
  while (digits[first] === '0') first += 1;
  while (last > first && digits[last - 1] === '0') last -= 1;
  if (first === last) return '0';
  return `${digits.slice(first, last)}e${Number(exponent) - fraction.length + digits.length - last}`;
}

/** The path, like `sources.0.name`, of the value at an offset of a JSON text that is well formed before it. */
export function jsonPath(text: string, at: number): string {
  const steps: (string | number)[] = [];
  let key = '';
  for (let i = 0; i < at; i += 1) {
    const last = steps.length - 1;
    const step = steps[last];
    switch (text[i]) {
      case '"': {
        const start = i + 1;
        for (i = start; i < text.length && text[i] !== '"'; i += 1) if (text[i] === '\\') i += 1;
        key = text.slice(start, i);
        break;
      }
      case '{':
        steps.push('');
        break;
      case '[':
        steps.push(0);
        break;
      case '}':
      case ']':
        steps.pop();
        break;
      case ':':
        steps[last] = key;
        break;
      case ',':
        steps[last] = typeof step === 'number' ? step + 1 : '';
    }
  }
  const path = steps.filter((each) => each !== '').join('.');
  return path.length > PATH_CHARS_MAX ? `${path.slice(0, PATH_CHARS_MAX)}…` : path;
}

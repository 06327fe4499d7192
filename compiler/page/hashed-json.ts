import { CORE_FIELDS, SOURCE_CORE_FIELDS } from '../format/record-hash.ts';

/** A piece of printed JSON, and whether the record hash covers it. */
interface JsonPart {
  text: string;
  isHashed: boolean;
}

const CORE = new Set<string>(CORE_FIELDS);
/** Members that stand around a record, or around the rows of one. */
const WRAPPED: Readonly<Record<string, number>> = { sample: 1, rows: 2 };
const SOURCE_CORE = new Set<string>(SOURCE_CORE_FIELDS);

/**
 * Prints a body with two spaces, in parts: what a record hash covers is marked. A sample wraps its record; the rows of a
 * preview hold a part of what is hashed.
 */
export function hashedJson(body: unknown): JsonPart[] {
  const parts: JsonPart[] = [];
  print(body, { parts, path: [], indent: '' });
  // Neighbours of one kind become one part.
  const joined: JsonPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last !== undefined && last.isHashed === part.isHashed) {
      joined[joined.length - 1] = { text: last.text + part.text, isHashed: last.isHashed };
    } else joined.push(part);
  }
  return joined;
}

function print(
  value: unknown,
  at: { parts: JsonPart[]; path: readonly string[]; indent: string },
): void {
  const isHashed = isCore(at.path);
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    at.parts.push({ text: jsonText(value), isHashed });
    return;
  }
  const isList = Array.isArray(value);
  const inner = `${at.indent}  `;
  at.parts.push({ text: isList ? '[' : '{', isHashed });
  for (const [index, [name, member]] of Object.entries(value).entries()) {
    const path = [...at.path, name];
    const head = `${index === 0 ? '' : ','}\n${inner}`;
    at.parts.push({ text: head, isHashed: false });
    if (!isList) at.parts.push({ text: `${jsonText(name)}: `, isHashed: isCore(path) });
    print(member, { parts: at.parts, path, indent: inner });
  }
  at.parts.push({ text: `\n${at.indent}`, isHashed: false });
  at.parts.push({ text: isList ? ']' : '}', isHashed });
}

/** Members of the core whole, of a source only some. */
function isCore(path: readonly string[]): boolean {
  const [first = '', ...rest] = path.slice(WRAPPED[path[0] ?? ''] ?? 0);
  if (!CORE.has(first)) return false;
  const [, member] = rest;
  return first !== 'sources' || member === undefined || SOURCE_CORE.has(member);
}

/** What turns text around, hides or ends a line is written as an escape, which JSON reads as the same text. */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Where the digit of a forger would be: in the reading, else in any number. */
const PLACES = [
  /"current"\s*:\s*\{[^{}]*?:\s*-?\d*?(\d)(?=[\s,}.eE])/d,
  /:\s*-?\d*?(\d)(?=[\s,}\].eE])/d,
];

/**
 * Changes the last digit before the point of the first number of a reading, at `at`; `before` is the member up to it. Null
 * for a text without numbers.
 */
export function alteredDigit(text: string) {
  for (const place of PLACES) {
    const at = place.exec(text)?.indices?.[1]?.[0];
    const was = at === undefined ? undefined : text[at];
    if (at === undefined || was === undefined) continue;
    // One up, and 8 for 9: a leading zero would no longer be JSON.
    const is = was === '9' ? '8' : String(Number(was) + 1);
    const before = /[^{,[]*$/.exec(text.slice(0, at))?.[0].trim() ?? '';
    return { text: text.slice(0, at) + is + text.slice(at + 1), at, was, is, before };
  }
  return null;
}

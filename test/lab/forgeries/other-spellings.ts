import type { JsonValue } from '../../../compiler/contract/strict-json.ts';
import type { Delivery, Forgery, Open } from './forgery.ts';

/** A body as another text: the same value in another spelling, or what two parsers may read differently. */
export function* otherSpellings({ target, body }: Delivery): Generator<Forgery> {
  const text = JSON.stringify(body);
  for (const [where, make] of Object.entries(SPELLINGS)) {
    yield { kind: 'other spelling', target, where, make: () => make(text) };
  }
}

/** Spellings that say the same; every other one has to be refused. */
export const SAME_VALUE: ReadonlySet<string> = new Set([
  'as it is',
  'with white space',
  'with its members in another order',
  'with an escaped letter',
  'with an exponent',
  'with exponents',
  'with fractions',
]);

const SPELLINGS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'with white space': (text) => JSON.stringify(JSON.parse(text), null, 1).replaceAll('\n', ' '),
  'with its members in another order': (text) =>
    JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).toReversed())),
  'with an escaped letter': (text) => text.replace('"_citation"', '"\\u005fcitation"'),
  'with an exponent': (text) => text.replace(/:(\d+)([,}])/, ':$1e0$2'),
  'with exponents': (text) => spelled(JSON.parse(text), (whole) => `${whole}e0`),
  'with fractions': (text) => spelled(JSON.parse(text), (whole) => `${whole}.0`),
  'with a member twice': (text) => `{${text.slice(1, -1)},${text.slice(1)}`,
  'with a contradicting member in front': (text) =>
    text.replace(/^\{"(\w+)":/, '{"$1":"other","$1":'),
  'with the member __proto__': (text) => `{"__proto__":{},${text.slice(1)}`,
  'with a byte order mark': (text) => `\ufeff${text}`,
  'with text behind it': (text) => `${text}x`,
  'with a second body behind it': (text) => `${text}${text}`,
  'with a comma more': (text) => `${text.slice(0, -1)},}`,
  'with a comment': (text) => `/**/${text}`,
  'with NaN': (text) => text.replace(/:(\d+(\.\d+)?|null)([,}])/, ':NaN$3'),
  'with a number beyond a double': (text) => text.replace(/:(\d+(\.\d+)?|null)([,}])/, ':1e999$3'),
  'with a number that a double cannot keep': (text) =>
    text.replace(/:(\d+(\.\d+)?|null)([,}])/, ':0.10000000000000000001$3'),
  'with an integer beyond 2^53': (text) =>
    text.replace(/:(\d+(\.\d+)?|null)([,}])/, ':9007199254740993$3'),
  'with half of a surrogate pair': (text) => text.replace(/":"/, '":"\\ud800'),
  'with a NUL': (text) => text.replace(/":"/, '":"\\u0000'),
  'in a list': (text) => `[${text}]`,
  'as a text': (text) => JSON.stringify(text),
  'in a sample': (text) => `{"sample":${text}}`,
  'in a sample beside a lie': (text) => `{"sample":${text},"note":"of another filer"}`,
  'in a record': (text) => `{"record":${text},"note":"of another filer"}`,
  'deep inside': (text) => `${'{"a":'.repeat(70)}${text}${'}'.repeat(70)}`,
  'with itself inside': (text) => `{${text.slice(1, -1)},"copy":${text}}`,
  'cut off': (text) => text.slice(0, -1),
};

/** JSON with every whole number in a spelling of its own. */
function spelled(value: JsonValue, write: (whole: number) => string): string {
  if (typeof value === 'number' && Number.isInteger(value)) return write(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${value.map((item: JsonValue) => spelled(item, write)).join()}]`;
  }
  const members = Object.entries<JsonValue>(value as Open);
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${spelled(item, write)}`).join()}}`;
}

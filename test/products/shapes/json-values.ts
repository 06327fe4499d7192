// Values in memory, with their RFC 8785 text or, where there is none, the path that an error must name.

class Reading {
  readonly stage_ft = 13.6;
}

const cycle: Record<string, unknown> = {};
cycle.a = cycle;
const shared = { x: 1 };
const hole: unknown[] = [1, 2, 3];
delete hole[1];
const named = Object.assign([1], { more: 2 });
const renamed = Object.assign([1, 2], { more: 2 });
delete renamed[1];

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Name, value, canonical text. */
export const LEGAL: readonly (readonly [string, unknown, string])[] = [
  ['null', null, 'null'],
  ['booleans', [true, false], '[true,false]'],
  ['negative zero as zero', -0, '0'],
  ['integers past 2^53 as doubles', 9007199254740992, '9007199254740992'],
  [
    'the switch to exponents',
    [1e20, 1e21, 1e-6, 1e-7],
    '[100000000000000000000,1e+21,0.000001,1e-7]',
  ],
  ['keys by UTF-16 unit', { '\ufb33': 1, '😀': 2, b: 3, B: 4 }, '{"B":4,"b":3,"😀":2,"\ufb33":1}'],
  ['integer-like keys as text', { 10: 1, 9: 2, '': 3 }, '{"":3,"10":1,"9":2}'],
  [
    'many keys',
    Object.fromEntries(Array.from({ length: 40 }, (_, i) => [String.fromCharCode(160 - i), i])),
    `{${Array.from({ length: 40 }, (_, i) => `${JSON.stringify(String.fromCharCode(121 + i))}:${39 - i}`).join(',')}}`,
  ],
  [
    'controls in lower-case hex',
    '\0\b\t\n\u000b\f\r\u001f',
    '"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f"',
  ],
  ['DEL, separators and solidus as they are', '\u007f\u2028/', '"\u007f\u2028/"'],
  ['quotes and backslashes', '"\\', '"\\"\\\\"'],
  ['composed beside decomposed', ['\u00e9', 'e\u0301'], '["\u00e9","e\u0301"]'],
  ['an astral character', '😀', '"😀"'],
  ['the same object twice', { a: shared, b: shared }, '{"a":{"x":1},"b":{"x":1}}'],
  ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  ['an own __proto__', JSON.parse('{"b":1,"__proto__":{"a":2}}'), '{"__proto__":{"a":2},"b":1}'],
  ['empty containers', [{}, []], '[{},[]]'],
  ['depth 64', nested(64), `${'{"a":['.repeat(32)}1${']}'.repeat(32)}`],
];

/** Name, value, beginning of the path. */
export const ILLEGAL: readonly (readonly [string, unknown, string])[] = [
  ['NaN', Number.NaN, ''],
  ['NaN in an object', { a: Number.NaN }, 'a'],
  ['Infinity', [Number.POSITIVE_INFINITY], ''],
  ['minus Infinity', { a: Number.NEGATIVE_INFINITY }, 'a'],
  ['undefined', undefined, ''],
  ['undefined in an object', { a: undefined, b: 1 }, 'a'],
  ['undefined in an array', [undefined], ''],
  ['a hole', hole, ''],
  ['an array of holes', new Array(3), ''],
  ['a named member of an array', named, ''],
  ['a hole hidden by a named member', renamed, ''],
  ['a function', { a: () => 1 }, 'a'],
  ['a method called toJSON', { toJSON: () => 1 }, 'toJSON'],
  ['a symbol', { a: Symbol('x') }, 'a'],
  ['a symbol as key', { [Symbol('x')]: 1 }, ''],
  ['a BigInt', { a: 1n }, 'a'],
  ['a Date', { a: new Date(0) }, 'a'],
  ['a Map', { a: new Map([['b', 1]]) }, 'a'],
  ['a Set', { a: new Set([1]) }, 'a'],
  ['a class instance', { a: new Reading() }, 'a'],
  ['bytes', { a: new Uint8Array(2) }, 'a'],
  ['a regular expression', { a: /x/ }, 'a'],
  ['an error', { a: new Error('x') }, 'a'],
  ['a boxed number', { a: Object(1) }, 'a'],
  ['a boxed string', { a: Object('x') }, 'a'],
  ['a boxed boolean', { a: Object(false) }, 'a'],
  ['inherited members', { a: Object.create({ b: 1 }) }, 'a'],
  ['a high half', { a: '\ud800' }, ''],
  ['a low half', { a: 'x\udfff' }, ''],
  ['halves in the wrong order', '\ude00\ud83d', ''],
  ['two high halves', '\ud83d\ud83d\ude00', ''],
  ['a half as key', { 'a\ud800': 1 }, ''],
  ['a cycle', cycle, 'a'],
  ['depth 65', nested(65), ''],
  ['depth 10,000', nested(10_000), ''],
];

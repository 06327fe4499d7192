import type { Vector } from './vector.ts';

/** `input` is a JSON text, `want` its canonical text written by hand, `error` the code of the refusal. */
export function canonicalVectors(): readonly Vector[] {
  return [
    ['a reading', '{"stage_ft": 13.60, "band": "normal"}', '{"band":"normal","stage_ft":13.6}'],
    ['white space', ' [ 1 ,\t2\r\n] ', '[1,2]'],
    ['keys sort by UTF-16 unit', '{"\\ufb33":1,"\\ud83d\\ude00":2}', '{"😀":2,"\ufb33":1}'],
    ['keys are not numbers', '{"10":1,"9":2,"":3}', '{"":3,"10":1,"9":2}'],
    ['nested keys sort too', '{"b":[{"d":1,"c":2}],"a":{}}', '{"a":{},"b":[{"c":2,"d":1}]}'],
    ['arrays keep their order', '[3,1,2]', '[3,1,2]'],
    ['negative zero becomes zero', '[-0,-0.0,-0e3]', '[0,0,0]'],
    ['exponents', '[1e2,1E-2,1e-7,0.000001]', '[100,0.01,1e-7,0.000001]'],
    ['the largest safe integer', '9007199254740991', '9007199254740991'],
    ['escapes that go', '"\\u0041\\/\\u00e9"', '"A/é"'],
    ['escapes that stay', '"\\u0001\\u000B\\n\\"\\\\"', '"\\u0001\\u000b\\n\\"\\\\"'],
    ['no normalisation', '["\\u00e9","e\\u0301"]', '["é","e\u0301"]'],
  ]
    .map(([comment, input, want]): Vector => ({ comment: `${comment}`, input, want }))
    .concat(refused());
}

function refused(): Vector[] {
  return [
    ['a key twice', '{"a":1,"a":2}', 'duplicate_key'],
    ['a key twice, once escaped', '{"a":1,"\\u0061":2}', 'duplicate_key'],
    ['a number beyond doubles', '[1e400]', 'number_not_finite'],
    ['an integer beyond 2^53-1', '{"amount":9007199254740993}', 'integer_unsafe'],
    ['an integer beyond 2^53-1 by exponent', '1e21', 'integer_unsafe'],
    ['digits that a double loses', '0.1000000000000000055', 'number_inexact'],
    ['a number that vanishes', '1e-400', 'number_inexact'],
    ['a high half', '"\\ud800"', 'lone_surrogate'],
    ['a low half in a key', '{"\\udfff":1}', 'lone_surrogate'],
    ['an escaped NUL', '"\\u0000"', 'nul'],
    ['a raw tab', '"\t"', 'control_character'],
    ['a byte order mark', '\ufeff{}', 'byte_order_mark'],
    ['a reserved key', '{"__proto__":1}', 'reserved_key'],
    ['depth 65', '['.repeat(65) + ']'.repeat(65), 'too_deep'],
    ['a second value', '{} {}', 'trailing_text'],
    ['NaN', '[NaN]', 'syntax'],
    ['a leading zero', '01', 'syntax'],
    ['a trailing comma', '[1,]', 'syntax'],
  ].map(([comment, input, error]) => ({ comment: `${comment}`, input, error }));
}

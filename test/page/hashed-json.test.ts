import { describe, expect, it } from 'vitest';
import { CORE_FIELDS } from '../../compiler/format/record-hash.ts';
import { alteredDigit, hashedJson } from '../../compiler/page/hashed-json.ts';

const RECORD = {
  nature: 'descriptive',
  signal_id: 'a.b',
  entity: 'x',
  snapshot_date: '2026-11-20T00:00:00Z',
  observed_at: '2026-11-20T10:45:00Z',
  current: { v: 1, more: [1, {}] },
  previous: { v: 0 },
  sources: [{ name: 'agency', weight: 1, role: 'official', independent: true }],
  source_ref: null,
  source_tier: null,
  lifecycle: null,
  hash_core_version: 3,
  record_hash: 'sha256:00',
};
const marked = (body: unknown): string =>
  hashedJson(body)
    .filter(({ isHashed }) => isHashed)
    .map(({ text }) => text)
    .join('');

describe('hashedJson()', () => {
  it.each([RECORD, { sample: RECORD }, { rows: [RECORD] }, [], {}, null, 'x'])(
    'prints all of the body, as JSON is printed: %#',
    (body) => {
      const text = hashedJson(body)
        .map((part) => part.text)
        .join('');
      expect(text).toBe(JSON.stringify(body, null, 2));
    },
  );

  it.each([RECORD, { sample: RECORD }, { rows: [{}, RECORD] }])(
    'marks every member of the core, wrapped or not: %#',
    (body) => {
      for (const name of CORE_FIELDS) expect(marked(body)).toContain(`"${name}"`);
    },
  );

  it('marks nothing that the hash does not cover', () => {
    for (const name of ['nature', 'previous', 'role', 'record_hash']) {
      expect(marked(RECORD)).not.toContain(`"${name}"`);
    }
    expect(marked({ current_note: 1, legs: { current: 1 } })).toBe('');
  });

  it('writes as an escape what turns text around or hides, and means the same body', () => {
    const body = { 'a\u202e': ['x\u2066', '\u{e0041}', '\u0085', 'é'] };
    const text = hashedJson(body)
      .map((part) => part.text)
      .join('');
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(text).toContain('"x\\u2066"');
    expect(JSON.parse(text)).toEqual(body);
  });

  it('marks only the members of a source that are hashed', () => {
    expect(marked(RECORD)).toContain('"weight": 1');
  });
});

describe('alteredDigit()', () => {
  it.each([
    [
      '{"a":1,"current":{"aqi_index":66,"band":"x"}}',
      '{"a":1,"current":{"aqi_index":67,"band":"x"}}',
    ],
    ['{"current": {\n "v": 13.6 }}', '{"current": {\n "v": 14.6 }}'],
    ['{"current":{"v":-9}}', '{"current":{"v":-8}}'],
    ['{"current":{"v":0}}', '{"current":{"v":1}}'],
    ['{"current":{"v":1e3}}', '{"current":{"v":2e3}}'],
    ['{"current":{"state":"ended"},"n":19}', '{"current":{"state":"ended"},"n":18}'],
    ['[{"x":5}]', '[{"x":6}]'],
  ])('changes one digit of %s', (text, expected) => {
    const altered = alteredDigit(text);
    expect(altered?.text).toBe(expected);
    expect(() => JSON.parse(altered?.text ?? '')).not.toThrow();
    expect([text[altered?.at ?? -1], altered?.text[altered.at]]).toEqual([
      altered?.was,
      altered?.is,
    ]);
  });

  it('says which member it changed', () => {
    expect(alteredDigit('{"current":{"aqi_index":66}}')?.before).toBe('"aqi_index":6');
  });

  it.each(['', '{}', '{"a":"12"}', 'sha256:0123', 'text'])(
    'finds nothing to change in %j',
    (text) => {
      expect(alteredDigit(text)).toBeNull();
    },
  );
});

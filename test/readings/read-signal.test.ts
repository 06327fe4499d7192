import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { listSnapshots, type SignalFiles } from '../../compiler/readings/list-snapshots.ts';
import { LINE_BYTES_MAX } from '../../compiler/readings/read-lines.ts';
import {
  FILE_FAULTS_MAX,
  readSignal,
  type StoredReading,
  WHOLE,
} from '../../compiler/readings/read-signal.ts';
import { builtinEntry } from '../builtin-rows.ts';
import {
  AS_OF,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  sha256Text,
  writeSnapshots,
} from '../snapshot-folder.ts';

afterAll(removeFolders);

const FILE = '2026-11-20/crypto.spot.ndjson';
const GOOD = reading('btc', { price_usd: 1.5 });
const TEXT = JSON.stringify(GOOD);
const RULES = { entry: builtinEntry('crypto.spot'), rejects: null, asOf: AS_OF, share: WHOLE };

function read(text: string | Uint8Array) {
  const [signal] = listSnapshots(writeSnapshots({ [FILE]: text }), BUILTIN).signals;
  const stored: StoredReading[] = [];
  const outcome = readSignal(signal as SignalFiles, (item) => stored.push(item), RULES);
  return { ...outcome, stored };
}

/** The good line with its price replaced by other JSON text. */
const price = (text: string): string => TEXT.replace('1.5', text);
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('readSignal()', () => {
  it('reads every line, skips empty ones, and knows where each came from', () => {
    const { stored, readings, faults } = read(`${TEXT}\n\n${TEXT}`);
    expect([readings, faults]).toEqual([2, []]);
    expect(stored.map(({ file, line, batch }) => [file, line, batch])).toEqual([
      [FILE, 1, 0],
      [FILE, 3, 0],
    ]);
    expect(stored[0]?.reading).toEqual(GOOD);
  });

  it('gives a header to the lines of its own file only', () => {
    const { entity, current, ...header } = GOOD;
    const root = writeSnapshots({
      '2026-11-20T10Z/crypto.spot.ndjson': ndjson([{ header }, { entity, current }]),
      '2026-11-20/crypto.spot.ndjson': ndjson([{ entity, current }]),
    });
    const [signal] = listSnapshots(root, BUILTIN).signals;
    const { readings, faults } = readSignal(signal as SignalFiles, () => undefined, RULES);
    expect(readings).toBe(1);
    expect(new Set(faults.map((fault) => fault.file))).toEqual(new Set([FILE]));
  });

  it('reads the lines of some entities only, however these are spelt', () => {
    const eth = reading('eth', { price_usd: 2, note: '"entity":"btc"' });
    const spaced = JSON.stringify(GOOD)
      .replace('"entity":', '"entity" : ')
      .replace('btc', 'b\\u0074c');
    const nested = { ...eth, lifecycle: { state: 'alive', context: { entity: 'btc' } } };
    const text = [TEXT, JSON.stringify(eth), spaced, JSON.stringify(nested), TEXT].join('\n');
    const [signal] = listSnapshots(writeSnapshots({ [FILE]: text }), BUILTIN).signals;
    const lines = (only: string): number[] => {
      const stored: StoredReading[] = [];
      const rules = { ...RULES, only: new Set([only]) };
      readSignal(signal as SignalFiles, (item) => stored.push(item), rules);
      return stored.map(({ line }) => line);
    };
    expect(lines('btc')).toEqual([1, 3, 5]);
    expect(lines('doge')).toEqual([]);
  });

  it.each([
    ['bytes that are not UTF-8', latin1(price('"\xff"')), 'UTF-8', 'line'],
    ['a byte order mark at the start', `\ufeff${TEXT}`, 'byte order mark', 'line'],
    ['a byte order mark in the middle', price('\ufeff1'), 'byte order mark', 'current.price_usd'],
    ['a key twice', price('1,"price_usd":2'), 'twice', 'current'],
    ['a key twice in two spellings', price('1,"\\u0070rice_usd":2'), 'twice', 'current'],
    ['1e400', price('1e400'), 'too large for a number', 'current.price_usd'],
    ['2^53+1', price('9007199254740993'), 'integer beyond', 'current.price_usd'],
    [
      'more digits than a double has',
      price('0.12345678901234567890'),
      'digit for digit',
      'current.price_usd',
    ],
    ['NaN', price('NaN'), 'not JSON', 'current.price_usd'],
    ['half a surrogate pair', price('"\\ud800"'), 'surrogate', 'current.price_usd'],
    ['half a surrogate pair in a key', price('1,"\\udc00":2'), 'surrogate', 'current'],
    ['U+0000', price('"\\u0000"'), 'U+0000', 'current.price_usd'],
    ['a raw control character', price('"\u0001"'), 'control', 'current.price_usd'],
    [
      '65 open containers',
      price(`${'['.repeat(65)}${']'.repeat(65)}`),
      'containers',
      'current.price_usd*',
    ],
    ['__proto__', price('1,"__proto__":{}'), 'reserved', 'current'],
    ['constructor', price('1,"constructor":{}'), 'reserved', 'current'],
    [
      'the reserved metric provenance',
      price('1,"provenance":null'),
      'reserved name',
      'current.provenance',
    ],
    ['a second value', `${TEXT} ${TEXT}`, 'follows', 'line'],
    ['a broken end', TEXT.slice(0, -1), 'not JSON', '*'],
    ['a comment', `// ${TEXT}`, 'not JSON', 'line'],
  ])('I35: refuses %s with file, line and field', (...[, text, says, field]) => {
    const filler = Buffer.from(`${TEXT}\n`);
    const { faults, readings } = read(
      Buffer.concat([filler, Buffer.from(text), latin1('\n'), filler]),
    );
    expect(readings).toBe(2);
    expect(faults).toHaveLength(1);
    const [fault] = faults;
    expect([fault?.file, fault?.line]).toEqual([FILE, 2]);
    expect(fault?.message).toContain(says);
    if (field.endsWith('*')) expect(fault?.field).toMatch(new RegExp(`^${field.slice(0, -1)}`));
    else expect(fault?.field).toBe(field);
  });

  it.each([
    ['-0', 0],
    ['1e2', 100],
    ['0.10', 0.1],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('I35: normalises %s by a rule and refuses nothing', (text, value) => {
    const { stored, faults } = read(price(text));
    expect(faults).toEqual([]);
    expect(Object.is(stored[0]?.reading.current.price_usd, value)).toBe(true);
  });

  it('keeps readings behind a header that is refused apart from its fault', () => {
    const { faults } = read(`{"header":{"unit":"ft"}}\n${TEXT}\n`);
    expect(faults).toMatchObject([{ line: 1, field: 'header' }]);
  });

  it.each([
    ['2026-11-20T12:05:00Z', true],
    ['2026-11-20T12:05:00.000Z', true],
    ['2026-11-20T12:05:01Z', false],
    ['2026-11-20T12:05:00.001Z', false],
    ['2027-03-01T11:00:00Z', false],
  ])('takes a line collected at %s in a compile as of noon: %s', (collected_at, isTaken) => {
    const { faults, readings } = read(ndjson([GOOD, { ...GOOD, collected_at }]));
    expect(readings).toBe(isTaken ? 2 : 1);
    if (isTaken) return expect(faults).toEqual([]);
    expect(faults).toMatchObject([{ file: FILE, line: 2, field: 'collected_at' }]);
    expect(faults[0]?.message).toBe(
      `"${collected_at}" is later than this compile, as of ${AS_OF}; correct it, the clock or --as-of`,
    );
  });

  it('I34: keeps a bounded number of problems of a file in which every line is bad', () => {
    const { faults, readings } = read('x\n'.repeat(5000));
    expect([faults.length, readings]).toEqual([FILE_FAULTS_MAX, 0]);
  });
});

describe('Quarantine', () => {
  const REJECT_RAW_BYTES_MAX = 500;
  const FILE_REJECTS_MAX = 10_000;

  const TEXT = JSON.stringify(reading('btc', { price_usd: 1.5 }));
  const HALF = 500_000;

  /** What is read of one file when so many lines of a million may be left out; its rows as they were written. */
  function judge(lines: readonly (string | Uint8Array)[], ppm: number) {
    const text = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
    const [signal] = listSnapshots(writeSnapshots({ [FILE]: text }), BUILTIN).signals;
    const folder = join(makeFolder(), 'rejects');
    const rules = {
      entry: builtinEntry('crypto.spot'),
      rejects: { ppm, folder },
      asOf: AS_OF,
      share: WHOLE,
    };
    const outcome = readSignal(signal as SignalFiles, () => undefined, rules);
    const path = join(folder, FILE);
    const written = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const rows = written.split('\n').slice(0, -1);
    return { ...outcome, path, written, rows: rows.map((row) => JSON.parse(row)) };
  }

  const good = (count: number): string[] => Array.from({ length: count }, () => TEXT);

  it('I23: leaves out a bad line and writes down where, what, why and how it begins', () => {
    const bad = TEXT.replace('price_usd', 'price');
    const { faults, rejects, readings, rows, written, path } = judge([TEXT, bad], HALF);
    expect([faults, readings, rejects.count]).toEqual([[], 1, 1]);
    expect(rejects.digests).toEqual({ [FILE]: sha256Text(written) });
    expect(rows).toMatchObject([{ file: FILE, line: 2, raw: bad.slice(0, 500) }]);
    expect(rows[0].bytes).toBe(bad.length);
    expect(rows[0].faults).toMatchObject([{ code: 'bad_field', field: 'current.price_usd' }]);
    expect(rows[0].faults[0].reason).toContain('main metric missing');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('I23: writes nothing about a file without a bad line', () => {
    const { rejects, path } = judge([TEXT, '', TEXT], HALF);
    expect(rejects).toEqual({ count: 0, digests: {} });
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    [1, 100, 10_000],
    [29, 100, 290_000],
    [1, 3, 333_334],
  ])(
    'I23: leaves out %i of %i lines at %i of a million, and not with one more',
    (...[bad, all, ppm]) => {
      const lines = (count: number) => [...good(all - count), ...'x'.repeat(count)];
      expect(judge(lines(bad), ppm)).toMatchObject({ faults: [], rejects: { count: bad } });
      const { faults, rejects, path } = judge(lines(bad + 1), ppm);
      expect(faults[0]).toMatchObject({ code: 'too_many_rejects', file: FILE });
      expect(faults[0]?.message).toContain(`${bad + 1} of ${all} lines rejected, more than the`);
      expect(faults[0]?.message).toContain(`${ppm / 10_000}% of --max-rejects; correct them`);
      expect(faults).toHaveLength(bad + 2);
      expect([rejects.count, existsSync(path)]).toEqual([0, false]);
    },
  );

  it.each([
    ['a first line that is not JSON', ['{"header":{"grade":"A"', ...good(9)], 1],
    ['a first line that is not UTF-8', [Buffer.from('{"header":\xff}', 'latin1'), ...good(9)], 1],
    ['a first line beyond the limit', ['x'.repeat(LINE_BYTES_MAX + 1), ...good(9)], 1],
    ['a header with a strange member', ['{"header":{"unit":"ft"}}', ...good(9)], 1],
    ['a misspelt header', ['{"heabler":{"grade":"A"}}', ...good(9)], 1],
    ['a header of another file in the middle', [TEXT, '{"header":{"grade":"A"}}', ...good(9)], 2],
    ['a line from the future', [TEXT, TEXT.replace('T11:00:00Z', 'T13:00:00Z'), ...good(9)], 2],
  ])('I23: never leaves out %s', (_, lines, line) => {
    const { faults, path } = judge(lines, HALF);
    expect(faults).toMatchObject([{ file: FILE, line }]);
    expect(faults[0]?.message).toContain('never left out');
    expect(existsSync(path)).toBe(false);
  });

  it('I23: keeps little of a long line, and nothing of one that is too long to be read', () => {
    const bytes = Buffer.from(`{"€":"${'é'.repeat(5000)}\xff`, 'latin1');
    const { rows, faults } = judge([...good(3), bytes, 'x'.repeat(LINE_BYTES_MAX + 1)], HALF);
    expect(faults).toEqual([]);
    expect(rows.map(({ line, bytes: size }) => [line, size])).toEqual([
      [4, bytes.length],
      [5, null],
    ]);
    expect(rows[0].raw.length).toBeLessThanOrEqual(REJECT_RAW_BYTES_MAX);
    expect(rows[1]).toMatchObject({ raw: null, faults: [{ field: 'line', code: 'bad_line' }] });
  });

  it('I34: a line of many faults writes down a few of them', () => {
    const names = Array.from({ length: 5000 }, (_, at) => `"${'X'.repeat(40)}${at}":1`);
    const { rows, written } = judge([TEXT, TEXT.replace('1.5', `1.5,${names}`)], HALF);
    expect(rows).toHaveLength(1);
    expect(rows[0].faults.length).toBeGreaterThan(1);
    expect(written.length).toBeLessThan(8000);
  });

  it('I34: holds a bounded number of lines of a file, and stops when it would lose more', () => {
    const most = [
      ...good(FILE_REJECTS_MAX),
      ...Array.from({ length: FILE_REJECTS_MAX }, () => 'x'),
    ];
    expect(judge(most, HALF)).toMatchObject({ faults: [], rejects: { count: FILE_REJECTS_MAX } });
    const { faults } = judge([TEXT, ...most, 'x'], HALF);
    expect(faults[0]?.message).toContain(`the ${FILE_REJECTS_MAX} that one file may lose`);
    expect(faults).toHaveLength(FILE_FAULTS_MAX + 1);
  });

  it('I23: loses no line without a trace: readings and rejects are the lines that were read', () => {
    const line = fc.constantFrom(TEXT, '', 'x', '{}', '[]', `${TEXT}x`, TEXT.slice(0, -9));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (tail) => {
        const all = [TEXT, ...tail];
        const { readings, rejects, faults, rows } = judge(all, HALF);
        const filled = all.filter((text) => text !== '');
        const bad = filled.filter((text) => text !== TEXT).length;
        expect(readings).toBe(filled.length - bad);
        if (bad * 2 > filled.length) {
          expect(faults[0]?.code).toBe('too_many_rejects');
          return;
        }
        expect([faults, rejects.count, rows.length]).toEqual([[], bad, bad]);
        expect(rows.map((row) => all[row.line - 1])).toEqual(rows.map((row) => row.raw));
      }),
      { numRuns: 100 },
    );
  });
});

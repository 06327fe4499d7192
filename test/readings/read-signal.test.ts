import { afterAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { listSnapshots, type SignalFiles } from '../../compiler/readings/list-snapshots.ts';
import {
  FILE_FAULTS_MAX,
  readSignal,
  type StoredReading,
  WHOLE,
} from '../../compiler/readings/read-signal.ts';
import { builtinEntry } from '../builtin-rows.ts';
import { AS_OF, ndjson, reading, removeFolders, writeSnapshots } from '../snapshot-folder.ts';

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

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CHUNKS_WAITING_MAX,
  ChunkMemories,
  formatFileMarks,
  parseFileMarks,
  TextBytes,
} from '../../../compiler/publish/assemble/chunk-builder.ts';
import { leadingOrder } from '../../../compiler/release/hash-lines.ts';
import { sha256Text } from '../../snapshot-folder.ts';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

describe('TextBytes', () => {
  it('holds every text as UTF-8, in order, and gives back the bytes of the one that is added', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(texts, (all) => {
        const bytes = new TextBytes();
        for (const [at, one] of all.entries()) {
          expect(text(bytes.add(at % 2 === 0 ? one : Buffer.from(one)))).toBe(one);
        }
        expect(text(bytes.all())).toBe(all.join(''));
      }),
    );
  });

  it('keeps what it holds when its memory grows, also for one text beyond it', () => {
    const bytes = new TextBytes();
    bytes.add('°C');
    const long = '觀'.repeat(500_000);
    expect(text(bytes.add(long))).toBe(long);
    expect(text(bytes.add('x'))).toBe('x');
    expect(text(bytes.add(Buffer.from(long)))).toBe(long);
    expect(text(bytes.all())).toBe(`°C${long}x${long}`);
  });

  it('stands in memory that another thread reads without a copy', () => {
    const bytes = new TextBytes();
    bytes.add('one');
    const seen = structuredClone(bytes.all());
    bytes.clear();
    bytes.add('two');
    expect(text(seen)).toBe('two');
  });

  it('begins again when it is cleared, in the same memory', () => {
    const bytes = new TextBytes();
    const { buffer } = bytes.add('something');
    bytes.clear();
    expect(bytes.all()).toHaveLength(0);
    expect(bytes.add('else').buffer).toBe(buffer);
    expect(text(bytes.all())).toBe('else');
  });
});

describe('ChunkMemories', () => {
  it('I34: gives as many memories by turns as chunks may wait, and one more', () => {
    const memories = new ChunkMemories();
    const turns = Array.from({ length: 3 * (CHUNKS_WAITING_MAX + 1) }, () => memories.next());
    expect(new Set(turns).size).toBe(CHUNKS_WAITING_MAX + 1);
    for (const [at, memory] of turns.slice(CHUNKS_WAITING_MAX + 1).entries()) {
      expect(memory).toBe(turns[at]);
    }
  });

  it('leaves a chunk as it is until its memory comes again, and then begins it again', () => {
    const memories = new ChunkMemories();
    const { bodies } = memories.next();
    bodies.add('first');
    for (let turn = 0; turn < CHUNKS_WAITING_MAX; turn++) memories.next().bodies.add('other');
    expect(String(bodies.all())).toBe(String(Buffer.from('first')));
    expect(memories.next().bodies.all()).toHaveLength(0);
  });
});

const RECORD = 'record/crypto.spot/btc.json';
const record_hash = `sha256:${sha256Text('record')}`;

describe('formatSaid(), parseFileMarks()', () => {
  it('remembers the paths of an entity, and how the hash of each citation begins', () => {
    const text = formatFileMarks([
      { path: RECORD, record_hash },
      { path: 'thin/calibrated/crypto.spot/btc.json', record_hash },
      { path: 'free/raw/crypto.spot/btc.json', record_hash: undefined },
    ]);
    const known = `${record_hash.slice(0, 'sha256:'.length + 8)}${'*'.repeat(56)}`;
    expect(text).not.toMatch(/\s/);
    expect(parseFileMarks(RECORD, text)).toEqual([
      { path: RECORD, record_hash: known },
      { path: 'thin/calibrated/crypto.spot/btc.json', record_hash: known },
      { path: 'free/raw/crypto.spot/btc.json', record_hash: undefined },
    ]);
  });

  it('refuses a file that is not by its entity', () => {
    const other = { path: 'record/crypto.spot/eth.json', record_hash };
    expect(() => formatFileMarks([{ path: RECORD, record_hash }, other])).toThrow(RangeError);
  });
});

describe('leadingOrder()', () => {
  it('gives the order of leads, and of the rest where those are the same', () => {
    const item = fc.tuple(fc.constantFrom(0, 1, 2 ** 28 - 1), fc.nat(5));
    fc.assert(
      fc.property(fc.array(item, { maxLength: 40 }), (items) => {
        const order = leadingOrder({
          count: items.length,
          lead: (at) => items[at]?.[0] ?? 0,
          compare: (a, b) => (items[a]?.[1] ?? 0) - (items[b]?.[1] ?? 0),
        });
        const want = [...items].sort(([a, b], [c, d]) => a - c || b - d);
        expect([...order].map((at) => items[at])).toEqual(want);
        expect(new Set(order).size).toBe(items.length);
      }),
    );
  });

  it('refuses more than it can tell apart', () => {
    const items = { count: 2 ** 24 + 1, lead: () => 0, compare: () => 0 };
    expect(() => leadingOrder(items)).toThrow(RangeError);
  });
});

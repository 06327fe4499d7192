import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextBytes } from '../../compiler/jobs/chunk-builder.ts';

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

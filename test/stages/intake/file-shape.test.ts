import { describe, expect, it } from 'vitest';
import { fileShape } from '../../../compiler/stages/intake/read-lines.ts';
import { cpuMsOf } from '../../growth.ts';

const shapeOf = (text: string) => fileShape(Buffer.from(text));

/** Where the work grows with the square of a line, one of this length takes minutes. */
const MANY = 500_000;
const SECONDS_MAX = 5;
const NEARLY: Readonly<Record<string, string>> = {
  'spaces behind columns': `a,b${' '.repeat(MANY)}!`,
  'spaces between columns': `${'a , '.repeat(MANY / 2)}!`,
  columns: `${'a,'.repeat(MANY)}!`,
  'quoted columns': `${'"a",'.repeat(MANY / 2)}!`,
  'spaces alone': `${' '.repeat(MANY)}!`,
  'spaces behind a bracket': `[${' '.repeat(MANY)}!`,
  'spaces behind two': `[{${' '.repeat(MANY)}!`,
  'closed braces': `[{${'}'.repeat(MANY)}${' '.repeat(MANY)}!`,
  'closed braces and commas': `[{${'}, '.repeat(MANY / 2)}!`,
  'spaces behind a brace': `{${' '.repeat(MANY)}!`,
  'open braces': `${'{'.repeat(MANY)}${' '.repeat(MANY)}!`,
  'commas and spaces': `{${', '.repeat(MANY)}!`,
};

describe('fileShape()', () => {
  it('knows a CSV with spaces at its end, and none where something follows them', () => {
    for (const end of ['', ' ', '\r', ' \t \r']) {
      expect(shapeOf(`entity, price usd;"grade"${end}`)).toMatch(/^a CSV file/);
    }
    for (const text of ['entity', 'a,b  !', 'a,,b', 'a,1']) expect(shapeOf(text)).toBeNull();
  });

  it.each(Object.entries(NEARLY))('looks at a long line of %s in one pass', (_, text) => {
    const ms = cpuMsOf(() => expect(shapeOf(text)).toBeNull());
    expect(ms).toBeLessThan(SECONDS_MAX * 1000);
  });
});

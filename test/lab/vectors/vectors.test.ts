import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { vectorFiles } from './vectors.ts';

describe('vectorFiles()', () => {
  it.each([...vectorFiles()])('I18: writes test/vectors/%s again, byte for byte', (name, text) => {
    expect(readFileSync(`test/vectors/${name}`, 'utf8')).toBe(text);
  });
  it('gives every row a comment of its own and either a result or an error', () => {
    for (const text of vectorFiles().values()) {
      const rows = JSON.parse(text) as { comment: string; want?: unknown; error?: unknown }[];
      expect(new Set(rows.map(({ comment }) => comment)).size).toBe(rows.length);
      for (const row of rows) expect(row.want === undefined).toBe(row.error !== undefined);
      expect(rows.some((row) => row.error !== undefined)).toBe(true);
    }
  });
});

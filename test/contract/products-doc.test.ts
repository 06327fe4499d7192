import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import { isDocument } from '../../compiler/contract/document-bodies.ts';
import { needsTokens } from '../../compiler/contract/for-sale.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { productExamples } from './product-examples.ts';

const contract = new URL('../../compiler/contract/', import.meta.url);
const TEXT = readFileSync(new URL('PRODUCTS.md', contract), 'utf8');
const FORMAT = readFileSync(new URL('FORMAT.md', contract), 'utf8');
/** The table of paths and what every product is, without the examples. */
const WORDS_MAX = 2700;

const did = /`(did:key:\w+)`/.exec(FORMAT)?.[1] ?? '';
const seed = /Its seed is\s+`([0-9a-f]{64})`/.exec(FORMAT)?.[1] ?? '';
const EXAMPLE = /^\*\*Example: (.+)\.\*\*\n```json\n(.*)\n```$/gm;
const printed = new Map(
  [...TEXT.matchAll(EXAMPLE)].map(([, name = '', line = '']) => [name, line]),
);
const verdict = (text: string): string => verifyBody(parseJson(text), { trust: [did] }).verdict;

describe('PRODUCTS.md', () => {
  it('shows a body of each product, to the byte', () => {
    const made = [...productExamples(seed)].map(([name, body]) => [name, JSON.stringify(body)]);
    expect(Object.fromEntries(printed)).toEqual(Object.fromEntries(made));
  });

  it('shows bodies that verify, and no longer with another digit of their reading', () => {
    for (const [name, line] of printed) {
      const changed = line.replace(
        /("stage_ft":|"aqi_index":|"n":|"status":"|"state":"|"count":)\w/,
        '$17',
      );
      expect([name, verdict(line), changed === line, verdict(changed)]).toEqual([
        name,
        'verified',
        false,
        'failed',
      ]);
    }
  });

  it('names the file of every operation that has one and costs', () => {
    const paid = BUILTIN.operations.filter((row) => row.priceUsd !== null && !needsTokens(row));
    const stored = paid.filter((row) => row.file !== undefined && !isDocument(row));
    const [, table = ''] = TEXT.split('## 1. Paths and citations');
    const unnamed = stored.filter(({ path, file = '' }) => {
      const folder = file.slice(0, file.indexOf('/') + 1);
      return !table.includes(`\`${folder}`) && !table.includes(`\`${path}`);
    });
    expect(unnamed.map(({ path }) => path)).toEqual([]);
    expect(stored.length).toBeGreaterThan(40);
  });

  it('stays short beside its examples', () => {
    const text = TEXT.replace(EXAMPLE, '');
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(WORDS_MAX);
  });
});

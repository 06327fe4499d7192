import { describe, expect, it } from 'vitest';
import {
  formatTermRow,
  parseTermRow,
  posting,
  searchWords,
  type TermRow,
} from '../../compiler/contract/search-index.ts';
import { TermTable } from '../../gatekeeper/search/term-table.ts';

const HEAD = JSON.stringify({ topics: 2, documents: 9, lines: [['a', 2]] });

function row(term: string, ...postings: readonly number[]): TermRow {
  return { term, topics: 0, places: postings.length, postings };
}

function tableOf(...terms: readonly string[]): TermTable {
  const rows = [...terms].sort().map((term, at) => formatTermRow(row(term, posting(at, 5))));
  return new TermTable(Buffer.from(`${HEAD}\n${rows.join('')}`));
}

describe('searchWords()', () => {
  it.each([
    ['Air quality in DENVER', ['air', 'quality', 'in', 'denver']],
    ['Türkiye, Paraná', ['turkiy', 'parana']],
    ['PM2.5', ['pm25']],
    ["Chicago O'Hare", ['chicago', 'ohar']],
    ['wildfires wildfire', ['wildfir', 'wildfir']],
    ['shipping ships', ['ship', 'ship']],
    ['cities city', ['city', 'city']],
    ['class classes', ['class', 'class']],
    ['speed spring', ['speed', 'spring']],
    ['hydrology.river-level 07010000', ['hydrology', 'river', 'level', '07010000']],
    ['…!?', []],
  ])('of "%s" are %j', (text, words) => {
    expect(searchWords(text)).toEqual(words);
  });

  it('are bounded in number and in length', () => {
    expect(searchWords('a '.repeat(5000))).toHaveLength(64);
    expect(searchWords('a'.repeat(5000))[0]).toHaveLength(40);
  });
});

describe('a row of the terms', () => {
  it.each([[row('denver', posting(3, 9), posting(4, 1), posting(100_000, 6))], [row('\u{1f32b}')]])(
    'is read as it was written: %j',
    (one) => {
      expect(parseTermRow(formatTermRow(one).slice(0, -1))).toEqual(one);
    },
  );
});

describe('TermTable', () => {
  const table = tableOf('denver', 'denmark', 'drought', 'köln', 'z');
  const terms = (rows: readonly TermRow[]): string[] => rows.map(({ term }) => term);

  it('finds a whole term, and no piece of one', () => {
    expect(table.find('drought')?.term).toBe('drought');
    expect(table.find('köln')?.term).toBe('köln');
    for (const none of ['drough', 'droughts', '', 'zz', HEAD.slice(0, 8)]) {
      expect(table.find(none)).toBeNull();
    }
  });

  it('finds what begins with a text, the shortest first', () => {
    expect(terms(table.beginningWith('den', 8))).toEqual(['denver', 'denmark']);
    expect(terms(table.beginningWith('den', 1))).toEqual(['denver']);
    expect(table.beginningWith('dex', 8)).toEqual([]);
    expect(terms(table.beginningWith('z', 8))).toEqual(['z']);
  });

  it.each([
    ['a letter more', 'ddenver'],
    ['a letter less', 'denvr'],
    ['another letter', 'denvir'],
    ['two swapped', 'dnever'],
  ])('finds a word with %s', (_, word) => {
    expect(terms(table.nearTo(word, 8))).toEqual(['denver']);
  });

  it('does not find a word with two edits', () => {
    expect(table.nearTo('dnevr', 8)).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WELL_KNOWN_FORMS } from '../../compiler/contract/filing.ts';
import {
  CANDIDATES_MAX,
  filerCoverageSchema,
  LIST_FILINGS_MAX,
  listStretchSchema,
  proposerBodySchema,
  resolveBodySchema,
  SETTLEMENT_NATURE,
} from '../../compiler/contract/resolve-bodies.ts';
import { ACCEPTANCE_LEAD_DAYS, settleFilings } from '../../compiler/contract/settle-filings.ts';
import { settlementNote } from '../../compiler/contract/settlement-note.ts';
import { CASE } from '../settlement-cases.ts';

const TEXT = readFileSync(
  new URL('../../compiler/contract/SETTLEMENTS.md', import.meta.url),
  'utf8',
);

/** The sentences of the table, each as a pattern: letters and words in italics stand for values, brackets for what may be absent. */
const [BEFORE_SHAPES = '', SHAPES = ''] = TEXT.split('## 6. Shapes');
const SENTENCES = [...BEFORE_SHAPES.matchAll(/^\| (?!where|---)[^|]+ \| (.+) \|$/gm)].map(
  ([, text = '']) =>
    text
      .replace(/[.?()]/g, '\\$&')
      .replace(/\[([^\]]+)\]/g, '(?:$1)?')
      .replace(/\*\w+\*/g, '[\\w /:-]+?(?:\\.\\d+)?')
      .replace(/\b[KLF]\b/g, '[\\w /:-]+?(?:\\.\\d+)?(?:Z)?'),
);
const NOTE = new RegExp(`^(?:(?:${SENTENCES.join('|')})(?: |$))+$`);

describe('SETTLEMENTS.md', () => {
  it('lists every sentence of a note', () => {
    expect(SENTENCES.length).toBe(15);
    fc.assert(
      fc.property(CASE, ({ filings, coverage, question }) => {
        const settlement = settleFilings(filings, coverage, question);
        expect(settlementNote({ question, coverage, settlement })).toMatch(NOTE);
      }),
      { numRuns: 2000 },
    );
    expect('The list is whole.').not.toMatch(NOTE);
  });

  it('names every member of an answer that is computed or proves it', () => {
    const { nature, grade, source, covers, filings_count, source_ref, ...coverage } =
      filerCoverageSchema.shape;
    const names = [
      ...Object.keys(resolveBodySchema.shape),
      ...Object.keys(proposerBodySchema.shape),
      ...Object.keys(listStretchSchema.shape),
      ...Object.keys(coverage),
      ...Object.keys(coverage.lists.element.shape),
    ];
    const isNamed = (name: string): boolean => new RegExp(`\`[^\`]*\\b${name}\\b`).test(TEXT);
    expect(names.filter((name) => !isNamed(name))).toEqual([]);
    expect(isNamed('nothing_such')).toBe(false);
  });

  it('gives the shape of every object, and nothing of another name', () => {
    const { element: row } = resolveBodySchema.shape.candidate_sources;
    const shapes = [
      resolveBodySchema,
      proposerBodySchema,
      filerCoverageSchema,
      filerCoverageSchema.shape.lists.element,
      listStretchSchema,
      row,
      row.shape._hash_core,
    ];
    const members = new Set(shapes.flatMap(({ shape }) => Object.keys(shape)));
    const spans = [...SHAPES.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    const named = new Set(spans.filter((name) => name !== '3'));
    expect([...members].filter((name) => !named.has(name))).toEqual([]);
    expect([...named].filter((name) => !members.has(name))).toEqual([]);
    expect(SHAPES).toContain(`"${SETTLEMENT_NATURE}"`);
  });

  it('lists the forms that every verifier knows', () => {
    expect(TEXT.replace(/\s+/g, ' ')).toContain(
      ` ${[...WELL_KNOWN_FORMS.slice(0, 10), 'SCHEDULE 13D', 'SCHEDULE 13G', ...WELL_KNOWN_FORMS.slice(10)].join(', ')}.`,
    );
  });

  it('tells the limits of the code, and speaks of no machine', () => {
    expect(TEXT).toContain(`at most ${LIST_FILINGS_MAX} entries`);
    expect(TEXT).toContain(`an unknown acceptance counts as ${ACCEPTANCE_LEAD_DAYS}`);
    expect([TEXT.includes('holds the first ten;'), CANDIDATES_MAX]).toEqual([true, 10]);
    expect(TEXT).not.toMatch(/\/(home|tmp|work|root)\//);
  });
});

import { describe, expect, it } from 'vitest';
import { blastReport } from '../../../../sources/kit/blast-radius.ts';
import { SPOILED } from '../../../../sources/kit/spoiled.ts';

const REPORTS = SPOILED.map(({ name, mutated, anywhere }) => {
  let report: ReturnType<typeof blastReport> | undefined;
  // Each kind is spoiled and imported in hundreds of ways, once.
  const made = () => {
    report ??= blastReport(mutated, anywhere);
    return report;
  };
  return { name, source: mutated.source, made };
});

describe('an entry with one value that cannot be read', () => {
  it.each(REPORTS)('I63: touches only what it is about in $name', ({ made }) => {
    const { wholesale, beyond, lies } = made();
    expect({ wholesale, beyond, lies }).toEqual({ wholesale: [], beyond: [], lies: [] });
  });

  it('I63: was tried in the lists of many sources', () => {
    const tried = REPORTS.filter(({ made }) => made().tried > 20).map(({ source }) => source);
    expect(new Set(tried).size).toBeGreaterThanOrEqual(9);
  });
});

import { describe, expect, it } from 'vitest';
import {
  memberNames,
  someMembers,
  storedFilingRowSchema,
} from '../../../compiler/stages/intake/collection-rows.ts';
import { mcpServerRowSchema } from '../../../compiler/stages/intake/roster-rows.ts';

describe('memberNames()', () => {
  it('names the members of every form once', () => {
    const names = memberNames(storedFilingRowSchema);
    for (const name of ['cik', 'kind', 'accession', 'tickers', 'count']) {
      expect(names.filter((each) => each === name)).toEqual([name]);
    }
  });
});

describe('someMembers()', () => {
  it.each([
    [{}, null],
    [{ status: 'active' }, null],
    [{ status: 7 }, ['status']],
    [{ capture_date: '2026-02-30' }, ['capture_date']],
    [{ stauts: 'active' }, []],
  ])('judges in %j only what it holds: %j', (members, path) => {
    const issues = someMembers(mcpServerRowSchema).safeParse(members).error?.issues ?? [];
    expect(issues.map((issue) => issue.path)).toEqual(path === null ? [] : [path]);
  });

  it('leaves open what the forms of a row judge otherwise', () => {
    const read = (members: object) => someMembers(storedFilingRowSchema).safeParse(members).success;
    expect(read({ from: null, kind: 'listing', cik: '0000320193' })).toBe(true);
    expect(read({ from: '2026-01-05', kind: 'page' })).toBe(true);
    expect(read({ from: null, kind: 'page', cik: '320193' })).toBe(false);
  });
});

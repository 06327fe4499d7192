import { describe, expect, it } from 'vitest';
import { CompileError, faultText } from '../../compiler/system/compile-error.ts';

const FAULTS_SHOWN_MAX = 50;

const fault = { code: 'bad_line', file: 'a.ndjson', message: 'is bad' } as const;

describe('CompileError', () => {
  it('says that nothing was published, and where to look', () => {
    const error = new CompileError([{ ...fault, line: 3, field: 'current.x' }]);
    expect(error.message).toBe(
      'Cannot compile: 1 problem, nothing was published\n  a.ndjson:3 current.x: is bad',
    );
  });

  it('counts what it does not spell out', () => {
    const { message, faults } = new CompileError(Array(FAULTS_SHOWN_MAX + 7).fill(fault));
    expect(faults).toHaveLength(FAULTS_SHOWN_MAX + 7);
    expect(message).toContain('57 problems');
    expect(message).toMatch(/\n {2}… and 7 more in a\.ndjson$/);
    expect(message.split('\n')).toHaveLength(FAULTS_SHOWN_MAX + 2);
  });
});

describe('CompileError of many files', () => {
  const many = (file: string, count: number) => Array(count).fill({ ...fault, file });

  it('names every file, however much is wrong in the first', () => {
    const { message } = new CompileError([...many('a', 200), ...many('b', 1), ...many('c', 30)]);
    expect(message).toContain('231 problems');
    for (const line of ['… and 184 more in a', 'b is bad', '… and 14 more in c']) {
      expect(message).toContain(`\n  ${line}`);
    }
    expect(message).not.toContain('more in b');
  });

  it('says how many files are left when they are too many', () => {
    const all = Array.from({ length: FAULTS_SHOWN_MAX + 3 }, (_, at) => many(`file ${at}`, 2));
    const { message } = new CompileError(all.flat());
    expect(message).toMatch(/\n {2}… and in 3 more files$/);
    expect(message).toContain('\n  … and 1 more in file 49');
  });
});

describe('problemText()', () => {
  it('leaves out what a problem does not have', () => {
    expect(faultText(fault)).toBe('a.ndjson is bad');
  });
});

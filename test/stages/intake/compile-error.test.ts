import { describe, expect, it } from 'vitest';
import {
  CompileError,
  PROBLEMS_SHOWN_MAX,
  problemText,
} from '../../../compiler/stages/intake/compile-error.ts';

const problem = { code: 'bad_line', file: 'a.ndjson', message: 'is bad' } as const;

describe('CompileError', () => {
  it('says that nothing was published, and where to look', () => {
    const error = new CompileError([{ ...problem, line: 3, field: 'current.x' }]);
    expect(error.message).toBe(
      'Cannot compile: 1 problem, nothing was published\n  a.ndjson:3 current.x: is bad',
    );
  });

  it('counts what it does not spell out', () => {
    const { message, problems } = new CompileError(Array(PROBLEMS_SHOWN_MAX + 7).fill(problem));
    expect(problems).toHaveLength(PROBLEMS_SHOWN_MAX + 7);
    expect(message).toContain('57 problems');
    expect(message).toMatch(/\n {2}… and 7 more$/);
    expect(message.split('\n')).toHaveLength(PROBLEMS_SHOWN_MAX + 2);
  });
});

describe('problemText()', () => {
  it('leaves out what a problem does not have', () => {
    expect(problemText(problem)).toBe('a.ndjson is bad');
  });
});

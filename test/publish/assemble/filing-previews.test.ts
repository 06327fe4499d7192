import { describe, expect, it } from 'vitest';
import type { FilerLine } from '../../../compiler/products/shapes/filing-index.ts';
import { writeFilingPreviews } from '../../../compiler/publish/assemble/filings.ts';
import type { Press } from '../../../compiler/release/press.ts';

const PREVIEW_FILERS_MAX = 500;

/** The two previews of so many filers, by the path of the operation. */
function previewsOf(count: number): Map<string, object> {
  const filers = Array.from(
    { length: count },
    (_, at): FilerLine => ({
      cik: String(at).padStart(10, '0'),
      name: `Filer ${at}`,
      tickers: [],
      forms: ['10-K'],
      collected_at: '2026-11-20T11:00:00Z',
      covered_from: null,
      gaps: [],
    }),
  );
  const bodies = new Map<string, object>();
  const press: Pick<Press, 'put'> = { put: (path, _, body) => void bodies.set(path, body) };
  writeFilingPreviews(filers, press as Press);
  return bodies;
}

describe('writeFilingPreviews()', () => {
  it.each([
    [PREVIEW_FILERS_MAX, PREVIEW_FILERS_MAX],
    [PREVIEW_FILERS_MAX + 1, PREVIEW_FILERS_MAX],
  ])('I43: counts all of %i filers and lists %i', (count, listed) => {
    const bodies = previewsOf(count);
    expect([...bodies.keys()]).toEqual(['/resolve/preview', '/resolve/proposer/preview']);
    for (const body of bodies.values()) {
      expect(body).toMatchObject({ filers_count: count });
      expect(body).toHaveProperty('filers.length', listed);
    }
  });
});

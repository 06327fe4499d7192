import { afterAll, describe, expect, it } from 'vitest';
import { SAMPLE_AS_OF, sampleClock } from '../../scripts/sample/sample-times.ts';
import { compileFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

describe('sampleClock()', () => {
  it('is the clock, but never one before the sample', () => {
    expect(sampleClock(new Date('2026-11-20T12:00:00.999Z'))).toBe(SAMPLE_AS_OF);
    expect(sampleClock(new Date('2027-01-02T03:04:05.678Z'))).toBe('2027-01-02T03:04:05Z');
    expect(sampleClock(new Date('2026-01-02T03:04:05Z'))).toBe(SAMPLE_AS_OF);
  });

  it('has nothing of the sample ahead of it, while an earlier clock has', async () => {
    const { release } = await compileFolder('snapshots', { asOf: sampleClock(new Date(0)) });
    expect(release.as_of).toBe(SAMPLE_AS_OF);
    const early = compileFolder('snapshots', { asOf: '2026-11-19T12:00:00Z' });
    await expect(early).rejects.toThrow(
      'the batch is in the future: this compile is as of 2026-11-19T12:00:00Z',
    );
  }, 120_000);
});

import { afterAll, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, isoTime } from '../../compiler/format/iso-time.ts';
import { CADENCES, FRESHNESS_THRESHOLDS } from '../../compiler/products/shapes/freshness.ts';
import { WINDOW_DAYS } from '../../compiler/products/shapes/record-views.ts';
import { sameDayInYear } from '../../compiler/readings/season.ts';
import {
  captureDays,
  monthCollectedAt,
  recentMoments,
  SAMPLE_AS_OF,
  sampleClock,
  sampleHour,
  seasonMoments,
  weekCollectedAt,
} from '../../scripts/sample/sample-times.ts';
import { sampleFolder } from '../shared-folder.ts';
import { compiledSample } from '../shop.ts';
import { compileFolder, readJson, removeFolders } from '../snapshot-folder.ts';

const WINDOW_READINGS_MIN = 10;

afterAll(removeFolders);

/** Every 31st hour of three years, so that each hour, day and month comes up, and one leap day. */
const HOURS = Array.from({ length: (3 * 366 * 24) / 31 }, (_, at) =>
  isoTime(Date.parse(SAMPLE_AS_OF) + at * 31 * HOUR_MS),
);

describe('sampleClock()', () => {
  it('is the clock, but never one before the fixed days of the sample', () => {
    expect(sampleClock(new Date('2026-11-20T12:00:00.999Z'))).toBe(SAMPLE_AS_OF);
    expect(sampleClock(new Date('2027-01-02T03:04:05.678Z'))).toBe('2027-01-02T03:04:05Z');
    expect(sampleClock(new Date('2026-01-02T03:04:05Z'))).toBe(SAMPLE_AS_OF);
  });

  it('has nothing of the sample ahead of it, while an earlier clock has', async () => {
    // The sample of all other tests is compiled at this time.
    expect(sampleClock(new Date(0))).toBe(SAMPLE_AS_OF);
    const { folder } = await compiledSample();
    expect(readJson(folder, 'release.json').as_of).toBe(SAMPLE_AS_OF);
    const early = compileFolder(await sampleFolder(), { asOf: '2026-11-19T12:00:00Z' });
    await expect(early).rejects.toThrow(
      'the batch is in the future: this compile is as of 2026-11-19T12:00:00Z',
    );
  });
});

describe('sampleHour()', () => {
  it('is the same for all instants of an hour, and another one after it', () => {
    const hours = ['11:00:00', '11:59:59', '12:00:00'].map((at) => sampleHour(`2027-01-02T${at}Z`));
    expect(hours).toEqual(['2027-01-02T11:00:00Z', '2027-01-02T11:00:00Z', '2027-01-02T12:00:00Z']);
  });
});

describe('recentMoments()', () => {
  it.each(CADENCES)('of %s readings go forward, up to the hour and not beyond', (cadence) => {
    for (const hour of HOURS) {
      const moments = recentMoments(cadence, hour);
      const days = moments.map(({ collectedAt }) => collectedAt.slice(0, 10));
      expect(new Set(days).size, hour).toBe(moments.length);
      expect([...days].sort(), hour).toEqual(days);
      for (const { observedAt, collectedAt } of moments) {
        expect(observedAt < collectedAt && collectedAt <= hour, hour).toBe(true);
      }
    }
  });

  it.each([
    ['hourly', 'fresh_hours'],
    ['daily', 'recent_hours'],
    ['weekly', 'recent_hours'],
    ['monthly', 'recent_hours'],
  ] as const)(
    'of %s readings end with one that is within %s, as those of an agency are',
    (cadence, word) => {
      const limit = FRESHNESS_THRESHOLDS[cadence][word] * HOUR_MS;
      for (const hour of HOURS) {
        const newest = recentMoments(cadence, hour).at(-1)?.observedAt ?? '';
        expect(Date.parse(hour) - Date.parse(newest), hour).toBeLessThan(limit);
      }
    },
  );

  it('tells the days before at the same times whatever the hour of a day is', () => {
    const [early, late] = ['2027-05-05T13:00:00Z', '2027-05-05T23:00:00Z'].map((hour) =>
      recentMoments('hourly', hour),
    );
    expect(late?.slice(0, -1)).toEqual(early?.slice(0, -1));
    expect(late?.at(-1)).not.toEqual(early?.at(-1));
  });
});

describe('seasonMoments()', () => {
  it('has readings enough around each day of a year for its statistics', () => {
    for (const hour of HOURS) {
      const now = Date.parse(hour);
      const year = new Date(now).getUTCFullYear();
      const centres = [1, 2, 3, 4, 5].map((back) => sameDayInYear(now, year - back));
      const near = seasonMoments('daily', hour).filter(({ observedAt }) =>
        centres.some((centre) => Math.abs(Date.parse(observedAt) - centre) <= WINDOW_DAYS * DAY_MS),
      );
      expect(near.length, hour).toBeGreaterThanOrEqual(WINDOW_READINGS_MIN);
    }
  });
});

describe('the days of collection', () => {
  it('are Thursdays, middles of months and days of which the morning is over', () => {
    for (const hour of HOURS) {
      const [week, month] = [weekCollectedAt(hour), monthCollectedAt(hour)];
      expect([new Date(week).getUTCDay(), week.slice(11)]).toEqual([4, '13:00:00Z']);
      expect(Date.parse(hour) - Date.parse(week)).toBeLessThan(7 * DAY_MS);
      expect(month.slice(8)).toBe('15T13:00:00Z');
      expect(Date.parse(hour) - Date.parse(month)).toBeLessThan(31 * DAY_MS);
    }
    expect(captureDays('2027-03-01T06:00:00Z', 2)).toEqual(['2027-02-27', '2027-02-28']);
    expect(captureDays('2027-03-01T07:00:00Z', 2)).toEqual(['2027-02-28', '2027-03-01']);
  });
});

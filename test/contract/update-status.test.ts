import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CADENCES,
  type Cadence,
  knownOf,
  type Publication,
  statusTurns,
  updateState,
  updateStatus,
} from '../../compiler/contract/freshness.ts';

const LOOK_HOURS_UNSCHEDULED = 744;
const AT = '2026-01-01T00:00:00Z';
/** Hours after which the next reading is due, of every cadence with a schedule. */
const DUE_HOURS = {
  hourly: 3,
  daily: 48,
  weekly: 216,
  monthly: 1440,
  quarterly: 3600,
  yearly: 10_000,
} as const satisfies Record<Exclude<Cadence, 'as-events'>, number>;
const SCHEDULED = CADENCES.filter((cadence) => cadence !== 'as-events');
const instant = (hours: number, ms = 0) => Date.parse(AT) + hours * 3_600_000 + ms;
const seen = (official_cadence: Cadence, lookedHours: number): Publication => ({
  official_cadence,
  observed_at: AT,
  last_looked_at: new Date(instant(lookedHours)).toISOString(),
});

describe('updateStatus()', () => {
  it.each(SCHEDULED)('is on schedule up to the exact due time of %s, then unknown', (cadence) => {
    const due = DUE_HOURS[cadence];
    const of = seen(cadence, due);
    expect(updateStatus(of, instant(due))).toEqual({
      state: 'on_schedule',
      official_cadence: cadence,
      overdue_days: null,
      text: `on schedule (${cadence}); last official reading ${AT}, last looked at ${of.last_looked_at}`,
    });
    expect(updateStatus(of, instant(due, 1))).toMatchObject({
      state: 'unknown',
      overdue_days: null,
      text: expect.stringContaining(`since the next ${cadence} reading was due`),
    });
  });

  it.each(SCHEDULED)('is overdue where a look at a source of %s found nothing newer', (cadence) => {
    const due = DUE_HOURS[cadence];
    const of = seen(cadence, due + 1);
    expect(updateStatus(of, instant(due + 1))).toMatchObject({ state: 'overdue', overdue_days: 0 });
    expect(updateState(of, instant(2 * due + 1))).toBe('overdue');
    expect(updateStatus(of, instant(2 * due + 1, 1))).toMatchObject({
      state: 'unknown',
      overdue_days: null,
      text: expect.stringContaining(`nobody has looked for more than ${due} hours`),
    });
  });

  it('counts whole days from the due time to the request', () => {
    const due = DUE_HOURS.weekly ?? 0;
    const of = seen('weekly', due + 1);
    const days = (hours: number, ms = 0) => updateStatus(of, instant(due + hours, ms)).overdue_days;
    expect([days(24, -1), days(24), days(48, -1), days(48)]).toEqual([0, 1, 1, 2]);
  });

  it('does not call data of 2018 on schedule that nobody has looked at since', () => {
    for (const official_cadence of CADENCES) {
      const of = {
        official_cadence,
        observed_at: '2018-03-01T00:00:00Z',
        last_looked_at: '2018-03-01T01:00:00Z',
      };
      expect(updateState(of, Date.parse('2026-11-20T12:00:00Z')), official_cadence).toBe('unknown');
    }
  });

  it('never calls a source late that publishes as events occur, and knows nothing without a look', () => {
    const of = seen('as-events', 100_000);
    const known = 100_000 + LOOK_HOURS_UNSCHEDULED;
    expect(updateState(of, instant(known))).toBe('on_schedule');
    expect(updateState(of, instant(known, 1))).toBe('unknown');
  });

  it('turns exactly at its turns', () => {
    const scene = fc.record({
      cadence: fc.constantFrom(...CADENCES),
      looked: fc.nat(20_000),
      after: fc.nat(72_000_000_000),
    });
    fc.assert(
      fc.property(scene, ({ cadence, looked, after }) => {
        const of = seen(cadence, looked);
        const now = instant(looked) + after;
        const status = updateStatus(of, now);
        const turns = statusTurns(of, status.overdue_days).filter((turn) => turn >= now);
        const held = Math.min(...turns);
        if (!Number.isFinite(held)) expect(now).toBeGreaterThan(knownOf(of).until);
        else {
          expect(updateStatus(of, held)).toEqual(status);
          expect(updateStatus(of, held + 1)).not.toEqual(status);
        }
      }),
    );
  });
});

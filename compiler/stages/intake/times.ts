import { z } from 'zod';
import { isRealDay } from '../../contract/cutoff.ts';

const NO_TIME = 'not an ISO-8601 UTC time such as 2026-11-20T10:45:00Z';
const NO_DAY = 'not a day such as 2026-11-20';
const WITHOUT_SECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})?$/;
const DAY_FIRST = /^(\d{4}-\d{2}-\d{2})(T|$)/;

/** A UTC time with its seconds, ending in `Z`. */
export const utcTime = z.iso
  .datetime({ abort: true, error: ({ input }) => timeFault(input) })
  .refine(isOfRealDay, { error: ({ input }) => timeFault(input) });
/** A day of the calendar. */
export const day = z.iso
  .date({ abort: true, error: ({ input }) => dayFault(input) })
  .refine(isOfRealDay, { error: ({ input }) => dayFault(input) });
/** How exactly a source knows when a life began or ended. */
export const dayOrTime = z.union([day, utcTime], {
  error: ({ input }) =>
    missingDay(input) ??
    (input === undefined
      ? undefined
      : 'not a day, a UTC time such as 2026-11-20T10:45:00Z, or null'),
});

/** Years begin with 1, where ISO-8601 has a year 0. */
function isOfRealDay(text: string): boolean {
  return isRealDay(text.slice(0, 10));
}

/** An absent time is reported like any other missing member. */
function timeFault(input: unknown): string | undefined {
  if (typeof input === 'string' && WITHOUT_SECONDS.test(input)) {
    return `"${input}" has no seconds; write them, as in 2026-11-20T10:45:00Z`;
  }
  return input === undefined ? undefined : (missingDay(input) ?? NO_TIME);
}

function dayFault(input: unknown): string | undefined {
  return input === undefined ? undefined : (missingDay(input) ?? NO_DAY);
}

/** Reports a well-formed day that does not exist. */
function missingDay(input: unknown): string | null {
  const [, text = ''] = DAY_FIRST.exec(String(input)) ?? [];
  return text === '' || isRealDay(text) ? null : `there is no day ${text}; correct it`;
}

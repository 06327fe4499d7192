import { parseCutoff } from './cutoff.ts';
import { canonicalForm, isEventClass } from './filing.ts';
import type { SettlementQuestion } from './settle-filings.ts';

/** A question as a settlement answer repeats it. */
interface RepeatedQuestion {
  readonly form: string;
  readonly event_class: string | null;
  readonly cutoff: string;
}

/** The question that an answer repeats; null if it is not a legal question. */
export function settlementQuestion({
  form,
  event_class,
  cutoff,
}: RepeatedQuestion): SettlementQuestion | null {
  const parsed = parseCutoff(cutoff);
  if (parsed === null || canonicalForm(form) !== form) return null;
  if (event_class !== null && !isEventClass(form, event_class)) return null;
  return { form, eventClass: event_class, cutoff: parsed };
}

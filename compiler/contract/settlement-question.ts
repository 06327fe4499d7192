import { parseCutoff } from './cutoff.ts';
import { canonicalForm, FORM_TYPE, isEventClass, WELL_KNOWN_FORMS } from './filing.ts';
import type { SettlementQuestion } from './settle-filings.ts';

/** The question that an answer repeats; null if it is not a legal question. */
export function settlementQuestion({
  form,
  event_class,
  cutoff,
}: {
  form: string;
  event_class: string | null;
  cutoff: string;
}): SettlementQuestion | null {
  const parsed = parseCutoff(cutoff);
  if (parsed === null || canonicalForm(form) !== form || !FORM_TYPE.test(form)) return null;
  if (event_class !== null && !isEventClass(form, event_class)) return null;
  return { form, eventClass: event_class, cutoff: parsed };
}

const RENAMED_FORMS = ['SCHEDULE 13D', 'SCHEDULE 13G'];
const KNOWN_FORMS = [...WELL_KNOWN_FORMS, ...RENAMED_FORMS].flatMap((form) => [form, `${form}/A`]);
/** Items begin with 1; `02.02` is none, but reads like one. */
const PLAIN_ITEM = /^[1-9]/;

/**
 * Whether a question about what the filer has no list of reads like one about something else: `10K` and `1O-K` are no form
 * types, so a true answer about them would be taken for one about `10-K`. `stored`: form types that the filer has a list of.
 */
export function isLookalike(
  { form, eventClass }: Pick<SettlementQuestion, 'form' | 'eventClass'>,
  stored: readonly string[],
): boolean {
  if (eventClass !== null && !PLAIN_ITEM.test(eventClass)) return true;
  const known = [...KNOWN_FORMS, ...stored];
  return !known.includes(form) && known.map(readForm).includes(readForm(form));
}

/** What of a form type is read: letters and digits, where O is taken for 0, I for 1, and zeros in front of a number or of all for nothing. */
function readForm(form: string): string {
  const digits = form.replaceAll('O', '0').replaceAll('I', '1');
  return shortNumbers(shortNumbers(digits).replace(/[ /.-]/g, '')).replace(
    /^0*(?:F0RM)?0*(?=.)/,
    '',
  );
}

function shortNumbers(text: string): string {
  return text.replace(/(?<!\d)0+(?=\d)/g, '');
}

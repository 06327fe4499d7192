import { canonicalTarget } from '../../contract/canonical-request.ts';
import { defined } from '../../contract/defined.ts';
import { FILING_SOURCE_CLASS } from '../../contract/filing.ts';
import type { FilerLine } from '../../contract/filing-index.ts';
import type { Press } from '../publish/press.ts';

/** Filers that a preview lists; all of them may be asked for. */
export const PREVIEW_FILERS_MAX = 500;

const NATURE =
  'Which filers and form types have stored filing records; descriptive only, never adjudicates an event, no advice';
const CUTOFF_RULE =
  'a bare date means the whole official filing day in New York and is compared with the filing date; ' +
  'a date-time with Z or an offset is compared with the time of acceptance';
const ANSWER_RULE =
  'the newest filing of the form at or before the cutoff, else the first one after it; amendments and ' +
  'filings of the same day make it ambiguous, sources that tell different facts make it conflicting';
const NONE_RULE =
  'filed_by_cutoff is false only where the stored list is whole (covered_from is null), has no gap before the cutoff and was collected after it, else null';
const CONFIDENCE_RULE =
  'confidence is 1 for a resolved answer and 0 for every other one; it is never a probability';

/** The two free bodies that say what may be asked for. */
export function writeFilingPreviews(filers: readonly FilerLine[], press: Press): void {
  press.put('/resolve/preview', {}, previewOf('/resolve', filers));
  press.put('/resolve/proposer/preview', {}, previewOf('/resolve/proposer', filers));
}

function previewOf(path: string, filers: readonly FilerLine[]): object {
  return {
    nature: NATURE,
    filers_count: filers.length,
    filers: filers.slice(0, PREVIEW_FILERS_MAX).map(filerRow),
    source_classes: [FILING_SOURCE_CLASS],
    cutoff_rule: CUTOFF_RULE,
    answer_rule: ANSWER_RULE,
    none_rule: NONE_RULE,
    ...(path === '/resolve' ? {} : { confidence_rule: CONFIDENCE_RULE }),
    example_request: exampleOf(path, filers),
  };
}

function filerRow({ name, forms, ...filer }: FilerLine): object {
  const { cik, tickers, collected_at, covered_from, gaps } = filer;
  const entity = tickers[0] ?? cik;
  return { entity, cik, entity_name: name, tickers, forms, collected_at, covered_from, gaps };
}

function exampleOf(path: string, filers: readonly FilerLine[]): string | null {
  const filer = filers.find(({ forms }) => forms.length > 0);
  if (filer === undefined) return null;
  const { cik, tickers, forms, collected_at } = filer;
  const form = defined(forms.find((one) => one === '10-K') ?? forms[0], 'the form');
  const cutoff = collected_at.slice(0, 10);
  return canonicalTarget(path, { cutoff, entity: tickers[0] ?? cik, form });
}

import { parseCutoff } from '../../compiler/contract/cutoff.ts';
import {
  canonicalForm,
  FILING_SOURCE_CLASS,
  type FilingFacts,
  formFamily,
  isAmendment,
  WELL_KNOWN_FORMS,
} from '../../compiler/contract/filing.ts';
import { type FilerLine, filerPath, filingPath } from '../../compiler/contract/filing-index.ts';
import { proposerMembers, resolveMembers } from '../../compiler/contract/resolve-answer.ts';
import { CANDIDATES_MAX } from '../../compiler/contract/resolve-bodies.ts';
import {
  type Settlement,
  type SettlementQuestion,
  settleFilings,
} from '../../compiler/contract/settle-filings.ts';
import { noCharge } from '../offer/no-charge.ts';
import { citationText } from '../release/citation-text.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import {
  type Answered,
  IS_THERE,
  jsonBytes,
  MISS,
  type Question,
  type Service,
} from '../service.ts';
import { filersOf, filingsOf, findFiler } from './filings.ts';

const NATURE =
  'The filing record at a cutoff; describes filings, never adjudicates the event; no forecast, no advice';
const PROPOSER = '/resolve/proposer';
const ITEM = /^\d{1,2}(\.\d{2})?$/;
/** The only forms that name items. */
const ITEM_FAMILIES = ['8-K', '8-K12B', '8-K12G3', '8-K15D5'];

interface Asked {
  readonly filer: FilerLine;
  readonly question: SettlementQuestion;
  readonly values: Question['route']['values'];
}

/** `/resolve` and `/resolve/proposer`: judged by the lists, delivered in the stored bytes that carry their citation. */
export async function resolve(question: Question, service: Service): Promise<Answered> {
  const { route } = question;
  const { release } = service;
  const illegal = illegalValue(route.values);
  if (illegal !== null) {
    const trouble = { miss: 'illegal_value', missing: [], ...illegal } as const;
    return { kind: 'reply', reply: noCharge({ ...route, trouble }, release) };
  }
  const asked = await askedOf(route.values, release);
  if (asked === null) return MISS;
  if (question.isProbe) return IS_THERE;
  const filings = await filingsOf(asked.filer.cik, release);
  const whole = settleFilings(filings, asked.filer, asked.question);
  const listed = whole.candidates.slice(0, CANDIDATES_MAX);
  // Judged again from what is delivered alone, so that whoever holds the body comes to the same answer.
  const settled = settleFilings(listed.length === 0 ? [] : listed, asked.filer, asked.question);
  const answer = { asked, settled, count: whole.candidates.length };
  const body =
    route.endpoint.path === PROPOSER
      ? await proposerBody(answer, release)
      : await resolveBody(answer, release);
  return jsonBytes(Buffer.from(body, 'utf8'), 0);
}

/** The first value that no answer can be about, before anything is looked up. */
function illegalValue(values: Question['route']['values']) {
  const { cutoff = '', event_class, form = '', market_or_event = '' } = values;
  if (parseCutoff(cutoff) === null) return { name: 'cutoff', value: cutoff };
  if (event_class !== undefined) {
    const named = ITEM_FAMILIES.includes(formFamily(canonicalForm(form)));
    if (!named || !ITEM.test(event_class)) return { name: 'event_class', value: event_class };
  }
  // JSON that our own verifier reads holds no NUL.
  if (market_or_event.includes('\0')) return { name: 'market_or_event', value: market_or_event };
  return null;
}

async function askedOf(
  values: Question['route']['values'],
  release: ReleaseIndex,
): Promise<Asked | null> {
  const cutoff = parseCutoff(values.cutoff ?? '');
  const filer = await findFiler(values.entity ?? '', release);
  const form = canonicalForm(values.form ?? '');
  if (cutoff === null || filer === undefined || !(await isForm(form, release))) return null;
  return { filer, values, question: { form, eventClass: values.event_class ?? null, cutoff } };
}

/** A form type that is stored of anybody, or one that everybody knows: nobody pays for a misspelt one. */
async function isForm(form: string, release: ReleaseIndex): Promise<boolean> {
  const { forms } = await filersOf(release);
  const family = formFamily(form);
  return WELL_KNOWN_FORMS.includes(family) || forms.has(isAmendment(form) ? `${family}/A` : family);
}

interface Answer {
  readonly asked: Asked;
  readonly settled: Settlement<FilingFacts>;
  /** Filings that belong to the answer, delivered or not. */
  readonly count: number;
}

/** What was asked, in the words it was asked in where the answer does not depend on them. */
function echo({ filer, question, values }: Asked): object {
  const { cutoff } = question;
  return {
    nature: NATURE,
    entity: values.entity,
    cik: filer.cik,
    entity_name: filer.name,
    form: question.form,
    event_class: question.eventClass,
    source_class: FILING_SOURCE_CLASS,
    market_or_event: values.market_or_event ?? null,
    cutoff: values.cutoff,
    cutoff_time: cutoff.at,
    cutoff_basis: cutoff.basis,
  };
}

async function resolveBody(answer: Answer, release: ReleaseIndex): Promise<string> {
  const { asked, settled, count } = answer;
  const { cik } = asked.filer;
  const rows = await Promise.all(
    settled.candidates.map((filing) => stored(filingPath(cik, filing), release)),
  );
  const coverage = await stored(filerPath(cik), release);
  const head = {
    ...echo(asked),
    ...resolveMembers(settled, asked.question),
    candidate_count: count,
  };
  return joined(head, [
    ['candidate_sources', `[${rows.join(',')}]`],
    ['coverage', coverage],
    ['_citation', citationText(rows[0] ?? coverage)],
  ]);
}

async function proposerBody({ asked, settled }: Answer, release: ReleaseIndex): Promise<string> {
  const { cik } = asked.filer;
  const { selected } = settled;
  const path = selected === null ? filerPath(cik) : filingPath(cik, selected);
  const evidence = await stored(path, release);
  const { answer, confidence, timestamp, note } = proposerMembers(settled, asked.question);
  const head = { ...echo(asked), answer, confidence, timestamp };
  const url = selected === null ? 'null' : memberText(evidence, 'evidence_url');
  return joined({ ...head }, [
    ['evidence_url', url],
    ['source_tier', JSON.stringify(selected?.source_tier ?? null)],
    ['note', JSON.stringify(note)],
    ['evidence', evidence],
    ['_citation', citationText(evidence)],
  ]);
}

async function stored(path: string, release: ReleaseIndex): Promise<string> {
  return (await release.body(path)).bytes.toString('utf8');
}

/** A JSON object of computed members and of stored texts behind them. */
function joined(head: object, texts: readonly (readonly [name: string, json: string])[]): string {
  const rest = texts.map(([name, json]) => `"${name}":${json}`);
  return `${JSON.stringify(head).slice(0, -1)},${rest.join(',')}}`;
}

/** The JSON text of a member of a stored filing that is a string or null; inside of another string its name has escapes. */
function memberText(body: string, name: string): string {
  return new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*"|null)`).exec(body)?.[1] ?? 'null';
}

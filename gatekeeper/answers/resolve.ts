import { parseCutoff } from '../../compiler/contract/cutoff.ts';
import {
  canonicalForm,
  FILING_SOURCE_CLASS,
  filingCore,
  formFamily,
  type HashedFiling,
  isAmendment,
  isEventClass,
  WELL_KNOWN_FORMS,
} from '../../compiler/contract/filing.ts';
import { type FilerLine, filerPath, filingPath } from '../../compiler/contract/filing-index.ts';
import { besideHashes, type ListStretch, listName } from '../../compiler/contract/filing-lists.ts';
import { settlingStretch } from '../../compiler/contract/list-stretch.ts';
import { proposerMembers, resolveMembers } from '../../compiler/contract/resolve-answer.ts';
import {
  CANDIDATES_MAX,
  LIST_FILINGS_MAX,
  SETTLEMENT_NATURE,
} from '../../compiler/contract/resolve-bodies.ts';
import { type SettlementQuestion, settleFilings } from '../../compiler/contract/settle-filings.ts';
import type { Settled } from '../../compiler/contract/settlement-note.ts';
import { noCharge } from '../offer/no-charge.ts';
import { citationText } from '../release/citation-text.ts';
import { sha256 } from '../release/log-files.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import {
  type Answered,
  IS_THERE,
  jsonBytes,
  MISS,
  type Question,
  type Service,
} from '../service.ts';
import { filersOf, findFiler, listsOf } from './filings.ts';

const PROPOSER = '/resolve/proposer';

interface Asked {
  readonly filer: FilerLine;
  readonly question: SettlementQuestion;
  readonly values: Question['route']['values'];
}

/**
 * `/resolve` and `/resolve/proposer`: settled from the stored lists, and delivered as the stored bytes with their
 * citation.
 */
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
  const answer = await settledOf(asked, release);
  if (answer === null) return MISS;
  if (question.isProbe) return IS_THERE;
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
    const isLegal = isEventClass(canonicalForm(form), event_class);
    if (!isLegal) return { name: 'event_class', value: event_class };
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

/** A form type that is stored for any filer, or a well-known one, so that nobody pays for a misspelt one. */
async function isForm(form: string, release: ReleaseIndex): Promise<boolean> {
  const { forms } = await filersOf(release);
  const family = formFamily(form);
  return WELL_KNOWN_FORMS.includes(family) || forms.has(isAmendment(form) ? `${family}/A` : family);
}

interface Answer {
  readonly asked: Asked;
  readonly settled: Settled<HashedFiling>;
  /** The list that the answer follows from, as it is delivered; null where nothing of the form is stored. */
  readonly list: object | null;
}

/**
 * Settled only from what is delivered, so that anyone who holds the body reaches the same answer; null if that would
 * not fit into one body.
 */
async function settledOf(asked: Asked, release: ReleaseIndex): Promise<Answer | null> {
  const { question, filer } = asked;
  const lists = await listsOf(filer.cik, release);
  const list = lists.find(listName(question.form, question.eventClass));
  const stretch = list === null ? null : settlingStretch(list, question);
  if (stretch !== null && stretch.filings.length > LIST_FILINGS_MAX) return null;
  const settlement = settleFilings(stretch?.filings.flat() ?? [], filer, question);
  const settled = { question, coverage: filer, settlement };
  if (list === null || stretch === null) return { asked, settled, list: null };
  const beside = besideHashes(list, stretch, sha256);
  return { asked, settled, list: { ...listed(stretch, filer.cik), beside } };
}

/** Every filing with its hash and the core that gives it. */
function listed({ index, filings }: ListStretch<HashedFiling>, cik: string): object {
  const row = (filing: HashedFiling) => ({
    record_hash: filing.record_hash,
    _hash_core: filingCore(cik, filing),
  });
  return { index, filings: filings.map((listings) => listings.map(row)) };
}

/** The question, with parameters that do not affect the answer echoed as they were sent. */
function echo({ filer, question, values }: Asked): object {
  const { cutoff } = question;
  return {
    nature: SETTLEMENT_NATURE,
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
  const { asked, settled, list } = answer;
  const { cik } = asked.filer;
  const given = settled.settlement.candidates.slice(0, CANDIDATES_MAX);
  const rows = await Promise.all(given.map((filing) => stored(filingPath(cik, filing), release)));
  const coverage = await stored(filerPath(cik), release);
  return joined({ ...echo(asked), ...resolveMembers(settled) }, [
    ['candidate_sources', `[${rows.join(',')}]`],
    ['list', JSON.stringify(list)],
    ['coverage', coverage],
    ['_citation', citationText(rows[0] ?? coverage)],
  ]);
}

async function proposerBody(answer: Answer, release: ReleaseIndex): Promise<string> {
  const { asked, settled, list } = answer;
  const { cik } = asked.filer;
  const { selected } = settled.settlement;
  const evidence = selected === null ? null : await stored(filingPath(cik, selected), release);
  const coverage = await stored(filerPath(cik), release);
  return joined({ ...echo(asked), ...proposerMembers(settled) }, [
    ['evidence', evidence ?? 'null'],
    ['list', JSON.stringify(list)],
    ['coverage', coverage],
    ['_citation', citationText(evidence ?? coverage)],
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

import { parseCutoff } from '../../compiler/contract/cutoff.ts';
import { defined } from '../../compiler/contract/defined.ts';
import {
  canonicalForm,
  filingCore,
  formFamily,
  type HashedFiling,
  isAmendment,
  isEventClass,
  WELL_KNOWN_FORMS,
} from '../../compiler/contract/filing.ts';
import { type FilerLine, filerPath, filingPath } from '../../compiler/contract/filing-index.ts';
import {
  besideHashes,
  type ListStretch,
  listName,
  type ProvenList,
} from '../../compiler/contract/filing-lists.ts';
import { settlingStretch } from '../../compiler/contract/list-stretch.ts';
import {
  type AskedAs,
  proposerAnswer,
  resolveAnswer,
} from '../../compiler/contract/resolve-answer.ts';
import { LIST_FILINGS_MAX } from '../../compiler/contract/resolve-bodies.ts';
import { type SettlementQuestion, settleFilings } from '../../compiler/contract/settle-filings.ts';
import type { Settled } from '../../compiler/contract/settlement-note.ts';
import { isLookalike } from '../../compiler/contract/settlement-question.ts';
import { type Answered, IS_THERE, MISS, type Question, type Service } from '../answers/service.ts';
import { noCharge } from '../offer/no-charge.ts';
import { citationText, sha256 } from '../release/read-body.ts';
import type { ReleaseIndex, ReleaseReader } from '../release/release-index.ts';
import { filersOf, findFiler, listsOf } from './filings.ts';
import { jsonBytes } from './json-content.ts';

const PROPOSER = '/resolve/proposer';

interface FilerQuestion {
  readonly filer: FilerLine;
  readonly question: SettlementQuestion;
  readonly values: Question['route']['values'];
}

/** `/resolve` and `/resolve/proposer`: settled from the stored lists. Computed, because the caller names the cutoff. */
export async function resolve(question: Question, service: Service): Promise<Answered> {
  const { route, spend } = question;
  const { release } = service;
  const reader = { release, spend };
  const illegal = illegalValue(route.values);
  if (illegal !== null) {
    const fault = { miss: 'illegal_value', missing: [], ...illegal } as const;
    return { kind: 'reply', reply: noCharge({ ...route, fault }, release) };
  }
  const asked = await askedOf(route.values, release);
  if (asked === null) return MISS;
  const found = await decidingPart(asked, reader);
  if (found === null) return MISS;
  if (question.isProbe) return IS_THERE;
  const answer = settledBy(found, asked);
  const isProposer = route.endpoint.path === PROPOSER;
  const answerOf = isProposer ? proposerAnswer : resolveAnswer;
  const { members, quoted } = answerOf(askedAs(asked), answer.settled);
  const { rows, coverage } = await storedParts(answer, quoted, reader);
  const body = joined(members, [
    isProposer ? ['evidence', rows[0] ?? 'null'] : ['candidate_sources', `[${rows.join(',')}]`],
    ['list', JSON.stringify(listed(answer))],
    ['coverage', coverage],
    ['_citation', citationText(rows[0] ?? coverage)],
  ]);
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
): Promise<FilerQuestion | null> {
  const cutoff = parseCutoff(defined(values.cutoff, 'the cutoff'));
  const filer = await findFiler(defined(values.entity, 'the filer'), release);
  const form = canonicalForm(defined(values.form, 'the form'));
  if (cutoff === null || filer === undefined) return null;
  // Stored for any filer, or well-known, so that nobody pays for a misspelt one.
  const { forms } = await filersOf(release);
  const family = formFamily(form);
  const isForm =
    WELL_KNOWN_FORMS.includes(family) || forms.has(isAmendment(form) ? `${family}/A` : family);
  if (!isForm) return null;
  return { filer, values, question: { form, eventClass: values.event_class ?? null, cutoff } };
}

/** The list that an answer follows from, and the stretch of it that is delivered. */
interface DecidingPart {
  readonly list: ProvenList<HashedFiling>;
  readonly stretch: ListStretch<HashedFiling>;
}

interface SettledAnswer {
  readonly asked: FilerQuestion;
  readonly settled: Settled<HashedFiling>;
  readonly found: DecidingPart | 'nothing stored';
}

/** What an answer follows from; null if that would not fit into one body. */
async function decidingPart(
  { question, filer }: FilerQuestion,
  reader: ReleaseReader,
): Promise<DecidingPart | 'nothing stored' | null> {
  const lists = await listsOf(filer.cik, reader);
  const list = lists.find(listName(question.form, question.eventClass));
  // Nobody pays for a misspelt form or item.
  if (list === null) return isLookalike(question, filer.forms) ? null : 'nothing stored';
  const stretch = settlingStretch(list, question);
  return stretch.filings.length > LIST_FILINGS_MAX ? null : { list, stretch };
}

/** Settled only from what is delivered, so that anyone who holds the body reaches the same answer. */
function settledBy(found: SettledAnswer['found'], asked: FilerQuestion): SettledAnswer {
  const { question, filer } = asked;
  const filings = found === 'nothing stored' ? [] : found.stretch.filings.flat();
  const settlement = settleFilings(filings, filer, question);
  return { asked, settled: { question, coverage: filer, settlement }, found };
}

/** The delivered stretch of the list: every filing with its hash and the core that gives it. */
function listed({ asked, found }: SettledAnswer): object | null {
  if (found === 'nothing stored') return null;
  const { cik } = asked.filer;
  const { list, stretch } = found;
  const { index, filings } = stretch;
  const row = (filing: HashedFiling) => ({
    record_hash: filing.record_hash,
    _hash_core: filingCore(cik, filing),
  });
  const beside = besideHashes(list, stretch, sha256);
  return { index, filings: filings.map((listings) => listings.map(row)), beside };
}

function askedAs({ filer, values }: FilerQuestion): AskedAs {
  return {
    entity: defined(values.entity, 'the filer'),
    cutoff: defined(values.cutoff, 'the cutoff'),
    market_or_event: values.market_or_event ?? null,
    cik: filer.cik,
    entity_name: filer.name,
  };
}

/** The stored texts of the filings that an answer quotes, and of what is stored of the filer. */
async function storedParts(
  { asked }: SettledAnswer,
  quoted: readonly HashedFiling[],
  reader: ReleaseReader,
): Promise<{ readonly rows: readonly string[]; readonly coverage: string }> {
  const { cik } = asked.filer;
  const rows = await Promise.all(quoted.map((filing) => stored(filingPath(cik, filing), reader)));
  return { rows, coverage: await stored(filerPath(cik), reader) };
}

async function stored(path: string, { release, spend }: ReleaseReader): Promise<string> {
  return (await release.body(path, spend)).bytes.toString('utf8');
}

/** A JSON object of computed members and of stored texts behind them. */
function joined(head: object, texts: readonly (readonly [name: string, json: string])[]): string {
  const rest = texts.map(([name, json]) => `"${name}":${json}`);
  return `${JSON.stringify(head).slice(0, -1)},${rest.join(',')}}`;
}

import { type Cutoff, parseCutoff } from '../../compiler/contract/cutoff.ts';
import { defined } from '../../compiler/contract/defined.ts';
import { canonicalForm, isEventClass } from '../../compiler/contract/filing.ts';
import {
  type IndexedInterval,
  LATER_FILE,
  restFile,
  type SettlementPath,
  settlementIndexPath,
  settlementPath,
} from '../../compiler/contract/filing-index.ts';
import { listName } from '../../compiler/contract/filing-lists.ts';
import { firstWhere } from '../../compiler/contract/lists.ts';
import { withEchoes } from '../../compiler/contract/settlement-echoes.ts';
import { cutoffOrder, endOfLook } from '../../compiler/contract/settlement-intervals.ts';
import { type Answered, IS_THERE, MISS, type Question, type Service } from '../answers/service.ts';
import { costOfParsing } from '../http/cost.ts';
import { noCharge } from '../offer/no-charge.ts';
import { findFiler, settlementIndex } from './filings.ts';
import { jsonContent } from './json-content.ts';

/**
 * `/resolve` and `/resolve/proposer`: the signed answer whose interval holds the cutoff, with what nobody signs of the request.
 * Computed, because the cutoff picks the file.
 */
export async function resolve(question: Question, service: Service): Promise<Answered> {
  const { route, spend } = question;
  const { release } = service;
  const { values } = route;
  const illegal = illegalValue(values);
  if (illegal !== null) {
    const fault = { miss: 'illegal_value', missing: [], ...illegal } as const;
    return { kind: 'reply', reply: noCharge({ ...route, fault }, release) };
  }
  const filer = await findFiler(defined(values.entity, 'the filer'), release);
  const cutoff = parseCutoff(defined(values.cutoff, 'the cutoff'));
  if (filer === undefined || cutoff === null) return MISS;
  const form = canonicalForm(defined(values.form, 'the form'));
  const name = listName(form, values.event_class ?? null);
  const operation = route.endpoint.path as SettlementPath;
  const placeOf = (file: string) => settlementPath(filer.cik, operation, file);
  const index = await settlementIndex(settlementIndexPath(filer.cik, name.form), {
    release,
    spend,
  });
  const list = index?.lists.find(({ event_class }) => event_class === name.event_class);
  const rest = restFile(name.form);
  // Nobody pays for a misspelt form.
  if (list === undefined && !release.has(placeOf(rest))) return MISS;
  if (question.isProbe) return IS_THERE;
  const isLater = cutoffOrder(cutoff, endOfLook(filer.collected_at, cutoff.basis)) >= 0;
  const file = isLater
    ? LATER_FILE
    : list === undefined
      ? rest
      : fileAt(list[cutoff.basis], cutoff);
  const { bytes } = await release.body(placeOf(file), spend);
  spend(costOfParsing(bytes.length));
  const echoes = { cutoff_time: cutoff.at, market_or_event: values.market_or_event ?? null };
  return jsonContent(withEchoes(JSON.parse(bytes.toString('utf8')), echoes), 0);
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

/** The answer whose interval holds a cutoff, which is not after the last. */
function fileAt(intervals: readonly IndexedInterval[], cutoff: Cutoff): string {
  // The first one that begins after the cutoff follows the one that holds it.
  const next = firstWhere(intervals.length, (at) => {
    const [from] = defined(intervals[at], 'an interval');
    return cutoffOrder(cutoff, from) < 0;
  });
  const [, , file] = defined(intervals[next - 1], 'the interval of the cutoff');
  return file;
}

// A settlement answer is signed for an interval of cutoffs. Which cutoff it was asked for nobody signs: a reader who names
// the request takes it from there, and everybody else is told the interval.

import type { Route } from '../catalog/route.ts';
import { citationSchema, citedTarget } from '../format/citation.ts';
import { parseCutoff } from '../format/cutoff.ts';
import { HOUR_MS, isoTime, utcTime } from '../format/iso-time.ts';
import { isSettlement, settlementEchoes } from '../format/settlement-echoes.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import { canonicalForm, cikOf } from '../products/shapes/filing.ts';
import { listName } from '../products/shapes/filing-lists.ts';
import {
  proposerBodySchema,
  resolveBodySchema,
  type SettlementScope,
  settlementTarget,
} from '../products/shapes/resolve-bodies.ts';
import { type BodyCheck, checkAt } from './body-check.ts';

type Answer = SettlementScope & JsonObject;

/** What must hold in a settlement answer whatever it was asked for; none of any other body. */
export function settlementChecks(body: JsonValue): BodyCheck[] {
  if (!isObject(body) || !isSettlement(body)) return [];
  const answer = body as Answer;
  const { valid_from, valid_until } = answer;
  const cited = citationSchema.safeParse(body._citation);
  const target = cited.success ? citedTarget(cited.data) : null;
  const [path = ''] = target?.split('?', 1) ?? [];
  const at = checkAt('consistency', '_citation.source.url');
  const isOwn = isScope(answer) && target === settlementTarget(path, answer);
  const echoed = settlementEchoes(body) ?? {};
  const names = Object.keys(echoed);
  const unsigned = checkAt('cover', names.join(', '));
  const span = `cutoffs from ${valid_from}${valid_until === null ? '' : `, before ${valid_until}`}`;
  return [
    isOwn ? at.pass('the request of its first cutoff') : at.fail('not the request of its members'),
    ...(names.length === 0
      ? []
      : [unsigned.notApplicable(`nobody signed what repeats the request; signed are ${span}`)]),
    ...echoChecks(answer, echoed),
  ];
}

/** An echo that contradicts the interval was moved there from another request. */
function echoChecks(answer: Answer, { cutoff_time }: Readonly<Record<string, unknown>>) {
  if (cutoff_time === undefined) return [];
  const at = checkAt('consistency', 'cutoff_time');
  const instant = typeof cutoff_time === 'string' ? utcTime(cutoff_time) : Number.NaN;
  // A day of New York ends in the first five hours of the next day in UTC.
  const day = Number.isNaN(instant) ? '' : isoTime(instant - 5 * HOUR_MS).slice(0, 10);
  const { basis, valid_from, valid_until } = answer;
  const isDay = basis === 'filing_date';
  const holds = isIn(isDay ? dayMs(day) : instant, valid_from, valid_until);
  return [holds ? at.pass('in the interval') : at.fail('not a cutoff that the answer holds for')];
}

function dayMs(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

function isIn(at: number, from: string, until: string | null): boolean {
  return Date.parse(from) <= at && (until === null || at < Date.parse(until));
}

const SHAPES: Readonly<Record<string, typeof resolveBodySchema | typeof proposerBodySchema>> = {
  '/resolve': resolveBodySchema,
  '/resolve/proposer': proposerBodySchema,
};

/** Whether the members that say what an answer is about are there, and agree on the kind of answer that it is. */
function isScope(answer: Answer): boolean {
  const { basis, valid_days, valid_from, valid_until, other_than, form, event_class } = answer;
  const isRange = valid_until === null || Date.parse(valid_from) < Date.parse(valid_until);
  if (basis !== null) {
    return (
      isRange && valid_days === null && other_than === null && form !== null && valid_until !== null
    );
  }
  return isRange && isObject(valid_days as unknown as JsonValue) && event_class === null;
}

/** Why a body does not answer a question about filings; null if it does. */
export function settlementFault({ endpoint, values }: Route, body: JsonValue): string | null {
  const parsed = SHAPES[endpoint.path]?.safeParse(body);
  if (parsed?.success !== true) return `the body is not an answer of "${endpoint.path}"`;
  const answer = parsed.data;
  const cutoff = parseCutoff(values.cutoff ?? '');
  if (cutoff === null) return 'the request names no cutoff';
  if (citedTarget(answer._citation) !== settlementTarget(endpoint.path, answer)) {
    return `the body is not signed as an answer of "${endpoint.path}"`;
  }
  const { entity, tickers, form, event_class, other_than } = answer;
  const filer = values.entity ?? '';
  if (cikOf(filer) !== entity && !tickers.includes(filer)) {
    return `the body answers entity "${entity}", not "${filer}"`;
  }
  const asked = listName(canonicalForm(values.form ?? ''), values.event_class ?? null);
  const isAnyForm = form === null;
  if (!isAnyForm && form !== asked.form)
    return `the body answers form "${form}", not "${asked.form}"`;
  const isItem =
    isAnyForm ||
    (answer.basis === null
      ? isAmongOthers(asked.event_class, other_than)
      : event_class === asked.event_class);
  if (!isItem)
    return `the body answers another event_class than ${JSON.stringify(asked.event_class)}`;
  return (
    boundsFault(answer, cutoff) ?? echoFault(answer, cutoff.at, values.market_or_event ?? null)
  );
}

/** Where nothing of a form is stored, its answer is about every item; else about those items that no filing names. */
function isAmongOthers(item: string | null, named: readonly string[] | null): boolean {
  return named === null || (item !== null && !named.includes(item));
}

function boundsFault(
  answer: SettlementScope,
  cutoff: NonNullable<ReturnType<typeof parseCutoff>>,
): string | null {
  const { basis, valid_from, valid_until, valid_days } = answer;
  const isDay = cutoff.basis === 'filing_date';
  if (basis !== null && basis !== cutoff.basis) return `the body answers cutoffs by ${basis}`;
  const bounds =
    basis === null && isDay && valid_days !== null
      ? valid_days
      : { from: valid_from, until: valid_until };
  const at = isDay ? dayMs(cutoff.date) : Date.parse(cutoff.at);
  if (isIn(at, bounds.from, bounds.until)) return null;
  const until = bounds.until === null ? '' : `, before ${bounds.until}`;
  return `the body answers cutoffs from ${bounds.from}${until}`;
}

function echoFault(
  { cutoff_time, market_or_event }: { cutoff_time: string; market_or_event: string | null },
  at: string,
  sent: string | null,
): string | null {
  if (cutoff_time !== at) return `the body answers cutoff_time "${cutoff_time}", not "${at}"`;
  if (market_or_event === sent) return null;
  const [got, want] = [market_or_event, sent].map((text) => JSON.stringify(text));
  return `the body answers market_or_event ${got}, not ${want}`;
}

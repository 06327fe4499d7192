// What a forgery may say without being a lie: whatever the service itself answers to some request at some moment.

import { canonicalJson } from '../../../compiler/contract/canonical.ts';
import { type JsonValue, parseJson } from '../../../compiler/contract/strict-json.ts';
import { type Open, valuesIn } from './forgery.ts';
import type { IsTrue } from './run-forgeries.ts';
import { type SettlementShop, targetOf } from './settlement-shop.ts';

const TENTH_MS = 360_000;
/** Moments within one tenth of an hour that are asked about. */
const STEP_MS = 15_000;
const QUESTION = ['entity', 'form', 'cutoff', 'event_class', 'market_or_event'];

/** A settlement answer is true where a release gives it to the question that it repeats, by whatever part of the list. */
export function isTrueSettlement({ genuine }: Pick<SettlementShop, 'genuine'>): IsTrue {
  return async (text, target, asked) => {
    const body = parseJson(text) as Open;
    const path = 'evidence' in body ? '/resolve/proposer' : '/resolve';
    const repeated = Object.fromEntries(QUESTION.map((name) => [name, body[name] || null]));
    const said = withoutList(body, asked);
    const bodies = await genuine(asked ? target : targetOf(path, repeated));
    return bodies.some((one) => withoutList(one, asked) === said) && isProofOf(body, bodies);
  };
}

/** Which neighbours prove an answer is no part of what it says. */
function withoutList({ list: _, ...body }: Open, asked: boolean): string {
  return withoutProof(asked ? body : { ...body, market_or_event: echoOf(body) });
}

/** Any text may stand there, says FORMAT.md: only who asked knows which. */
function echoOf({ market_or_event: echo = false }: Open): JsonValue {
  return typeof echo === 'string' ? null : echo;
}

function withoutProof({ _proof: _, ...body }: Open): string {
  return canonicalJson(body);
}

/** A body may lack its proof; one that it has is that of a genuine body. */
function isProofOf({ _proof }: Open, bodies: readonly Open[]): boolean {
  return _proof === undefined || bodies.some((one) => one._proof === _proof);
}

/** What a shop answers to a request at a moment, epoch milliseconds; null where it sells nothing. */
export type Ask = (target: string, now: number) => Promise<string | null>;

/** Any other answer is true where the shop gives it at some moment, for any look-back where it is a series. */
export function isTrueReading(ask: Ask, now: number): IsTrue {
  return async (text, target) => {
    const value = parseJson(text) as Open;
    const body = isWrapped(value) ? (value.sample as Open) : value;
    const said = withoutProof(body);
    const asked = withDays(target, body.days);
    for (const moment of [now, ...momentsOf(body)]) {
      const answer = await ask(asked, moment);
      const genuine = answer === null ? null : (parseJson(answer) as Open);
      if (genuine === null || withoutProof(genuine) !== said) continue;
      return isProofOf(body, [genuine]);
    }
    return false;
  };
}

function isWrapped(body: Open): boolean {
  return Object.keys(body).join() === 'sample';
}

function withDays(target: string, days: JsonValue | undefined): string {
  return typeof days === 'number' ? target.replace(/([?&]days=)\d+/, `$1${days}`) : target;
}

/** Moments at which the first age of a body is the one that it shows. */
function* momentsOf(body: Open): Generator<number> {
  for (const [, value] of valuesIn(body)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    const { age_hours_now: age, oldest_leg_as_of: from } = value as Open;
    if (typeof age !== 'number' || typeof from !== 'string') continue;
    const middle = Date.parse(from) + age * 10 * TENTH_MS;
    for (let at = -TENTH_MS / 2; at < TENTH_MS / 2; at += STEP_MS) yield middle + at;
    return;
  }
}

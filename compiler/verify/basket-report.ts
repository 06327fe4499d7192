import { type BasketBody, type BasketPart, isSoldPart, type SoldPart } from '../contract/basket.ts';
import { BUILTIN } from '../contract/catalog/builtin.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import { atomicAmount, usdAmount } from '../contract/price.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import { answerFault, questionOf } from './answer-fault.ts';
import { agreement, type BodyCheck, type BodyReport, checkAt } from './body-check.ts';

type Verdict = Exclude<BodyReport['verdict'], 'partly_verified'>;

/** How one answer is judged alone, and by what its request is read. */
interface PartJudge {
  readonly judge: (answer: JsonValue, request: string) => BodyReport;
  /** Of the publisher; without it the built-in one. */
  readonly catalog: Catalog | undefined;
}

/** The better of two verdicts stands further on. */
const FROM_WORST: readonly Verdict[] = ['failed', 'unsigned', 'issuer_unknown', 'verified'];

/**
 * Judges a basket by its answers, each as if it had come alone, and by whether each answers the request that it stands
 * under. Nobody signs the basket itself: that a request was not sold, and what was paid, is the word of who delivered it.
 */
export function basketReport(basket: BasketBody, by: PartJudge): BodyReport {
  const answers = basket.parts.map((part, at) => partReport(part, `parts[${at}]`, by));
  const sum = sumCheck(basket);
  const verdicts = answers.flatMap(({ verdict }) => verdict ?? []);
  const signers = new Set(answers.flatMap(({ issuer }) => issuer ?? []));
  const [issuer = null] = signers;
  const checks = [...answers.flatMap((one) => one.checks), sum, signerCheck(signers.size)];
  const isRefuted = checks.some(({ status }) => status === 'fail');
  const worst = FROM_WORST.find((verdict) => verdicts.includes(verdict)) ?? 'unsigned';
  return { verdict: isRefuted ? 'failed' : worst, issuer, checks };
}

/** The verdict is null for a request without an answer. */
type PartReport = Omit<BodyReport, 'verdict'> & { readonly verdict: Verdict | null };

function partReport(part: BasketPart, where: string, by: PartJudge): PartReport {
  if (!isSoldPart(part)) {
    const check = checkAt('cover', where).notApplicable(`not sold: ${part.not_sold}`);
    return { verdict: null, issuer: null, checks: [check] };
  }
  const { verdict, issuer, checks } = by.judge(part.answer as JsonValue, part.request);
  const inside = checks.map((one) => ({ ...one, where: placeIn(`${where}.answer`, one.where) }));
  const question = questionCheck(part, `${where}.request`, by.catalog);
  const isCompared = question.status !== 'not_applicable' || verdict === 'failed';
  const own = isCompared && verdict !== 'partly_verified' ? verdict : 'unsigned';
  return { verdict: own, issuer, checks: [...inside, question] };
}

function placeIn(holder: string, where: string): string {
  return where === '' ? holder : `${holder}.${where}`;
}

/** A true answer under another request's name is a lie too; a request that the catalogue lacks cannot be compared. */
function questionCheck(
  { request, answer }: SoldPart,
  where: string,
  catalog: Catalog = BUILTIN,
): BodyCheck {
  const at = checkAt('consistency', where);
  const question = questionOf(request, catalog);
  if (question === null) {
    return at.notApplicable('no operation of this catalogue; pass that of the publisher');
  }
  const fault = answerFault(question, answer as JsonValue, catalog);
  return fault === null ? at.pass('the answer is to this request') : at.fail(fault);
}

function sumCheck({ parts, total_usd }: BasketBody): BodyCheck {
  const prices = parts.flatMap((part) => (isSoldPart(part) ? [atomicAmount(part.price_usd)] : []));
  const sum = prices.reduce((total, price) => total + BigInt(price), 0n);
  return agreement('total_usd', total_usd === usdAmount(String(sum)), 'the sum of the prices');
}

function signerCheck(signers: number): BodyCheck {
  return agreement('parts', signers <= 1, 'signed by one issuer');
}

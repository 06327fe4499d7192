import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { defined } from '../../../compiler/contract/defined.ts';
import { atomicAmount, usdAmount } from '../../../compiler/contract/price.ts';
import { questionOf } from '../../../compiler/verify/answer-fault.ts';
import type { Delivery, Open } from '../forgeries/forgery.ts';
import type { ReaderCase } from './body-vector.ts';

/** Answers of one basket. */
const SIZE = 3;

interface Part {
  readonly request: string;
  readonly price_usd: string;
  readonly answer: Open;
}

interface Basket {
  readonly endpoint: string;
  readonly total_usd: string;
  readonly parts: readonly (Part | { readonly request: string; readonly not_sold: string })[];
}

/** Baskets of some bodies, and each way of forging one that we know. */
export function basketCases(bodies: readonly Delivery[]): ReaderCase[] {
  const cases: ReaderCase[] = [];
  for (let at = 0; at + SIZE <= bodies.length; at += SIZE) {
    const parts = bodies.slice(at, at + SIZE).map(partOf);
    for (const [about, want, made] of variants(parts)) {
      const text = JSON.stringify(made);
      cases.push({ class: 'basket', about: `${at / SIZE} ${about}`, text, want });
    }
  }
  return cases;
}

export function partOf({ target, body }: Delivery): Part {
  const asked = defined(questionOf(target, BUILTIN), target);
  return {
    request: asked.target,
    price_usd: defined(asked.endpoint.priceUsd, 'a price'),
    answer: body,
  };
}

const UNSOLD = { request: '/gauge?entity=nobody&signal_id=airquality.aqi', not_sold: 'no data' };

type Made = readonly [about: string, want: ReaderCase['want'], basket: object];

function variants(parts: readonly Part[]): Made[] {
  const partAt = (at: number): Part => defined(parts[at], 'a part');
  const [one, two, three] = [partAt(0), partAt(1), partAt(2)];
  // No basket: deeper inside of a body a proof is a member like any other, which nobody signed, and a settlement answer has
  // no content of its own.
  const isOdd = ({ answer }: Part): boolean =>
    answer._proof !== undefined || answer.coverage !== undefined;
  const other = parts.some(isOdd) ? 'failed' : 'unsigned';
  const genuine = basketOf([one, two, three]);
  return [
    ['genuine', 'verified', genuine],
    ['genuine, one not sold', 'verified', basketOf([one, UNSOLD, three])],
    ['of nothing', 'unsigned', basketOf([UNSOLD])],
    ['with another sum', 'failed', { ...genuine, total_usd: '99.00' }],
    ['with its sum in another spelling', other, { ...genuine, total_usd: `0${genuine.total_usd}` }],
    [
      'answers swapped',
      'failed',
      basketOf([
        { ...one, answer: two.answer },
        { ...two, answer: one.answer },
      ]),
    ],
    ['under the request of another', 'failed', basketOf([{ ...one, request: two.request }])],
    ['a part altered', 'failed', basketOf([one, { ...two, answer: { ...two.answer, x: 1 } }])],
    [
      'a part without its citation',
      'failed',
      basketOf([one, { ...two, answer: uncited(two.answer) }]),
    ],
    ['of another name', other, { ...genuine, endpoint: 'gauge/baskets' }],
    ['with a member more', other, { ...genuine, note: 'x' }],
    [
      'a part with a member more',
      isOdd(one) ? 'failed' : 'unsigned',
      basketOf([{ ...one, note: 'x' } as Part]),
    ],
    ['a request that is none', 'unsigned', basketOf([{ ...one, request: 'gauge' }])],
  ];
}

export function basketOf(parts: Basket['parts']): Basket {
  const sum = parts.reduce(
    (total, part) => total + ('answer' in part ? BigInt(atomicAmount(part.price_usd)) : 0n),
    0n,
  );
  return { endpoint: 'gauge/basket', total_usd: usdAmount(String(sum)), parts };
}

function uncited({ _citation, ...answer }: Open): Open {
  return answer;
}

import { missingBasis } from '../products.ts';
import type { SignalRow } from './catalog-file.ts';
import {
  HOLD_LATEST,
  PARTS_OF_LATEST,
  SIGNAL_PRODUCTS,
  type SignalProduct,
} from './signal-terms.ts';

/** What is wrong with one member of a signal. */
interface TermFault {
  readonly at: readonly PropertyKey[];
  readonly reason: string;
}

/** A product that a signal gives away or prices, with the member that says so. */
interface NamedProduct {
  readonly product: SignalProduct;
  readonly at: readonly PropertyKey[];
}

/** Whatever keeps a signal from being sold as it says; `priced` are the names that the catalogue has prices for. */
export function signalTermFaults(signal: SignalRow, priced: ReadonlySet<string>): TermFault[] {
  const free = (signal.free ?? []).map((product, at) => ({ product, at: ['free', at] }));
  const sold = Object.keys(signal.prices ?? {}).map((name) => {
    return { product: name as SignalProduct, at: ['prices', name] };
  });
  return [
    ...free.flatMap((named, index) => faultOf(named, freeReason(named.product, index, signal))),
    ...sold.flatMap((named) => faultOf(named, priceReason(named.product, signal.free ?? []))),
    ...[...free, ...sold].flatMap((named) => faultOf(named, absentReason(named, signal, priced))),
  ];
}

function faultOf({ at }: NamedProduct, reason: string | null): TermFault[] {
  return reason === null ? [] : [{ at, reason }];
}

function freeReason(product: SignalProduct, index: number, { free = [] }: SignalRow) {
  if (free.indexOf(product) !== index) return `a second "${product}"; remove it`;
  if (!HOLD_LATEST.includes(product) || free.includes('latest')) return null;
  return `"${product}" holds the latest readings, which are sold; add "latest", or remove it`;
}

function priceReason(product: SignalProduct, free: readonly SignalProduct[]): string | null {
  if (free.includes(product)) return `"${product}" is free too; remove one of both`;
  if (!PARTS_OF_LATEST.includes(product) || !free.includes('latest')) return null;
  return `"${product}" repeats a part of the latest record, which is free; remove its price`;
}

/** A product that the signal never has, or that the shop does not sell of any signal. */
function absentReason(
  { product }: NamedProduct,
  signal: SignalRow,
  priced: ReadonlySet<string>,
): string | null {
  const path = SIGNAL_PRODUCTS[product];
  const lack = missingBasis({ path }, signal);
  if (lack !== null) return `there is no "${product}": the signal ${lack}; remove it`;
  if (priced.has(path)) return null;
  return `"${path}" is not sold of any signal; add its price to the "prices" of the catalogue`;
}

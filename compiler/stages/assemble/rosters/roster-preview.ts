import type { Catalog } from '../../../contract/catalog/catalog.ts';
import {
  type CapturedCollection,
  type ListedCollection,
  rosterCoreFields,
} from '../../../contract/collections.ts';
import { defined } from '../../../contract/defined.ts';
import { endpointAt, type TablePath } from '../../../contract/endpoints.ts';
import { preferredValue } from '../../../contract/path.ts';
import { canonicalTarget } from '../../../contract/route.ts';
import { NATURE } from '../../../contract/words.ts';
import type { Press } from '../../publish/press.ts';

/** Legal values that a preview lists; the answer of the operation itself tells about the others. */
const PREVIEW_VALUES_MAX = 500;

type PreviewOf = ListedCollection & Partial<Pick<CapturedCollection, 'subject'>>;

/** What a preview says whatever it is about: what is stored, what an answer costs, what a row's hash covers. */
export function previewHead({ asOf, catalog }: Press, of: PreviewOf, counts: object) {
  const paths = [
    ...(of.subject === undefined ? [] : [of.subject.path]),
    ...of.lists.map(({ path }) => path),
  ];
  const hash_core = rosterCoreFields(of.id);
  const prices = paths.flatMap((path) => pricesAt(path, catalog));
  return { nature: NATURE, as_of: asOf, counts, prices, hash_core };
}

/** The price of an operation and what it is asked by; none where it is not offered. */
function pricesAt(path: TablePath, { operationByPath }: Catalog) {
  const operation = operationByPath.get(path);
  if (operation === undefined) return [];
  const { priceUsd, params } = operation;
  const [parameter = null] = Object.keys(params).filter((name) => params[name]?.required);
  return [{ path, price_usd: priceUsd ?? '0', parameter }];
}

/** The legal values of an operation, with a request that one of them answers. */
export function previewValues(path: TablePath, values: readonly string[]) {
  const [first] = Object.entries(endpointAt(path).params);
  const [name, param] = defined(first, 'a parameter of the operation');
  const example = preferredValue(param.examples ?? [], values);
  return {
    example_request: example === null ? null : canonicalTarget(path, { [name]: example }),
    values: values.slice(0, PREVIEW_VALUES_MAX),
    values_total: values.length,
  };
}

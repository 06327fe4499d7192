import { canonicalTarget } from '../../../contract/canonical-request.ts';
import { defined } from '../../../contract/defined.ts';
import { type EndpointPath, endpointAt } from '../../../contract/endpoints.ts';
import { preferredValue } from '../../../contract/path.ts';
import { type RosterKind, rosterCoreFields } from '../../../contract/roster-core.ts';
import { NATURE } from '../../../contract/words.ts';
import type { Press } from '../../publish/press.ts';

/** Legal values that a preview lists; the answer of the operation itself tells about the others. */
export const PREVIEW_VALUES_MAX = 500;

interface Previewed {
  readonly kind: RosterKind;
  readonly counts: object;
  /** The paid operations that the preview is about. */
  readonly paths: readonly EndpointPath[];
}

/** Writes the preview of what one operation answers by the values of its parameter. */
export function putPreview(
  press: Press,
  path: EndpointPath,
  { values, ...of }: Previewed & { readonly values: readonly string[] },
): void {
  const [operation = path] = of.paths;
  press.put(path, {}, { ...previewHead(press, of), ...previewValues(operation, values) });
}

/** What a preview says whatever it is about: what is stored, what an answer costs, what a row's hash covers. */
export function previewHead({ asOf }: Press, { kind, counts, paths }: Previewed) {
  const hash_core = rosterCoreFields(kind);
  return { nature: NATURE, as_of: asOf, counts, prices: paths.map(priceOf), hash_core };
}

function priceOf(path: EndpointPath) {
  const { priceUsd, params } = endpointAt(path);
  const [parameter = null] = Object.keys(params).filter((name) => params[name]?.required);
  return { path, price_usd: priceUsd ?? '0', parameter };
}

/** The legal values of an operation, with a request that one of them answers. */
export function previewValues(path: EndpointPath, values: readonly string[]) {
  const [first] = Object.entries(endpointAt(path).params);
  const [name, param] = defined(first, 'a parameter of the operation');
  const example = preferredValue(param.examples ?? [], values);
  return {
    example_request: example === null ? null : canonicalTarget(path, { [name]: example }),
    values: values.slice(0, PREVIEW_VALUES_MAX),
    values_total: values.length,
  };
}

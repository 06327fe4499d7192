import type { Route, RouteFault } from '../../../compiler/catalog/route.ts';
import { isDocument } from '../../../compiler/products/documents.ts';
import { endpointAt } from '../../../compiler/products/products.ts';
import { type Name, namesOf, nearestIn } from '../../../compiler/products/shapes/nearest.ts';
import type { Values } from '../../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { missingBasis, stockLack } from '../../../compiler/products/signal-products.ts';
import { jsonReply, type Reply } from '../../wire/reply.ts';
import { perRelease } from '../release/per-release.ts';
import { type ReleaseIndex, requestFile } from '../release/release-index.ts';
import {
  CATALOG_REQUEST,
  exampleRequest,
  freeRequest,
  previewOf,
  sellsNow,
  slotsOf,
  usageOf,
} from './example-request.ts';

const SHOWN_CHARS_MAX = 60;

/**
 * The 422 of a request that has no answer: what is wrong, and a free request that lists or finds what was asked. An example
 * that works on this very release stands apart, since it may be about somebody else. Computed, because the caller names the
 * values.
 */
export function noCharge(route: Route, release: ReleaseIndex): Reply {
  const { endpoint, fault, values } = route;
  // Nothing stored for a whole row, for a key-gated line or for a document; else nothing for these values.
  const isEmpty =
    isDocument(endpoint) ||
    !sellsNow(endpoint, release) ||
    isUnkeyed(values.signal_id ?? '', release);
  const miss = fault?.miss ?? (isEmpty ? 'empty_line' : 'no_data');
  // An example starts from the values, a misspelt one of them put right.
  const legal = endpoint.params[fault?.name ?? '']?.enum ?? [];
  const near =
    fault === null || fault.value === '' ? null : nearestLegal(fault.value, legal, release);
  const wanted = fault === null || near === null ? values : { ...values, [fault.name]: near };
  const found = exampleRequest(endpoint, wanted, release);
  const missing = fault?.missing ?? [];
  return jsonReply(422, {
    error: `Not charged. Try GET ${freeRequest(route, release)} - ${reason(route, { miss, found }, release)}`,
    no_charge: true,
    miss,
    ...(missing.length === 0 ? {} : { missing_params: missing }),
    usage: usageOf(endpoint),
    example_request: found ?? CATALOG_REQUEST,
    preview: previewOf(endpoint, values, release),
  });
}

/** A signal whose line waits for the operator's data key: not one entity of it is stored. */
function isUnkeyed(signalId: string, release: ReleaseIndex): boolean {
  if (release.catalog.entryById.get(signalId)?.line.emptyUntilKeyed !== true) return false;
  return release.files.pathsUnder(`record/${signalId}/`, 1).length === 0;
}

function reason(
  { endpoint, values, fault }: Route,
  { miss, found }: { miss: string; found: string | null },
  release: ReleaseIndex,
): string {
  if (fault !== null) return faultText(endpoint, fault, release);
  const { signal_id: signalId = '' } = values;
  if (miss === 'empty_line' && isUnkeyed(signalId, release)) {
    return `${signalId} has no data until the operator gets a data key for its source; the free catalog lists what is stored`;
  }
  const lack = missingProduct(endpoint, values, release);
  if (lack !== null) return lack;
  if (miss === 'empty_line' && found === null) {
    return `nothing is stored for ${endpoint.path} at present; the free catalog lists what is`;
  }
  const given = Object.entries(values).map(([name, value]) => `${name} ${shown(value)}`);
  if (isDocument(endpoint)) return `no document is stored for ${given.join(' and ')}`;
  return `no data is stored for ${given.join(' and ')}; legal values are listed free`;
}

/** Why an add-on has no answer for a stored reading; null if that is not the reason. */
function missingProduct(endpoint: Endpoint, values: Values, release: ReleaseIndex): string | null {
  const { signal_id: signalId = '', entity = '' } = values;
  const sold = `/gauge/catalog?signal_id=${encodeURIComponent(signalId)} lists what you can buy for it`;
  const never = missingBasis(endpoint, release.catalog.entryById.get(signalId)?.signal);
  if (never !== null) return `${signalId} ${never}; ${sold}`;
  const hasRuler = release.has(requestFile(endpointAt('/gauge/ruler'), values));
  const lack = stockLack(endpoint, hasRuler);
  const isRead = lack !== null && release.has(requestFile(endpointAt('/gauge'), values));
  return isRead ? `${lack} for ${signalId} at ${shown(entity)}; ${sold}` : null;
}

/** Lists of legal values of the catalogue, as they are compared. */
const legalNames = perRelease(() => new Map<readonly string[], readonly Name[]>());

function nearestLegal(
  value: string,
  legal: readonly string[],
  release: ReleaseIndex,
): string | null {
  const lists = legalNames(release);
  const names = lists.get(legal) ?? namesOf(legal);
  if (legal.length > 0) lists.set(legal, names);
  return nearestIn(value, names).option;
}

function faultText(endpoint: Endpoint, fault: RouteFault, release: ReleaseIndex): string {
  const { name, value, missing } = fault;
  if (fault.miss === 'missing_parameter') {
    return `required parameter missing: ${missing.join(', ')}`;
  }
  const param = endpoint.params[name];
  // Nobody can tell by the spelling whether a name that is near means the same place or company.
  const isSubject = slotsOf(endpoint).includes(name);
  const near = isSubject ? null : nearestLegal(value, param?.enum ?? [], release);
  const hint = near === null ? '' : `; did you mean "${near}"?`;
  const state = fault.miss === 'no_data' ? 'has no data' : 'is not legal';
  const { enum: legal = [], min = 0, max } = param ?? {};
  let range = param?.description ?? 'another value';
  if (param?.type === 'integer') {
    range = `an integer from ${min}${max === undefined ? '' : ` to ${max}`}`;
  } else if (legal.length > 0) {
    range = `one of ${legal.slice(0, 8).join(', ')}${legal.length > 8 ? ', …' : ''}`;
  }
  return `${name} ${shown(value)} ${state}: ${fault.legal ?? range}${hint}`;
}

/** A stranger's text as an error repeats it. */
export function shown(value: string): string {
  return JSON.stringify(
    value.length > SHOWN_CHARS_MAX ? `${value.slice(0, SHOWN_CHARS_MAX)}…` : value,
  );
}

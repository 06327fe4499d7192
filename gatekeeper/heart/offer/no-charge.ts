import type { Route, RouteFault } from '../../../compiler/catalog/route.ts';
import { isDocument } from '../../../compiler/products/documents.ts';
import { type EndpointPath, endpointAt } from '../../../compiler/products/products.ts';
import { type Name, namesOf, nearestIn } from '../../../compiler/products/shapes/nearest.ts';
import { canonicalTarget, type Values } from '../../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { missingBasis, stockLack } from '../../../compiler/products/signal-products.ts';
import { jsonReply, type Reply } from '../../wire/reply.ts';
import { askedFor, sellsNow, slotsOf } from '../release/offered.ts';
import { perRelease, type ReleaseIndex, requestFile } from '../release/release-index.ts';
import { resolveWithin } from '../words/resolve-words.ts';
import {
  CATALOG_REQUEST,
  exampleRequest,
  freeRequest,
  previewOf,
  usageOf,
} from './example-request.ts';

const SHOWN_CHARS_MAX = 60;

/**
 * The 422 of a request that has no answer: what is wrong, and the request for whom or what was asked where its name leads to
 * one; else a free request that lists or finds it. An example that works on this very release stands apart, and says so where
 * it is about somebody else. Computed, because the caller names the values.
 */
export async function noCharge(route: Route, release: ReleaseIndex): Promise<Reply> {
  const { endpoint, fault, values } = route;
  // Nothing stored for a whole row, for a key-gated line or for a document; else nothing for these values.
  const isEmpty =
    isDocument(endpoint) ||
    !sellsNow(endpoint, release) ||
    isUnkeyed(values.signal_id ?? '', release);
  const miss = fault?.miss ?? (isEmpty ? 'empty_line' : 'no_data');
  const subject = subjectOf(route);
  const meant = subject === null ? null : await resolveWithin(subject, { row: endpoint, release });
  const example =
    meant === null ? exampleRequest(endpoint, wantedOf(route, release), release) : null;
  const found =
    meant === null
      ? example
      : canonicalTarget(endpoint.path as EndpointPath, askedFor(endpoint, meant, release));
  const missing = fault?.missing ?? [];
  const isShown = meant !== null && found !== null && found.length <= SHOWN_REQUEST_CHARS_MAX;
  const told =
    isShown && subject !== null
      ? `${found} - ${shown(subject.said)} is ${shown(meant[subject.slot] ?? '')} here`
      : `${freeRequest(route, release)} - ${reason(route, { miss, found }, release)}`;
  return jsonReply(422, {
    error: `Not charged. Try GET ${told}`,
    no_charge: true,
    miss,
    ...(missing.length === 0 ? {} : { missing_params: missing }),
    usage: usageOf(endpoint),
    example_request: found ?? CATALOG_REQUEST,
    ...(example !== null && isOfAnother(example, route)
      ? { example_is_of_another_subject: true }
      : {}),
    preview: previewOf(endpoint, values, release),
  });
}

/** Longest request that an error shows: clients cut an error at 200 characters. */
const SHOWN_REQUEST_CHARS_MAX = 150;

/** Whom a request names that has no answer for them; the signal is right, or it has none. */
type AskedValues = Pick<Route, 'endpoint' | 'values' | 'fault'>;

function subjectOf({ endpoint, fault, values }: AskedValues) {
  const slot = slotsOf(endpoint).findLast((one) => one !== 'signal_id');
  if (slot === undefined || fault?.miss === 'missing_parameter' || fault?.legal !== undefined)
    return null;
  const said = fault === null ? values[slot] : fault.name === slot ? fault.value : undefined;
  return said === undefined || said === '' ? null : { slot, said, values };
}

/** An example starts from the values, an option that is misspelt put right. */
function wantedOf({ endpoint, fault, values }: Route, release: ReleaseIndex): Values {
  if (fault === null || fault.value === '') return values;
  const legal = endpoint.params[fault.name]?.enum ?? [];
  const near = slotsOf(endpoint).includes(fault.name)
    ? null
    : nearestLegal(fault.value, legal, release);
  return near === null ? values : { ...values, [fault.name]: near };
}

/** Whether an example names somebody or something else than the request did. */
function isOfAnother(example: string, { endpoint, fault, values }: Route): boolean {
  const { searchParams } = new URL(example, 'http://release');
  const given = fault === null ? values : { ...values, [fault.name]: fault.value };
  return slotsOf(endpoint).some((slot) => {
    return given[slot] !== undefined && given[slot] !== searchParams.get(slot);
  });
}

/** A signal whose line waits for the operator's data key: not one entity of it is stored. */
function isUnkeyed(signalId: string, release: ReleaseIndex): boolean {
  if (release.catalog.entryById.get(signalId)?.line.emptyUntilKeyed !== true) return false;
  return release.files.pathsUnder(`record/${signalId}/`, 1).length === 0;
}

function reason(
  { endpoint, values, fault }: AskedValues,
  { miss, found }: { miss: string; found: string | null },
  release: ReleaseIndex,
): string {
  if (fault !== null) return faultText({ endpoint, values, fault }, fault, release);
  const { signal_id: signalId = '' } = values;
  if (miss === 'empty_line' && isUnkeyed(signalId, release)) {
    return `${signalId} has no data until the operator gets a data key for its source; the free catalog lists what is stored`;
  }
  const lack = missingProduct(endpoint, values, release);
  if (lack !== null) return lack;
  if (miss === 'empty_line' && found === null) {
    return `nothing is stored for ${endpoint.path} at present; the free catalog lists what is`;
  }
  const unsold = unmeasured({ endpoint, values, fault }, release);
  if (unsold !== null) return unsold;
  const given = Object.entries(values).map(([name, value]) => `${name} ${shown(value)}`);
  if (isDocument(endpoint)) return `no document is stored for ${given.join(' and ')}`;
  return `no data is stored for ${given.join(' and ')}; legal values are listed free`;
}

/** That a signal is not measured for whom was asked, and for how many it is; null where that is not what is wrong. */
function unmeasured(route: AskedValues, release: ReleaseIndex): string | null {
  const subject = subjectOf(route);
  const { signal_id: signalId = '' } = route.values;
  if (subject === null || !release.catalog.entryById.has(signalId)) return null;
  const count = release.files.namesUnder(`record/${signalId}/`, COUNTED_MAX).length;
  if (count === 0) return null;
  const measured = `${count === COUNTED_MAX ? `${count} and more` : count} ${count === 1 ? 'is' : 'are'}`;
  return `${shown(subject.said)} is not measured for ${signalId}; ${measured}`;
}

const COUNTED_MAX = 1000;

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

function faultText(route: AskedValues, fault: RouteFault, release: ReleaseIndex): string {
  const { endpoint } = route;
  const { name, value, missing } = fault;
  if (fault.miss === 'missing_parameter') {
    return `required parameter missing: ${missing.join(', ')}`;
  }
  const unsold = unmeasured(route, release);
  if (unsold !== null) return unsold;
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

import type { Route } from '../../../compiler/catalog/route.ts';
import { SEARCH_OPERATION } from '../../../compiler/catalog/tools.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { isDocument } from '../../../compiler/products/documents.ts';
import {
  canonicalTarget,
  encodeSegment,
  parseFilePath,
  type Values,
} from '../../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { askedFor, sellsNow, slotsOf } from '../release/offered.ts';
import type { ReleaseIndex } from '../release/release-index.ts';

/** Always answers 200 and lists what is stored. */
export const CATALOG_REQUEST = '/gauge/catalog';

/** Longest free request that an error shows: clients cut an error at 200 characters. */
const FREE_CHARS_MAX = 170;

const SLOT = /\{([a-z_]+)\}/;

/**
 * A request of this row that has an answer, as close to the given values as the data allows; null if the row has no
 * data.
 */
export function exampleRequest(
  endpoint: Endpoint,
  given: Values,
  release: ReleaseIndex,
): string | null {
  const near = nearRequest(endpoint, given, release);
  if (near !== null) return near;
  return sellsNow(endpoint, release) ? (release.offers.get(endpoint.path)?.request ?? null) : null;
}

/** A request that a stored file answers for as many of the given values as lead to one; null where none of them does. */
function nearRequest(endpoint: Endpoint, given: Values, release: ReleaseIndex): string | null {
  if (endpoint.file === undefined) return null;
  const { prefix, found } = knownPrefix(endpoint.file, given, release);
  const values = found === 0 ? null : firstRequest(endpoint, prefix, release);
  if (values === null) return null;
  const all = askedFor(endpoint, values, release);
  const name = /\/:([a-z_]+)$/.exec(endpoint.path)?.[1];
  if (name === undefined) return canonicalTarget(endpoint.path, all);
  return endpoint.path.replace(`:${name}`, defined(all[name], `the value of ${name}`));
}

/** Files of another row below a prefix, which the first one of this row stands behind at most. */
const FOREIGN_FILES_MAX = 10;

/** The values of the first file of a row below a prefix; null when there is none. */
function firstRequest(endpoint: Endpoint, prefix: string, release: ReleaseIndex): Values | null {
  for (const path of release.files.pathsUnder(prefix, FOREIGN_FILES_MAX)) {
    const values = parseFilePath(endpoint, path);
    if (values !== null) return values;
  }
  return null;
}

/** How far the given values lead into the stored files, and how many of them do. */
function knownPrefix(
  template: string,
  given: Values,
  release: ReleaseIndex,
): { readonly prefix: string; readonly found: number } {
  let prefix = '';
  let rest = template;
  let found = 0;
  for (let slot = SLOT.exec(rest); slot !== null; slot = SLOT.exec(rest)) {
    const [text, name = ''] = slot;
    const before = prefix + rest.slice(0, slot.index);
    const after = rest.slice(slot.index + text.length);
    const literal = after.slice(0, after.search(/\{|$/));
    let value: string | null = null;
    try {
      if (given[name] !== undefined) value = encodeSegment(given[name]);
    } catch {
      // It cannot be spelt as part of a path.
    }
    if (value === null || release.files.pathsUnder(before + value + literal, 1).length === 0) {
      return { prefix: before, found };
    }
    prefix = before + value;
    found += 1;
    rest = after;
  }
  return { prefix: prefix + rest, found };
}

/** How a row is called, with `<value>` in place of each required parameter. */
export function usageOf(endpoint: Endpoint): string {
  const required = Object.entries(endpoint.params).filter(([, param]) => param.required);
  if (required.length === 0 || endpoint.path.includes('/:')) return endpoint.path;
  return `${endpoint.path}?${required.map(([name]) => `${name}=<value>`).join('&')}`;
}

/** The free request that lists legal values of a row, of the signal that is asked for where there is one. */
export function previewOf(endpoint: Endpoint, values: Values, release: ReleaseIndex): string {
  if (isDocument(endpoint)) return '/gauge/preview';
  const { signal_id = '' } = values;
  if (endpoint.params.signal_id !== undefined || endpoint.token) {
    const isKnown = release.catalog.entryById.has(signal_id);
    return canonicalTarget(CATALOG_REQUEST, isKnown ? { signal_id } : {});
  }
  const family = `/${defined(endpoint.path.split('/')[1], 'the family of a path')}/preview`;
  for (const path of [`${endpoint.path}/preview`, family]) {
    const row = release.catalog.operationByPath.get(path);
    if (row?.file !== undefined && release.has(row.file)) return path;
  }
  return '/gauge/preview';
}

/**
 * The free request of an error: it lists the legal values of what was asked, or searches for its name. It names nobody
 * else: whoever asked about Boston is not sent to Houston.
 */
export function freeRequest(route: Route, release: ReleaseIndex): string {
  const { endpoint, fault } = route;
  const values = fault === null ? route.values : { ...route.values, [fault.name]: fault.value };
  const list = previewOf(endpoint, values, release);
  const found = withoutFault(route, release) ?? searchFor(endpoint, values, { list, release });
  return found !== null && found.length <= FREE_CHARS_MAX ? found : list;
}

/** A free request without the option that is wrong. */
function withoutFault({ endpoint, values, fault }: Route, release: ReleaseIndex): string | null {
  const { params, path, priceUsd, token } = endpoint;
  if (fault?.miss !== 'illegal_value' || params[fault.name]?.required === true) return null;
  if (priceUsd !== null || token || !sellsNow(endpoint, release)) return null;
  const required = Object.entries(values).filter(([name]) => params[name]?.required === true);
  return canonicalTarget(path, Object.fromEntries(required));
}

/** The search for whom or what a request names, in its family's own list where that takes words; null where none is. */
function searchFor(
  endpoint: Endpoint,
  values: Values,
  { list, release }: { readonly list: string; readonly release: ReleaseIndex },
): string | null {
  const names = slotsOf(endpoint).flatMap((slot) => values[slot] || []);
  const q = names.at(-1);
  // The list of a signal has all of its names.
  if (q === undefined || list.includes('?') || isDocument(endpoint)) return null;
  const path = list.startsWith('/gauge/') ? SEARCH_OPERATION : list;
  const row = release.catalog.operationByPath.get(path);
  return row?.params.q !== undefined && sellsNow(row, release)
    ? canonicalTarget(path, { q })
    : null;
}

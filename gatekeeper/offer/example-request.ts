import { canonicalTarget } from '../../compiler/contract/canonical-request.ts';
import { isDocument } from '../../compiler/contract/document-bodies.ts';
import { type Endpoint, findEndpoint } from '../../compiler/contract/endpoints.ts';
import { nearest } from '../../compiler/contract/nearest.ts';
import { encodeSegment, parseFilePath, type Values } from '../../compiler/contract/path.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { computedRequest } from './computed-request.ts';
import type { RequestExamples } from './offer.ts';

/** Stored files that one suggestion looks at. */
export const CANDIDATES_MAX = 1000;
/** Always answers 200 and lists what is stored. */
export const CATALOG_REQUEST = '/gauge/catalog';

const SLOT = /\{([a-z_]+)\}/;

/** A request of this row that a stored file answers, as close to the given values as there is; null when the row has nothing. */
export function storedRequest(
  endpoint: Endpoint,
  given: Values,
  release: ReleaseIndex,
): string | null {
  if (endpoint.file === undefined) return computedRequest(endpoint, given, release);
  const { prefix, open } = knownPrefix(endpoint.file, given, release);
  const candidates = release
    .pathsUnder(prefix, CANDIDATES_MAX)
    .map((path) => parseFilePath(endpoint, path))
    .filter((values) => values !== null);
  const wanted = open === null ? undefined : given[open];
  const values = closest(candidates, open, wanted) ?? candidates[0];
  return values === undefined ? null : requestOf(endpoint, values);
}

/** Requests that a release answers, each as close to the examples of the table as there is data; found once. */
export function requestExamples(release: ReleaseIndex): RequestExamples {
  const found = new Map<string, string | null>();
  return (endpoint) => {
    const known = found.get(endpoint.path);
    if (known !== undefined) return known;
    const example = storedRequest(endpoint, tableExample(endpoint), release);
    found.set(endpoint.path, example);
    return example;
  };
}

function tableExample({ params }: Endpoint): Values {
  const required = Object.entries(params).filter(([, param]) => param.required);
  return Object.fromEntries(required.map(([name, param]) => [name, param.examples[0] ?? '']));
}

/** How far the given values lead into the stored files, and the first parameter that leads nowhere. */
function knownPrefix(
  template: string,
  given: Values,
  release: ReleaseIndex,
): { prefix: string; open: string | null } {
  let prefix = '';
  let rest = template;
  for (let slot = SLOT.exec(rest); slot !== null; slot = SLOT.exec(rest)) {
    const [text, name = ''] = slot;
    const before = prefix + rest.slice(0, slot.index);
    const after = rest.slice(slot.index + text.length);
    const literal = after.slice(0, after.search(/\{|$/));
    const value = segmentOf(given[name]);
    if (value === null || release.pathsUnder(before + value + literal, 1).length === 0) {
      return { prefix: before, open: name };
    }
    prefix = before + value;
    rest = after;
  }
  return { prefix: prefix + rest, open: null };
}

function segmentOf(value: string | undefined): string | null {
  try {
    return value === undefined ? null : encodeSegment(value);
  } catch {
    return null;
  }
}

function closest(
  candidates: readonly Values[],
  name: string | null,
  wanted: string | undefined,
): Values | undefined {
  if (name === null || wanted === undefined) return undefined;
  const best = nearest(
    wanted,
    candidates.map((values) => values[name] ?? ''),
  );
  return best === null ? undefined : candidates.find((values) => values[name] === best);
}

function requestOf(endpoint: Endpoint, values: Values): string {
  const name = /\/:([a-z_]+)$/.exec(endpoint.path)?.[1];
  if (name === undefined) return canonicalTarget(endpoint.path, values);
  return endpoint.path.replace(`:${name}`, values[name] ?? '');
}

/** How a row is called, with `<value>` in place of each required parameter. */
export function usageOf(endpoint: Endpoint): string {
  const required = Object.entries(endpoint.params).filter(([, param]) => param.required);
  if (required.length === 0 || endpoint.path.includes('/:')) return endpoint.path;
  return `${endpoint.path}?${required.map(([name]) => `${name}=<value>`).join('&')}`;
}

/** The free request that lists legal values of a row. */
export function previewOf(endpoint: Endpoint, values: Values, release: ReleaseIndex): string {
  if (isDocument(endpoint)) return '/gauge/preview';
  const signalId = values.signal_id;
  if (endpoint.params.signal_id !== undefined) {
    return canonicalTarget(CATALOG_REQUEST, signalId === undefined ? {} : { signal_id: signalId });
  }
  const family = `/${endpoint.path.split('/')[1] ?? ''}/preview`;
  for (const path of [`${endpoint.path}/preview`, family]) {
    const row = findEndpoint(path);
    if (row?.file !== undefined && release.has(row.file)) return path;
  }
  return '/gauge/preview';
}

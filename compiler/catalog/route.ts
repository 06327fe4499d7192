import { bytesOfOctets } from '../format/base64.ts';
import { TABLE } from '../products/products.ts';
import { nearest } from '../products/shapes/nearest.ts';
import { canonicalTarget, type Values } from '../products/shapes/path.ts';
import { type Endpoint, type Param, type Params, takenParams } from '../products/shapes/product.ts';
import type { Catalog } from './catalog.ts';

/** What is wrong with the parameters of a request that names a known path. */
export interface RouteFault {
  readonly miss: 'missing_parameter' | 'illegal_value' | 'no_data';
  /** The first parameter concerned. */
  readonly name: string;
  /** All required parameters that are absent; empty for an illegal value. */
  readonly missing: readonly string[];
  /** What was sent, '' when absent. */
  readonly value: string;
  /** What it must be, where the table does not say that. */
  readonly legal?: string;
  /** No parameter has this name: the rest of the request is whole, so what was paid for it before is delivered again. */
  readonly isUnknownName?: true;
}

/** A request that the table knows: its row, its parameters and the one spelling of both. */
export interface Route {
  /** The row that answers and sets the price, after an alias such as `dim` is followed. */
  readonly endpoint: Endpoint;
  /** Legal values by parameter name; absent and default ones are missing. */
  readonly values: Values;
  /** Canonical `path?query` of the row and its values: payments are bound to it. */
  readonly target: string;
  /** The answer is shown as its fact: how it is shown is no part of what is bought. */
  readonly isFact: boolean;
  /** No query at all: a question for the price. */
  readonly bare: boolean;
  readonly fault: RouteFault | null;
}

const SLOT = /^\/:([a-z_]+)$/;
const SLOT_AT_END = /\/:([a-z_]+)$/;

/** Paths whose last segment is a parameter, by what stands in front of it: `/v/` -> path and name. */
const SEGMENT_PATHS = new Map(
  TABLE.flatMap(({ path }) => {
    const cut = path.lastIndexOf('/');
    const name = SLOT.exec(path.slice(cut))?.[1];
    return name === undefined ? [] : [[path.slice(0, cut + 1), { path, name }] as const];
  }),
);

/** The operation of a path and the parameter in its last segment; undefined for an unknown path. */
export function findRow(
  path: string,
  { operationByPath }: Pick<Catalog, 'operationByPath'>,
): { row: Endpoint; segment: Values } | undefined {
  const exact = operationByPath.get(path);
  if (exact !== undefined)
    return SLOT.test(lastSegment(path)) ? undefined : { row: exact, segment: {} };
  const value = lastSegment(path).slice(1);
  const found = SEGMENT_PATHS.get(path.slice(0, path.length - value.length));
  const row = found === undefined ? undefined : operationByPath.get(found.path);
  if (found === undefined || row === undefined || value === '') return undefined;
  // OpenAPI clients escape the colon of a hash. These rows are free, and nothing else of a path is decoded.
  return { row, segment: { [found.name]: value.replace(/%3a/gi, ':') } };
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/'));
}

/**
 * Parses the parameters of a known path. Unknown ones are left out of the look-up and of the target; what costs refuses them,
 * so that nobody pays for an answer without the filter that was misspelt.
 */
export function route(request: CanonicalRequest, catalog: Catalog): Route | undefined {
  const found = findRow(request.path, catalog);
  if (found === undefined) return undefined;
  const { row: asked, segment } = found;
  const given = Object.entries(takenParams(asked)).map(([name, param]): Given => {
    const value = segment[name];
    return value === undefined ? givenValue(name, param, request.values) : { name, param, value };
  });
  const legal = given.filter((one) => one.value !== '' && isLegal(one, catalog));
  const [redirected] = legal.flatMap(({ param, value }) => param.redirect?.[value] ?? []);
  const row = catalog.operationByPath.get(redirected ?? asked.path) ?? asked;
  // The operation that answers for `dim` may lack a parameter of the one that was asked.
  const params = takenParams(row);
  const meant = legal.filter((one) => params[one.name] !== undefined && !isDefault(one));
  const written = meant.map(({ name, param, value }) => {
    return [name, param.type === 'integer' ? String(Number(value)) : value] as const;
  });
  const values = subjectCase(Object.fromEntries(written), catalog);
  const endpoint = pricedRow(row, values);
  const path = endpoint.path.replace(SLOT_AT_END, (_, name) => `/${segment[name]}`);
  const inQuery = Object.entries(values).filter(([name]) => !(name in segment));
  const target = canonicalTarget(path, Object.fromEntries(inQuery));
  const fact = legal.find(({ param, value }) => value === param.fact);
  const misplaced = fact === undefined || row === asked ? null : misplacedFact(fact);
  return {
    endpoint,
    values,
    target,
    isFact: fact !== undefined,
    bare: request.values.size === 0,
    fault:
      faultOf(given, catalog) ??
      misplaced ??
      (endpoint.priceUsd === null ? null : nameFault(request, asked)),
  };
}

/** Characters of a stranger's name that an error repeats. */
const NAME_CHARS_MAX = 40;

/** The first name in a query that an operation does not take; undefined for none. */
export function unknownName(
  { values }: Pick<CanonicalRequest, 'values'>,
  row: Endpoint,
): string | undefined {
  const names = takenNames(row);
  return [...values.keys()].find((name) => !names.includes(name));
}

function takenNames(row: Endpoint): string[] {
  const params = Object.entries(takenParams(row));
  return params.flatMap(([name, { aliases = [] }]) => [name, ...aliases]);
}

function nameFault(request: CanonicalRequest, row: Endpoint): RouteFault | null {
  const name = unknownName(request, row);
  if (name === undefined) return null;
  const names = takenNames(row);
  const meant = nearest(name, names);
  const takes = names.length === 0 ? 'no parameter' : names.join(', ');
  const legal = meant === null ? `${row.path} takes ${takes}` : `did you mean "${meant}"?`;
  return {
    miss: 'illegal_value',
    name: name.slice(0, NAME_CHARS_MAX),
    missing: [],
    value: request.values.get(name) ?? '',
    legal: `no such parameter; ${legal}`,
    isUnknownName: true,
  };
}

type ValueSets = Pick<Catalog, 'valueSets'>;

interface Given {
  readonly name: string;
  readonly param: Param;
  /** '' when absent. */
  readonly value: string;
  /** Another name of the parameter that was sent with another value. */
  readonly rival?: string;
}

/** A fact is that of a record: who asks for another product of it would pay for what the fact leaves out. */
function misplacedFact({ name, value }: Given): RouteFault {
  const legal = 'it is the fact of the record itself; leave dim out';
  return { miss: 'illegal_value', name, missing: [], value, legal };
}

function faultOf(given: readonly Given[], catalog: ValueSets): RouteFault | null {
  const absent = given.filter(({ param, value }) => value === '' && param.required);
  const missing = absent.map(({ name }) => name);
  const [first] = missing;
  if (first !== undefined) return { miss: 'missing_parameter', name: first, missing, value: '' };
  const illegal = given.find((one) => one.value !== '' && !isLegal(one, catalog));
  if (illegal === undefined) return null;
  const { name, value, rival } = illegal;
  const legal = `its other name ${rival} has a different value; send only one of them`;
  const fault = { miss: 'illegal_value', name, missing: [], value } as const;
  return rival === undefined ? fault : { ...fault, legal };
}

/** The value under its own name or under an alias that live clients send, and the name that contradicts it. */
function givenValue(name: string, param: Param, values: ReadonlyMap<string, string>): Given {
  const sent = [name, ...(param.aliases ?? [])].flatMap((spelling) => {
    const value = values.get(spelling) ?? '';
    return value === '' ? [] : [{ spelling, value: param.upperCase ? value.toUpperCase() : value }];
  });
  const value = sent[0]?.value ?? '';
  const rival = sent.find((one) => one.value !== value)?.spelling;
  return { name, param, value, ...(rival === undefined ? {} : { rival }) };
}

/** A value that means the same as leaving the parameter out. */
function isDefault({ param, value }: Given): boolean {
  // A redirecting value has done its work once the row is chosen.
  if (param.redirect !== undefined || value === param.fact) return true;
  if (param.type === 'integer') return Number(value) === Number(param.default);
  return value === param.default;
}

function isLegal({ param, value, rival }: Given, { valueSets }: ValueSets): boolean {
  if (rival !== undefined) return false;
  const { enum: legal } = param;
  if (legal !== undefined) return valueSets.get(legal)?.has(value) ?? legal.includes(value);
  if (param.type !== 'integer') return true;
  if (!/^[0-9]{1,9}$/.test(value)) return false;
  const number = Number(value);
  return number >= (param.min ?? 0) && number <= (param.max ?? Number.MAX_SAFE_INTEGER);
}

/** The row at the price of the signal that is asked for; the row itself where that is the price of all. */
export function pricedRow(row: Endpoint, { signal_id: signalId = '' }: Values): Endpoint {
  const { signalPrices } = row;
  if (signalPrices === undefined || !Object.hasOwn(signalPrices, signalId)) return row;
  return { ...row, priceUsd: signalPrices[signalId] ?? null };
}

/** An entity is spelled as its line spells it: tickers in upper case. */
function subjectCase(values: Values, { entryById }: Catalog): Values {
  const { signal_id: signalId, entity } = values;
  if (signalId === undefined || entity === undefined) return values;
  if (entryById.get(signalId)?.line.upperCase !== true) return values;
  return { ...values, entity: entity.toUpperCase() };
}

/** Longest request target in bytes; longer ones are refused with 414. */
const TARGET_BYTES_MAX = 8192;
/** Most query parameters of one request, known or not. */
const QUERY_PARAMS_MAX = 64;

/** A request target with one meaning; anything that two servers could read differently was already refused. */
export interface CanonicalRequest {
  /** As it was sent: a path is never decoded, so no alias of a paid path exists. */
  readonly path: string;
  /** Query values by name, decoded once. */
  readonly values: ReadonlyMap<string, string>;
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;
const PRINTABLE = /^[\x21-\x7e]*$/;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a raw request target without any look-up; the path keeps its bytes, the query is decoded strictly. */
export function canonicalRequest(
  rawTarget: string,
): CanonicalRequest | { readonly status: 400 | 414; readonly error: string } {
  if (rawTarget.length > TARGET_BYTES_MAX) {
    return { status: 414, error: `request target longer than ${TARGET_BYTES_MAX} bytes` };
  }
  const reason = spellingFault(rawTarget);
  if (reason !== null) return refusal(reason);
  const target = rawTarget.replace(ABSOLUTE_FORM, '');
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  if (!path.startsWith('/')) return refusal('request target must be a path that starts with "/"');
  const values = queryValues(mark === -1 ? '' : target.slice(mark + 1));
  return typeof values === 'string' ? refusal(values) : { path, values };
}

function refusal(error: string) {
  return { status: 400, error } as const;
}

function spellingFault(target: string): string | null {
  if (!PRINTABLE.test(target)) return 'request target must be printable ASCII without spaces';
  if (target.includes('#')) return 'request target must not hold "#"; encode it as %23';
  if (target.includes('\\')) return 'request target must not hold a backslash; encode it as %5C';
  return null;
}

function queryValues(query: string): ReadonlyMap<string, string> | string {
  const values = new Map<string, string>();
  const parts = query.split('&').filter((part) => part !== '');
  if (parts.length > QUERY_PARAMS_MAX) return `more than ${QUERY_PARAMS_MAX} query parameters`;
  for (const part of parts) {
    const sign = part.indexOf('=');
    const name = decodeQuery(sign === -1 ? part : part.slice(0, sign));
    const value = decodeQuery(sign === -1 ? '' : part.slice(sign + 1));
    if (name === null || value === null) return 'query is not percent-encoded UTF-8';
    if (values.has(name)) return `query parameter "${name.slice(0, 40)}" is repeated; send it once`;
    values.set(name, value);
  }
  return values;
}

/** Form decoding of one name or value; null for a broken escape or for bytes that are not UTF-8. */
function decodeQuery(text: string): string | null {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  if (/%(?![0-9a-fA-F]{2})/.test(spaced)) return null;
  const octets = spaced.replace(/%([0-9a-fA-F]{2})/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  try {
    return decoder.decode(bytesOfOctets(octets));
  } catch {
    return null;
  }
}

/** Longest list of legal values that a description repeats; a longer one is read in the free catalogue. */
const LEGAL_SHOWN_MAX = 24;

/** The parameters of an operation as every description lists them: each one, then the other names that it is taken under. */
export function describedParams({ path, params }: Endpoint): Params {
  const listed = Object.entries(params).flatMap(([name, param]) => {
    const { enum: legal, ...open } = param;
    const { type, examples } = param;
    const description = `another name of ${name}; send one of them`;
    // A value that stands in the path has no other name.
    const names = path.endsWith(`/:${name}`) ? [] : (param.aliases ?? []);
    const others = names.filter((alias) => params[alias] === undefined);
    return [
      [name, (legal?.length ?? 0) <= LEGAL_SHOWN_MAX ? param : open] as const,
      ...others.map((alias) => [alias, { type, required: false, description, examples }] as const),
    ];
  });
  return Object.fromEntries(listed);
}

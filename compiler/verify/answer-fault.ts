import type { ZodType } from 'zod';
import type { Catalog } from '../catalog/catalog.ts';
import { canonicalRequest, findRow, type Route, route, unknownName } from '../catalog/route.ts';
import { citationSchema, citedTarget } from '../format/citation.ts';
import type { JsonValue } from '../format/strict-json.ts';
import type { TablePath } from '../products/products.ts';
import { canonicalTarget } from '../products/shapes/path.ts';
import type { Answer, Endpoint } from '../products/shapes/product.ts';
import { SIGNED_CSV } from '../products/shapes/series-csv.ts';
import { subscriptionSchema } from '../products/shapes/watch-bodies.ts';
import { settlementFault } from './settlement-checks.ts';

type Spelling = (value: string) => JsonValue;

/**
 * Parameters that an answer repeats in a member of the same name, by kind of answer: what is computed at the request
 * stands in no signed address. Every other parameter does.
 */
const REPEATED: Partial<Record<Answer, Readonly<Record<string, Spelling>>>> = {
  series: { days: Number },
};

/** Answers that are made at request time: they have no signed address, so their shape identifies the operation. */
const MADE_AT_REQUEST: ReadonlySet<Answer> = new Set(['mint']);
/** Their shapes by path; those of `bodies.ts` are many times as long, and browsers load this. */
const SHAPES: ReadonlyMap<string, ZodType> = new Map<TablePath, ZodType>([
  ['/gauge/subscribe', subscriptionSchema],
]);

/** The question that a request target asks; null for an unknown operation or an illegal parameter. */
export function questionOf(target: string, catalog: Catalog): Route | null {
  const request = canonicalRequest(target);
  const asked = 'status' in request ? undefined : route(request, catalog);
  return asked === undefined || asked.fault !== null ? null : asked;
}

/**
 * The question of a target that somebody typed; throws a RangeError that says why there is none. A parameter that is
 * unknown would be left out of the comparison, so it is refused.
 */
export function knownQuestion(target: string, catalog: Catalog): Route {
  const request = canonicalRequest(target);
  if ('status' in request) throw unasked(target, request.error);
  const asked = route(request, catalog);
  if (asked === undefined) {
    throw unasked(target, 'no such operation in the catalogue; pass that of the publisher');
  }
  const unknown = strangerIn(target, catalog);
  if (unknown !== undefined)
    throw unasked(target, `"${unknown}" is no parameter of it; leave it out`);
  const { fault } = asked;
  if (fault === null) return asked;
  const state = fault.miss === 'missing_parameter' ? 'is missing' : 'has no legal value';
  throw unasked(
    target,
    `"${fault.name}" ${state} by this catalogue; mend it, or pass that of the publisher`,
  );
}

function unasked(target: string, why: string): RangeError {
  return new RangeError(`Cannot expect "${target.slice(0, 200)}": ${why}`);
}

/** The canonical request that a verified body answers; null where it answers none that the catalogue knows. */
export function answeredTarget(body: JsonValue, catalog: Catalog): string | null {
  const asked = citedQuestion(body, catalog);
  if (asked === null) return null;
  const { endpoint, values } = asked;
  const cores = endpoint.answer === 'series' && hasCores(body) ? { verifiable: '1' } : {};
  return canonicalTarget(endpoint.path, { ...values, ...repeatedValues(endpoint, body), ...cores });
}

function repeatedValues({ answer, params }: Endpoint, body: JsonValue): Record<string, string> {
  const given = Object.keys(REPEATED[answer] ?? {}).flatMap((name) => {
    const value = memberOf(body, name);
    const isLeftOut =
      value === undefined || value === null || String(value) === params[name]?.default;
    return isLeftOut ? [] : [[name, String(value)] as const];
  });
  return Object.fromEntries(given);
}

/**
 * Why a body does not answer a question, or null if it does: the operation and every parameter must be those asked for.
 * It checks only what a body says about itself; the verifier decides whether that is true.
 */
export function answerFault(asked: Route, body: JsonValue, catalog: Catalog): string | null {
  if (asked.endpoint.answer === 'resolve') return settlementFault(asked, body);
  const operation = MADE_AT_REQUEST.has(asked.endpoint.answer)
    ? shapeFault(asked.endpoint, body)
    : addressFault(asked, body, catalog);
  return operation ?? repeatedFault(asked, body) ?? coresFault(asked, body);
}

/** Whoever asked for the cores of a series can prove each of its rows alone; they stand in the rows. */
function coresFault({ endpoint, values }: Route, body: JsonValue): string | null {
  const isAsked = values.verifiable !== undefined;
  if (endpoint.answer !== 'series' || hasCores(body) === isAsked) return null;
  return `the body answers with${isAsked ? 'out' : ''} "_hash_core" in its rows, not with${isAsked ? '' : 'out'}`;
}

function hasCores(body: JsonValue): boolean {
  const rows = memberOf(body, 'rows');
  return Array.isArray(rows) && rows.every((row) => memberOf(row, '_hash_core') !== undefined);
}

function shapeFault(endpoint: Endpoint, body: JsonValue): string | null {
  const shape = SHAPES.get(endpoint.path)?.safeParse(body);
  return shape?.success === true ? null : `the body is not an answer of "${endpoint.path}"`;
}

/** The address in a citation is signed: it names the operation and the parameters that its body was made for. */
function addressFault(asked: Route, body: JsonValue, catalog: Catalog): string | null {
  const cited = citedBy(body);
  if (cited === null) return 'the body does not say what it answers';
  const want = signedTarget(asked);
  const answered = citedQuestion(body, catalog);
  if (answered !== null && signedTarget(answered) === want) return null;
  return `the body answers "${cited}", not "${want}"`;
}

function citedBy(body: JsonValue): string | null {
  const citation = citationSchema.safeParse(memberOf(body, '_citation'));
  return citation.success ? citedTarget(citation.data) : null;
}

/** What a body was made for; null where the catalogue does not know all of it: another parameter would be left out. */
function citedQuestion(body: JsonValue, catalog: Catalog): Route | null {
  const cited = citedBy(body);
  if (cited === null) return null;
  return strangerIn(cited, catalog) === undefined ? questionOf(cited, catalog) : null;
}

function strangerIn(target: string, catalog: Catalog): string | undefined {
  const request = canonicalRequest(target);
  const row = 'status' in request ? undefined : findRow(request.path, catalog)?.row;
  return 'status' in request || row === undefined ? undefined : unknownName(request, row);
}

/** A question without the parameters that the body repeats, and without those that change no signed member. */
function signedTarget({ endpoint, values }: Route): string {
  const repeated = REPEATED[endpoint.answer] ?? {};
  // A signed table is read back into the very body: only its text has another form.
  const isShown = (name: string, value: string): boolean =>
    Object.hasOwn(repeated, name) ||
    name === 'proof' ||
    (name === 'verifiable' && endpoint.answer === 'series') ||
    (name === 'format' && value === SIGNED_CSV);
  const signed = Object.entries(values).filter(([name, value]) => !isShown(name, value));
  return canonicalTarget(endpoint.path, Object.fromEntries(signed));
}

function repeatedFault({ endpoint, values }: Route, body: JsonValue): string | null {
  for (const [name, spelled] of Object.entries(REPEATED[endpoint.answer] ?? {})) {
    const value = values[name] ?? endpoint.params[name]?.default;
    const want = value === undefined ? null : spelled(value);
    const got = memberOf(body, name);
    if (got !== want) return `the body answers ${name} ${jsonText(got)}, not ${jsonText(want)}`;
  }
  return null;
}

function jsonText(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries<JsonValue>(value)).get(name);
}

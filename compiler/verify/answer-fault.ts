import { bodySchemaOf } from '../contract/bodies.ts';
import { canonicalRequest, canonicalTarget } from '../contract/canonical-request.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import { citationSchema, citedTarget } from '../contract/citation.ts';
import type { Answer, Endpoint } from '../contract/endpoints.ts';
import { canonicalForm } from '../contract/filing.ts';
import { type Route, route } from '../contract/route.ts';
import type { JsonValue } from '../contract/strict-json.ts';

/** How a member of a body repeats the value of a parameter. */
type Spelling = (value: string) => JsonValue;
const asSent: Spelling = (value) => value;

/**
 * Parameters that an answer repeats in a member of the same name, by kind of answer: what is computed at the request
 * stands in no signed address. Every other parameter does.
 */
const REPEATED: Partial<Record<Answer, Readonly<Record<string, Spelling>>>> = {
  series: { days: Number },
  resolve: {
    entity: asSent,
    form: canonicalForm,
    cutoff: asSent,
    event_class: asSent,
    source_class: asSent,
    market_or_event: asSent,
  },
};

/** Answers that are made at request time: they have no signed address, so their shape identifies the operation. */
const MADE_AT_REQUEST: ReadonlySet<Answer> = new Set(['resolve', 'mint']);

/** The question that a request target asks; null for an unknown operation or an illegal parameter. */
export function questionOf(target: string, catalog: Catalog): Route | null {
  const request = canonicalRequest(target);
  const asked = 'status' in request ? undefined : route(request, catalog);
  return asked === undefined || asked.fault !== null ? null : asked;
}

/**
 * Why a body does not answer a question, or null if it does: the operation and every parameter must be those asked for.
 * It checks only what a body says about itself; the verifier decides whether that is true.
 */
export function answerFault(asked: Route, body: JsonValue, catalog: Catalog): string | null {
  const operation = MADE_AT_REQUEST.has(asked.endpoint.answer)
    ? shapeFault(asked.endpoint, body)
    : addressFault(asked, body, catalog);
  return operation ?? repeatedFault(asked, body);
}

function shapeFault(endpoint: Endpoint, body: JsonValue): string | null {
  const shape = bodySchemaOf(endpoint)?.safeParse(body);
  return shape?.success === true ? null : `the body is not an answer of "${endpoint.path}"`;
}

/** The address in a citation is signed: it names the operation and the parameters that its body was made for. */
function addressFault(asked: Route, body: JsonValue, catalog: Catalog): string | null {
  const citation = citationSchema.safeParse(memberOf(body, '_citation'));
  const cited = citation.success ? citedTarget(citation.data) : null;
  if (cited === null) return 'the body does not say what it answers';
  const want = signedTarget(asked);
  const answered = questionOf(cited, catalog);
  if (answered !== null && signedTarget(answered) === want) return null;
  return `the body answers "${cited}", not "${want}"`;
}

/** A question without the parameters that the body repeats. */
function signedTarget({ endpoint, values }: Route): string {
  const repeated = REPEATED[endpoint.answer] ?? {};
  const isShown = (name: string): boolean =>
    Object.hasOwn(repeated, name) || (endpoint.answer === 'series' && name === 'format');
  const signed = Object.entries(values).filter(([name]) => !isShown(name));
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

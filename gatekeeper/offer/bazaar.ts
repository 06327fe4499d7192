import type { Endpoint, Param } from '../../compiler/contract/endpoints.ts';
import type { Values } from '../../compiler/contract/path.ts';
import { describedParams } from '../../compiler/contract/route.ts';
import { CSV_MEDIA_TYPE } from './media-type.ts';
import type { Shown } from './shown.ts';

/**
 * Characters of the input and of the example together, and of one member of it: proxies often take 4 KB of headers from a
 * service, all in all.
 */
const LISTING_CHARS_MAX = 1350;
const MEMBER_CHARS_MAX = 120;

/**
 * The discovery extension of v2: a call that is answered now and the JSON Schema that it meets. `taken` are the characters
 * that other parts of the challenge need.
 */
export function bazaar(
  { endpoint, mimeType, output }: Shown,
  queryParams: Values,
  taken = 0,
): object {
  const type = mimeType === CSV_MEDIA_TYPE ? 'csv' : 'json';
  const input = inputSchema(endpoint);
  const example = brief(output, LISTING_CHARS_MAX - taken - JSON.stringify(input).length);
  const info = {
    input: { type: 'http', method: endpoint.method, queryParams },
    output: { type, example },
  };
  const properties = Object.fromEntries(Object.keys(example).map((name) => [name, {}]));
  const shown = object({
    type: { type: 'string' },
    example: { type: 'object', properties },
  });
  return { info, schema: object({ input, output: shown }) };
}

/** Members of an example that fit into a header, in their order; the body of the 402 shows all of them. */
function brief(output: Shown['output'], most: number): Shown['output'] {
  const all = Object.entries(output);
  let room = most;
  const fitting = all.filter(([name, value]) => {
    // A name stands in the example and in its schema.
    const chars = 2 * name.length + JSON.stringify(value).length;
    if (chars > Math.min(room, MEMBER_CHARS_MAX)) return false;
    room -= chars;
    return true;
  });
  return Object.fromEntries(fitting.length > 0 ? fitting : all.slice(0, 1));
}

function inputSchema(endpoint: Endpoint): object {
  const params = Object.entries(describedParams(endpoint));
  const required = params.filter(([, param]) => param.required).map(([name]) => name);
  const properties = Object.fromEntries(params.map(([name, param]) => [name, schemaParam(param)]));
  return object({
    type: { const: 'http' },
    method: { const: endpoint.method },
    queryParams: { type: 'object', properties, required },
  });
}

function schemaParam({ description, enum: legal }: Param): object {
  // A query value is always text: an integer parameter takes its digits.
  return { type: 'string', description, ...(legal === undefined ? {} : { enum: legal }) };
}

function object(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties, required: Object.keys(properties) };
}

import { describedParams } from '../../compiler/contract/described-params.ts';
import type { Endpoint, Param } from '../../compiler/contract/endpoints.ts';
import type { Values } from '../../compiler/contract/path.ts';
import { CSV_MEDIA_TYPE } from './media-type.ts';
import type { Shown } from './shown.ts';

/** The discovery extension of v2: a call that is answered now and the JSON Schema that it meets. */
export function bazaar({ endpoint, mimeType, output }: Shown, queryParams: Values): object {
  const type = mimeType === CSV_MEDIA_TYPE ? 'csv' : 'json';
  const info = {
    input: { type: 'http', method: endpoint.method, queryParams },
    output: { type, example: output },
  };
  const properties = Object.fromEntries(Object.keys(output).map((name) => [name, {}]));
  const shown = object({
    type: { type: 'string' },
    example: { type: 'object', properties },
  });
  return { info, schema: object({ input: inputSchema(endpoint), output: shown }) };
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

import { defined } from '../format/errors.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import type { Catalog } from './catalog.ts';

/** One argument of a tool, in the JSON Schema words that draft-07 and 2020-12 share. */
export interface ToolArgument {
  readonly type: 'string' | 'boolean';
  readonly description?: string;
  readonly enum?: readonly string[];
}

/** A tool as `tools/list` and `/manifest?platform=mcp` show it; the one source of both. Every word is read by a model. */
export interface Tool {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, ToolArgument>>;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
  /** JSON Schema of the structured content of every success. */
  readonly outputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown };
  readonly annotations: {
    readonly readOnlyHint: true;
    readonly idempotentHint: true;
    readonly openWorldHint: false;
  };
}
export type ToolName =
  | 'search'
  | 'quote'
  | 'verify_citation'
  | 'find_signal'
  | 'get_official_record';

/** Longest text of one argument, in UTF-16 units. */
export const TOOL_ARGUMENT_CHARS_MAX = 200;

/** The operation that answers words; a catalogue may leave it out. */
export const SEARCH_OPERATION = '/gauge/search';

/** A tool with the arguments that it needs; the others may be left out. */
function tool(
  parts: Pick<Tool, 'name' | 'title' | 'description' | 'outputSchema'>,
  properties: Tool['inputSchema']['properties'],
  required: readonly string[],
): Tool {
  const { name, title, description, outputSchema } = parts;
  const inputSchema = {
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  } as const;
  const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;
  return { name, title, description, inputSchema, outputSchema, annotations };
}

const text = (description: string): ToolArgument => ({ type: 'string', description });

/** Members that every success has. */
function fields(properties: Readonly<Record<string, object>>): Tool['outputSchema'] {
  return { type: 'object', properties, required: Object.keys(properties) };
}

const STRING = { type: 'string' };
const LIST = { type: 'array' };

/**
 * The free tools of the tool server, none of which pays or returns paid content; an offer only of what is sold. Legal values
 * are not listed: a search finds them.
 */
export function toolsOf(catalog: Catalog): readonly Tool[] {
  // The usual examples, each where the catalogue has it; else the first of its kind.
  const shown = (name: string, known: readonly string[]): string =>
    known.includes(name) ? name : (known[0] ?? name);
  const ids = catalog.signals.map(({ id }) => id);
  const bought = shown('airquality.aqi', ids);
  const line = catalog.lines.find(({ signals: own }) => own.some(({ id }) => id === bought));
  const names = {
    found: shown('nas.ground_ops', ids),
    bought,
    entity: shown('us-denver', line?.entities ?? []),
  };
  const searched = catalog.operationByPath.has(SEARCH_OPERATION) ? [SEARCH] : [];
  const record = catalog.operationByPath.get('/gauge');
  const records = record === undefined ? [] : [recordTool(record, names)];
  return [
    ...searched,
    quoteTool(names),
    VERIFY_CITATION,
    findTool(names, searched.length > 0),
    ...records,
  ];
}

interface Names {
  readonly found: string;
  readonly bought: string;
  readonly entity: string;
}

const SEARCH = tool(
  {
    name: 'search',
    title: 'Search what is sold',
    description:
      'Free. Start here: words in (subject, place, airport, company, id; any spelling), ids, prices and requests of signals, bundles and products out.',
    outputSchema: fields({ results: LIST }),
  },
  { query: text('at most 200 characters') },
  ['query'],
);

function quoteTool({ bought, entity }: Names): Tool {
  return tool(
    {
      name: 'quote',
      title: 'Quote any request',
      description:
        'Free. Price, payment terms (x402 accepts[]), example and returned members of any operation. Takes no payment: says which GET to send.',
      outputSchema: fields({ request: STRING, price_usd: STRING, how: STRING }),
    },
    {
      request: text(`path and query of a result, like /gauge?signal_id=${bought}&entity=${entity}`),
    },
    ['request'],
  );
}

const VERIFY_CITATION = tool(
  {
    name: 'verify_citation',
    title: 'Verify a citation',
    description:
      'Free. Whether a record hash of this issuer is current, superseded or unknown, recomputed from the stored record, and what it attests.',
    outputSchema: fields({
      found: { type: 'boolean' },
      verified: { type: 'boolean' },
      record_status: { type: 'object' },
      statement: STRING,
    }),
  },
  { record_hash: text('"sha256:" and 64 hex digits, or at least the first 8, in lower case') },
  ['record_hash'],
);

function findTool({ found }: Names, isSearched: boolean): Tool {
  const query = { query: text('words; answered as by search') };
  return tool(
    {
      name: 'find_signal',
      title: 'Find a signal',
      description:
        'Free. Coverage and freshness of signals by industry, signal or entity: counts, or with full every entity, 100 a page. Without arguments: the industries.',
      outputSchema: {
        type: 'object',
        anyOf: [
          fields({ signals: LIST }),
          fields({ industries: { type: 'object' } }),
          fields({ results: LIST }),
        ],
      },
    },
    {
      ...(isSearched ? query : {}),
      industry: { type: 'string' },
      signal_id: text(`like ${found}`),
      entity: { type: 'string' },
      full: { type: 'boolean' },
      page: text('of full, like 2'),
    },
    [],
  );
}

function recordTool({ priceUsd, params }: Endpoint, { bought, entity }: Names): Tool {
  const dim = defined(params.dim, 'the parameter dim');
  return tool(
    {
      name: 'get_official_record',
      title: 'Get the offer for an official record',
      description: `Free. The whole x402 challenge of one signed record (from ${priceUsd} USD), never the record: pay by GET accepts[0].resource with X-PAYMENT.`,
      outputSchema: fields({ x402Version: { type: 'integer' }, accepts: LIST }),
    },
    {
      signal_id: text(`like ${bought}`),
      entity: text(`like ${entity}`),
      dim: { type: 'string', enum: defined(dim.enum, 'the values of dim') },
    },
    ['signal_id', 'entity'],
  );
}

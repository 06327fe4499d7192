import type { Catalog } from './catalog/catalog.ts';
import { defined } from './defined.ts';
import type { Endpoint } from './endpoints.ts';

/** One argument of a tool, in the JSON Schema words that draft-07 and 2020-12 share. */
export interface ToolArgument {
  readonly type: 'string' | 'boolean';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** A tool as `tools/list` and `/manifest?platform=mcp` show it; the one source of both. */
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
    readonly title: string;
    readonly readOnlyHint: true;
    readonly destructiveHint: false;
    readonly idempotentHint: true;
    readonly openWorldHint: false;
  };
}
export type ToolName = 'verify_citation' | 'find_signal' | 'get_official_record';

/** Longest text of one argument, in UTF-16 units. */
const TOOL_ARGUMENT_CHARS_MAX = 200;

function text(description: string): ToolArgument {
  return { type: 'string', description, minLength: 1, maxLength: TOOL_ARGUMENT_CHARS_MAX };
}

function fields(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = Object.keys(properties),
): Tool['outputSchema'] {
  return { type: 'object', properties, required };
}

function annotations(title: string): Tool['annotations'] {
  const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true } as const;
  return { title, ...hints, openWorldHint: false };
}

const STRING = { type: 'string' };
const BOOLEAN = { type: 'boolean' };
const COUNT = { type: 'integer', minimum: 0 };
const STRING_OR_NULL = { type: ['string', 'null'] };
const FRESHNESS_COUNTS = fields({ fresh: COUNT, recent: COUNT, stale: COUNT });

/** The free tools of the tool server, none of which pays or returns paid content; an offer only of what is sold. */
export function toolsOf(catalog: Catalog): readonly Tool[] {
  const names = namesOf(catalog);
  const { inputSchema } = FIND_SIGNAL;
  const find = { ...FIND_SIGNAL, inputSchema: { ...inputSchema, properties: findParams(names) } };
  const record = catalog.operationByPath.get('/gauge');
  const lookUps = [VERIFY_CITATION, find];
  return record === undefined ? lookUps : [...lookUps, recordTool(record, names)];
}

/** Names of the catalogue that descriptions show. */
interface CatalogNames {
  readonly industry: string;
  readonly found: string;
  readonly bought: string;
  readonly entity: string;
}

/** The usual examples, each where the catalogue has it; else the first of its kind. */
function namesOf({ lines, signals }: Catalog): CatalogNames {
  const shown = (name: string, known: readonly string[]): string =>
    known.includes(name) ? name : (known[0] ?? name);
  const ids = signals.map(({ id }) => id);
  return {
    industry: shown(
      'aviation',
      lines.map(({ industry }) => industry),
    ),
    found: shown('nas.ground_ops', ids),
    bought: shown('airquality.aqi', ids),
    entity: shown(
      'us-denver',
      lines.flatMap(({ entities }) => entities),
    ),
  };
}

function findParams({ industry, found, entity }: CatalogNames): Tool['inputSchema']['properties'] {
  return {
    industry: text(`industry id, for example ${industry}; absent for all`),
    signal_id: text(`signal id, for example ${found}`),
    entity: text(`monitored object, for example ${entity}`),
    full: {
      type: 'boolean',
      description: 'true lists the entities and their freshness too; long without a filter',
    },
  };
}

const VERIFY_CITATION: Tool = {
  name: 'verify_citation',
  title: 'Verify a citation',
  description:
    'Free. Looks up a record hash of this issuer and recomputes it from the stored record: whether it is current, superseded or unknown, and what it attests. Use it to check a citation before relying on it.',
  inputSchema: {
    type: 'object',
    properties: {
      record_hash: text(
        'record_hash of a citation, "sha256:" and 64 hex digits, or at least the first 8 digits, in lower case',
      ),
    },
    required: ['record_hash'],
    additionalProperties: false,
  },
  outputSchema: fields(
    {
      hash: STRING,
      found: BOOLEAN,
      verified: BOOLEAN,
      recomputed_hash: STRING_OR_NULL,
      is_issuer_record: BOOLEAN,
      record_status: fields({
        state: { type: 'string', enum: ['current', 'superseded', 'not_found'] },
      }),
      signal_id: STRING_OR_NULL,
      entity: STRING_OR_NULL,
      observed_at: STRING_OR_NULL,
      source_ref: STRING_OR_NULL,
      note: STRING,
      statement: STRING,
    },
    ['hash', 'found', 'verified', 'record_status', 'statement'],
  ),
  annotations: annotations('Verify a citation'),
};

const FIND_SIGNAL: Tool = {
  name: 'find_signal',
  title: 'Find a signal',
  description:
    'Free. Lists which official signals are covered and how fresh their readings are, by industry, signal or entity. Compact counts by default; full=true lists every entity of the signals found. Start here to learn legal signal_id and entity values.',
  inputSchema: {
    type: 'object',
    properties: {},
    required: [],
    additionalProperties: false,
  },
  outputSchema: fields(
    {
      nature: STRING,
      note: STRING,
      totals: fields({
        signal_ids: COUNT,
        industries: COUNT,
        distinct_entities: COUNT,
        freshness: FRESHNESS_COUNTS,
      }),
      signals: {
        type: 'array',
        items: fields(
          {
            signal_id: STRING,
            industry: STRING,
            entities_count: COUNT,
            freshness_counts: FRESHNESS_COUNTS,
            update_status: STRING,
            latest_observed_at: STRING_OR_NULL,
            entities: { type: 'array', items: fields({ entity: STRING }) },
          },
          ['signal_id', 'industry', 'entities_count', 'freshness_counts'],
        ),
      },
    },
    ['totals', 'signals'],
  ),
  annotations: annotations('Find a signal'),
};

const CHALLENGE = fields(
  {
    x402Version: { type: 'integer' },
    error: STRING,
    accepts: {
      type: 'array',
      minItems: 1,
      items: fields({
        scheme: STRING,
        network: STRING,
        maxAmountRequired: { type: 'string', pattern: '^[0-9]+$' },
        resource: STRING,
        description: STRING,
        mimeType: STRING,
        payTo: STRING,
        asset: STRING,
        maxTimeoutSeconds: { type: 'integer' },
      }),
    },
    client_hint: { type: 'object' },
  },
  ['x402Version', 'error', 'accepts'],
);

function recordTool({ priceUsd, params }: Endpoint, { bought, entity }: CatalogNames): Tool {
  const dim = defined(params.dim, 'the parameter dim');
  return {
    name: 'get_official_record',
    title: 'Get the offer for an official record',
    description: `Free to call. Returns the x402 payment challenge of one signed official record (from ${priceUsd} USD in USDC), never the record itself and never takes a payment: pay by sending GET accepts[0].resource with an X-PAYMENT header over HTTP. Says what is wrong, at no charge, when nothing is stored.`,
    inputSchema: {
      type: 'object',
      properties: {
        signal_id: text(`signal id, for example ${bought}; find_signal lists them`),
        entity: text(
          `monitored object, for example ${entity}; find_signal with full=true lists them`,
        ),
        dim: {
          type: 'string',
          description: dim.description,
          enum: defined(dim.enum, 'the values of dim'),
        },
      },
      required: ['signal_id', 'entity'],
      additionalProperties: false,
    },
    outputSchema: CHALLENGE,
    annotations: annotations('Get the offer for an official record'),
  };
}

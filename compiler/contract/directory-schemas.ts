import { z } from 'zod';

const phase = z.enum(['free', 'half_price', 'full_price']);
const path = z.string().regex(/^\//);

/** `/gauge/channels`: the ways to pay and to connect; the card channel adds members where it is configured. */
export const channelsSchema = z.strictObject({
  warning: z.string().optional(),
  x402: z.strictObject({
    available: z.boolean(),
    test_only: z.boolean(),
    versions: z.array(z.int()),
    scheme: z.literal('exact'),
    networks: z.array(z.string()),
    asset: z.string(),
    asset_symbol: z.string(),
    payTo: z.string(),
    how_to: z.string(),
  }),
  mcp: z.strictObject({ url: z.url(), transport: z.string(), available: z.boolean() }),
  subscription: z.strictObject({
    configured: z.boolean(),
    available: z.boolean(),
    /** Where tokens are sold; absent where none are. */
    path: path.optional(),
    use: z.string().optional(),
  }),
  fiat: z.looseObject({ configured: z.boolean(), available: z.boolean() }),
  human_track: z.strictObject({
    phases: z.array(z.strictObject({ phase, until: z.iso.date().nullable() })),
    phase_today: phase,
    note: z.string(),
  }),
});

const described = {
  path,
  method: z.enum(['GET', 'POST']),
  price_usd: z.string(),
  price_atomic: z.string().regex(/^[0-9]+$/),
  description: z.string(),
  input_required: z.array(z.string()),
  input_example_request: path,
  params: z.record(z.string(), z.looseObject({ type: z.string() })),
  returns: z.string(),
  sells_now: z.boolean(),
};
const shown = { output_example: z.record(z.string(), z.unknown()).optional() };

/** `/manifest`: every operation with its price, parameters and a request that answers; other platforms have their own form. */
export const manifestSchema = z.strictObject({
  x402Version: z.literal(1),
  count: z.int(),
  note: z.string(),
  entries: z.array(z.strictObject({ ...described, ...shown })),
  /** What a reader needs to check what was bought. */
  files: z.array(z.strictObject({ path, summary: z.string() })),
});

/** `/manifest?platform=mcp`: the tools as `tools/list` names them. */
export const toolListSchema = z.strictObject({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      description: z.string(),
      inputSchema: z.looseObject({ type: z.literal('object') }),
    }),
  ),
});

/** `/manifest?platform=a2a`: the members of the agent card that a reader needs to find a skill. */
export const agentCardSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
  supportedInterfaces: z.array(z.looseObject({ url: z.url(), protocolBinding: z.string() })),
  skills: z.array(
    z.looseObject({ id: z.string(), description: z.string(), examples: z.array(z.url()) }),
  ),
});

const { params, ...withoutParams } = described;

/** `/.well-known/x402`: the paid operations as crawlers read them. */
export const paymentManifestSchema = z.strictObject({
  version: z.literal(1),
  x402Version: z.literal(1),
  resources: z.array(z.url()),
  items: z.array(
    z.strictObject({
      resource: z.url(),
      type: z.literal('http'),
      x402Version: z.literal(1),
      accepts: z.array(z.looseObject({ scheme: z.literal('exact') })),
      ...withoutParams,
    }),
  ),
  openapi: z.url(),
  manifest: z.url(),
});

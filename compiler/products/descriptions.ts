import * as bodies from './shapes/free-body-schemas.ts';
import { free, oneOf, optional, TO_FIND } from './shapes/product.ts';

export const CHANNELS = free('/gauge/channels', {
  needed: TO_FIND,
  answer: 'channels',
  summary: 'ways to pay and to connect',
  guide:
    'Answers how to pay and to connect: networks, tool server, token, card. Not the price of an operation.',
  body: bodies.channelsSchema,
});

/** What describes the service. */
export const DESCRIPTIONS = [
  free('/manifest', {
    needed: TO_FIND,
    params: {
      all: { ...optional(oneOf('1 for every entry', ['1'])), variant: { '1': 'all' } },
      platform: {
        ...optional(oneOf('projection for a platform', ['mcp', 'a2a'])),
        variant: { mcp: 'mcp', a2a: 'a2a' },
      },
    },
    file: 'well-known/manifest.json',
    forms: { mcp: { body: bodies.toolListSchema }, a2a: { body: bodies.agentCardSchema } },
    summary: 'every operation with price, parameters and example',
    guide:
      'Answers what every operation costs, takes and returns, with a request that works. Not the readings; long, so prefer the text for models.',
    body: bodies.manifestSchema,
  }),
  free('/.well-known/x402', {
    needed: TO_FIND,
    answer: 'manifest',
    summary: 'payment manifest',
    guide: 'Answers which resources are sold, as crawlers of x402 read it. Not what is free.',
    body: bodies.paymentManifestSchema,
  }),
  free('/.well-known/agent-card.json', {
    needed: TO_FIND,
    file: 'well-known/agent-card.json',
    summary: 'agent card',
    guide:
      'Answers which skills this service has, as a signed agent card. Not over A2A messages: each skill is a GET.',
  }),
  free('/.well-known/agent.json', {
    needed: TO_FIND,
    file: 'well-known/agent.json',
    summary: 'legacy agent card',
    guide:
      'Answers the same as the agent card in its older form. Not signed; prefer the agent card.',
  }),
] as const;

export const TOOL_SERVER = free('/mcp', {
  needed: TO_FIND,
  method: 'POST',
  answer: 'rpc',
  summary: 'JSON-RPC 2.0 tool server',
  guide:
    'Speaks JSON-RPC 2.0 to clients of the Model Context Protocol. Never takes a payment: a plain GET does.',
});

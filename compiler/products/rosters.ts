import { z } from 'zod';
import {
  free,
  optional,
  type Product,
  paid,
  type RosterList,
  text,
  verifiable,
} from './shapes/product.ts';
import * as roster from './shapes/roster-bodies.ts';
import {
  absentRow,
  coinDeathRow,
  coinRow,
  type ServerBody,
  type ServiceBody,
  scorecardRow,
  serverRow,
} from './shapes/roster-views.ts';

/** A list of all subjects, and the same with the hash core of each row. */
const batch = (path: string, summary: string) =>
  ({
    tag: '[BATCH+PROOF]',
    kind: 'rosters and filings',
    params: { verifiable },
    file: `roster${path}.json`,
    summary,
  }) as const satisfies Partial<Product>;

export const ROSTERS = [
  paid('/stablecoin-deaths', {
    list: {
      of: 'stablecoin.death',
      member: 'records',
      claim: () => 'stablecoins that died, with what was last measured before',
    },
    ...batch('/stablecoin-deaths', 'stablecoins that died'),
    guide:
      'Answers which stablecoins died, when, and what was measured before. Not the state of coins that live.',
    body: roster.deathsSchema,
  }),
  paid('/trust/scorecard', {
    list: {
      of: 'trust.service',
      member: 'rows',
      claim: (lastDay: string) => `demand of the x402 services captured on ${lastDay}`,
      row: scorecardRow,
    },
    ...batch('/trust/scorecard', 'demand of x402 services'),
    guide:
      'Answers how much x402 services are used, all of them side by side. Not the details of one service, and no rating.',
    body: roster.scorecardSchema,
  }),
  paid('/trust/graveyard', {
    list: {
      of: 'trust.service',
      member: 'deaths',
      claim: (lastDay: string) => `x402 services that a capture up to ${lastDay} no longer found`,
      row: (service: ServiceBody) => absentRow(service.service_id, service),
    },
    ...batch('/trust/graveyard', 'x402 services that went absent'),
    guide: 'Answers which x402 services disappeared and when. Not the services that answer now.',
    body: roster.graveyardSchema,
  }),
  paid('/mcp/census', {
    list: {
      of: 'mcp.server',
      member: 'rows',
      claim: (lastDay: string) => `MCP servers captured up to ${lastDay}`,
      row: serverRow,
    },
    ...batch('/mcp/census', 'all MCP servers'),
    guide:
      'Answers which MCP servers exist and whether each was seen lately. Not their quality, stars or downloads.',
    body: roster.mcpCensusSchema,
  }),
  paid('/mcp/graveyard', {
    list: {
      of: 'mcp.server',
      member: 'deaths',
      claim: (lastDay: string) => `MCP servers that a capture up to ${lastDay} no longer found`,
      row: (server: ServerBody) => absentRow(server.server_id, server),
    },
    ...batch('/mcp/graveyard', 'MCP servers that went absent'),
    guide: 'Answers which MCP servers disappeared and when. Not the servers that answer now.',
    body: roster.graveyardSchema,
  }),
  paid('/stable/census', {
    list: {
      of: 'stable.coin',
      member: 'rows',
      claim: (lastDay: string) => `stablecoins by market cap, captured up to ${lastDay}`,
      row: coinRow,
      ranked: true,
    },
    ...batch('/stable/census', 'stablecoins by market cap'),
    guide:
      'Answers which stablecoins exist, by market value, with peg and state. Not the history of one coin.',
    body: roster.stableCensusSchema,
  }),
  paid('/stable/graveyard', {
    list: {
      of: 'stable.coin',
      member: 'deaths',
      claim: (lastDay: string) => `stablecoins terminated or persistently absent by ${lastDay}`,
      row: coinDeathRow,
    },
    ...batch('/stable/graveyard', 'stablecoins that ended'),
    guide: 'Answers which stablecoins ended and when. Not what was measured before they ended.',
    body: roster.graveyardSchema,
  }),
] as const;

/** A product that lists the rows of a collection. */
export interface RosterProduct extends Product {
  readonly path: (typeof ROSTERS)[number]['path'];
  readonly list: RosterList;
}

/** The products that a collection is sold as. */
export function listsOf(kind: string): readonly RosterProduct[] {
  return ROSTERS.flatMap((product) => {
    const { list }: Product = product;
    return list?.of === kind ? [{ ...product, list }] : [];
  });
}

export const SUBJECTS = [
  paid('/trust/precheck', {
    params: { service: text('x402 service id', 'weather-sample-example') },
    kind: 'rosters and filings',
    file: 'subject/trust/{service}.json',
    summary: 'demand record of one x402 service',
    guide:
      'Answers whether an x402 service is really used and alive before you pay it. Not whether its answers are right.',
    body: roster.precheckSchema,
  }),
  paid('/mcp/server', {
    params: { name: text('MCP server id', 'sample-weather-mcp') },
    kind: 'rosters and filings',
    file: 'subject/mcp/{name}.json',
    summary: 'one MCP server',
    guide:
      'Answers whether one MCP server is alive and since when it was missing. Not what its tools do.',
    body: roster.serverSchema,
  }),
  paid('/stable/coin', {
    params: { symbol: { ...text('stablecoin symbol', 'SAMPLEUSD'), upperCase: true } },
    kind: 'rosters and filings',
    file: 'subject/stable/{symbol}.json',
    summary: 'one stablecoin',
    guide:
      'Answers what one stablecoin trades at against its peg and which state it is in. Not its reserves.',
    body: roster.coinSchema,
  }),
] as const;

export const ROSTER_PREVIEWS = [
  free('/stablecoin-deaths/preview', {
    file: 'free/preview/stablecoin-deaths.json',
    summary: 'what the stablecoin deaths hold',
    guide:
      'Answers how many stablecoin deaths are stored and which kinds, free. Not what was measured before them.',
    body: roster.deathsPreviewSchema,
  }),
  free('/trust/preview', {
    params: { q: optional(text('part of a host or of a service id', 'weather')) },
    answer: 'preview-search',
    file: 'free/preview/trust.json',
    summary: 'what the trust endpoints hold',
    guide:
      'Answers which x402 services are known, also by a part of their name, free. Not their figures.',
    body: z.union([roster.rosterPreviewSchema, roster.rosterSearchSchema]),
  }),
  free('/stable/preview', {
    file: 'free/preview/stable.json',
    summary: 'what the stablecoin endpoints hold',
    guide: 'Answers which stablecoins are known, free. Not their figures.',
    body: roster.rosterPreviewSchema,
  }),
  free('/mcp/preview', {
    file: 'free/preview/mcp.json',
    summary: 'what the MCP endpoints hold',
    guide: 'Answers which MCP servers are known, free. Not their state.',
    body: roster.rosterPreviewSchema,
  }),
] as const;

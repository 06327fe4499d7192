import type { Catalog } from '../../contract/catalog/catalog.ts';
import { defined } from '../../contract/defined.ts';
import type { Endpoint, TablePath } from '../../contract/endpoints.ts';

// Who chooses among operations reads what each one is asked for, and what it does not answer. No other path is named: not
// every catalogue offers it.

/** Of each operation of the table: the question that it answers, and what it does not answer. */
const GUIDES: Readonly<Record<TablePath, string>> = {
  '/gauge':
    'Answers what one signal reads at one entity now, with change, official class, seasonal place and signature. Not past values, and not several signals or entities at once.',
  '/gauge/ruler':
    'Answers which official class a reading is in and how far it is from the action threshold. Not the season, and nothing for a signal without an official scale.',
  '/gauge/calibrated':
    'Answers how severe a reading is on an index that compares across stations. Not the thresholds themselves, and nothing for a signal without an official scale.',
  '/gauge/strata':
    'Answers how often each official class occurred at this time of year over five years. Not the single readings behind the shares.',
  '/gauge/history':
    'Answers whether the latest reading is usual for the season, as a percentile of five years. Not the past readings themselves.',
  '/gauge/history-series':
    'Answers how a signal read at one entity day by day, as a signed chain of rows. Not the latest reading alone, which costs less, and no forecast.',
  '/gauge/census':
    'Answers what one signal reads at all its entities, to rank or map them. Not for one entity, which costs less, and without trends.',
  '/gauge/lifecycle':
    'Answers which official life-cycle state a subject is in and since when. Not why, and not for places that are measured.',
  '/gauge/air':
    'Answers how the air of a city is now: index and fine particles with class. Not rain or rivers, and only for the listed cities.',
  '/gauge/precip':
    'Answers how much it rained in a city on the last complete day and over 30 days. No forecast, and only for the listed cities.',
  '/stablecoin-deaths':
    'Answers which stablecoins died, when, and what was measured before. Not the state of coins that live.',
  '/trust/scorecard':
    'Answers how much x402 services are used, all of them side by side. Not the details of one service, and no rating.',
  '/trust/graveyard':
    'Answers which x402 services disappeared and when. Not the services that answer now.',
  '/mcp/census':
    'Answers which MCP servers exist and whether each was seen lately. Not their quality, stars or downloads.',
  '/mcp/graveyard':
    'Answers which MCP servers disappeared and when. Not the servers that answer now.',
  '/stable/census':
    'Answers which stablecoins exist, by market value, with peg and state. Not the history of one coin.',
  '/stable/graveyard':
    'Answers which stablecoins ended and when. Not what was measured before they ended.',
  '/gauge/macro-reconcile-full':
    'Answers how official macro figures of several publishers fit together. Not one figure alone, and no forecast.',
  '/trust/precheck':
    'Answers whether an x402 service is really used and alive before you pay it. Not whether its answers are right.',
  '/mcp/server':
    'Answers whether one MCP server is alive and since when it was missing. Not what its tools do.',
  '/stable/coin':
    'Answers what one stablecoin trades at against its peg and which state it is in. Not its reserves.',
  '/resolve':
    'Answers whether a company had filed a form by a cutoff, with the filings as evidence. Not what the filing says, and never whether the event happened.',
  '/resolve/proposer':
    'Answers the same filing question as yes, no or unknown, in the shape of a proposer feed. Not a probability, and never the event itself.',
  '/gauge/subscribe':
    'Sells a token that opens the watchlist operations for its days. Not needed for any other operation, and not renewed by itself.',
  '/gauge/watch':
    'Answers what up to 30 subjects of a watchlist read now, without a payment for each. Not their change, class scales or signatures.',
  '/gauge/watch-changes':
    'Answers what of a watchlist was observed after a time, to poll for news. Not what stayed the same.',
  '/gauge/manifest-sweep':
    'Answers which readings moved, as time and hash of every latest one. Not the values.',
  '/gauge/taiwan-region':
    'Answers how the stored lines about Taiwan stand together. Not one line alone, and no forecast.',
  '/gauge/japan-region':
    'Answers how the stored lines about Japan stand together. Not one line alone, and no forecast.',
  '/gauge/chokepoint-region':
    'Answers how the stored lines about one shipping chokepoint stand together. Not single ships, and no forecast.',
  '/pay/tier2':
    'Answers with the stored document of tier 2. Not with anything computed on request.',
  '/pay/tier3':
    'Answers with the stored document of tier 3. Not with anything computed on request.',
  '/shadow/chatter':
    'Answers what was published about a topic. Not whether it is true, and no official reading.',
  '/shadow/signal-plus':
    'Answers what was published about a topic beside one official reading. Not a cause, and no forecast.',
  '/shadow/region-plus':
    'Answers what was published about a topic beside the readings of a city. Not a cause, and no forecast.',
  '/gauge/coverage':
    'Answers which signals exist, how fresh each one is and what sells now; long lists come page by page. Not the readings.',
  '/gauge/catalog':
    'Answers which entities each signal has and which operations answer for them: the legal values. Not the readings.',
  '/gauge/search':
    'Answers what is sold about a subject, a place, a company or an id, in words of your own, with price and request. Not the readings themselves.',
  '/gauge/preview':
    'Answers how much is stored and what everything costs, with lists of ids. Not the readings.',
  '/gauge/sample':
    'Answers how a bought record looks, with a whole signed one. Not the entity of your choice.',
  '/gauge/history-preview':
    'Answers how the last seven snapshots of a signal read at one entity. Not more than seven, and unsigned.',
  '/gauge/raw':
    'Answers what a river gauge reads now, free. Not its class, statistics or signature, and no other signals.',
  '/gauge/verify':
    'Answers whether a hash is a record of this issuer and whether it is the latest. Not what the record says.',
  '/gauge/anchor':
    'Answers which batches of records are time-stamped, or where a hash is in the log. Not what the records say.',
  '/gauge/channels':
    'Answers how to pay and to connect: networks, tool server, token, card. Not the price of an operation.',
  '/stablecoin-deaths/preview':
    'Answers how many stablecoin deaths are stored and which kinds, free. Not what was measured before them.',
  '/trust/preview':
    'Answers which x402 services are known, also by a part of their name, free. Not their figures.',
  '/stable/preview': 'Answers which stablecoins are known, free. Not their figures.',
  '/mcp/preview': 'Answers which MCP servers are known, free. Not their state.',
  '/resolve/preview':
    'Answers which companies and forms can be asked about, and by which rules, free. Not whether anything was filed.',
  '/resolve/proposer/preview':
    'Answers which companies and forms the proposer feed knows, and its rules, free. Not whether anything was filed.',
  '/manifest':
    'Answers what every operation costs, takes and returns, with a request that works. Not the readings; long, so prefer the text for models.',
  '/.well-known/x402':
    'Answers which resources are sold, as crawlers of x402 read it. Not what is free.',
  '/.well-known/agent-card.json':
    'Answers which skills this service has, as a signed agent card. Not over A2A messages: each skill is a GET.',
  '/.well-known/agent.json':
    'Answers the same as the agent card in its older form. Not signed; prefer the agent card.',
  '/verify':
    'Answers whether a record that you hold is whole, signed by this issuer and in its log. Not whether its source was right.',
  '/proof/:record_hash':
    'Answers where a record hash is in the log, which time stamp covers it and how to recompute it. Not the record.',
  '/gauge/basket':
    'Answers up to 30 paid requests for one payment, each with its own signature; asked without a payment it tells the sum and what cannot be sold. Not for what is free, for tokens or for tables.',
  '/mcp':
    'Speaks JSON-RPC 2.0 to clients of the Model Context Protocol. Never takes a payment: a plain GET does.',
  '/merkle/proof': 'Answers nothing any more. Use the inclusion proof of a record hash instead.',
  '/merkle/spec':
    "Answers how the retired daily roots were made, for archives. Not how today's log works.",
  '/v/:record_hash':
    'Answers what a citation links to: whether its hash is known here. Not what the record says.',
};

/** Which question an operation answers, and which it does not. */
export function guideOf({ path }: Pick<Endpoint, 'path'>, { lines }: Catalog): string {
  const line = lines.find(({ bundle }) => bundle?.path === path);
  if (line?.bundle === undefined) {
    return defined(GUIDES[path as TablePath], `the guide of "${path}"`);
  }
  const legs = line.bundle.legs.map(({ name }) => name).join(', then ');
  return `Answers how the latest readings of ${line.title} stand together: ${legs}. Not one leg alone or past values, and no score.`;
}

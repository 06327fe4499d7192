import type { EndpointPath } from '../../compiler/contract/endpoints.ts';
import { canonicalTarget } from '../../compiler/contract/route.ts';
import type { JsonObject, JsonValue } from '../../compiler/contract/strict-json.ts';
import { SEARCH_OPERATION, type Tool, type ToolName } from '../../compiler/contract/tools.ts';
import { REQUEST_COST } from '../http/cost.ts';
import type { Reply } from '../http/reply.ts';
import { argumentFault, shown } from './argument-fault.ts';
import { nothingFound } from './nothing-found.ts';
import { overview } from './overview.ts';
import { quote } from './quote.ts';
import type { Shop } from './shop.ts';
import { failed, printedOnce, succeeded, succeededAgain, type ToolResult } from './tool-result.ts';

/** Calls a tool as a plain GET that anyone could send, so that there is no second way to an answer. */
export async function callTool(tool: Tool, given: JsonObject, shop: Shop): Promise<ToolResult> {
  // Beside the request that brought it: what it asks is a request too.
  shop.spend(REQUEST_COST);
  const fault = argumentFault(tool, given);
  return fault === null ? CALLS[tool.name](given, shop, tool) : refused(tool, fault);
}

/** A result that is longer than there is room for, in the words of what to send instead. */
export function tooLong({ name, inputSchema }: Tool, bytes: number, room: number): ToolResult {
  const narrower = Object.keys(inputSchema.properties).filter((one) => NARROWING.includes(one));
  const narrow = narrower.length === 0 ? '' : `narrow it with ${narrower.join(', ')}, `;
  return failed(
    `Cannot answer "${name}": ${bytes} bytes, more than the ${Math.max(0, room)} that are left for this answer; ` +
      `${narrow}send it alone, or page the list with GET /gauge/catalog`,
  );
}

/** Arguments that make a result shorter. */
const NARROWING: readonly string[] = ['industry', 'signal_id', 'entity'];

function refused({ name }: Tool, fault: string): ToolResult {
  return failed(`Cannot call "${name}": ${fault}`);
}

type ToolCall = (given: JsonObject, shop: Shop, tool: Tool) => Promise<ToolResult>;
const CALLS: Readonly<Record<ToolName, ToolCall>> = {
  search: ({ query }, shop) => searched(String(query), shop),
  quote,
  verify_citation: verifyCitation,
  find_signal: findSignal,
  get_official_record: getOfficialRecord,
};

/** The path uses another parameter name, so its usage error would name an argument that does not exist. */
async function verifyCitation(given: JsonObject, { ask }: Shop, tool: Tool): Promise<ToolResult> {
  const hash = String(given.record_hash);
  const reply = await ask(target('/gauge/verify', { hash }));
  if (reply.status === 200) return succeeded(reply);
  if (reply.status !== 400) return failed(reply.body.toString());
  const legal = tool.inputSchema.properties.record_hash?.description;
  return refused(tool, `argument "record_hash" is ${shown(hash)}; send ${legal}`);
}

/** Words to ids; no result is an answer too, which says why. */
async function searched(words: string, { ask }: Shop): Promise<ToolResult> {
  const reply = await ask(target(SEARCH_OPERATION, { q: words }));
  return reply.status === 200 ? succeeded(reply) : failed(reply.body.toString());
}

async function findSignal(given: JsonObject, shop: Shop): Promise<ToolResult> {
  const { ask, catalog, baseUrl } = shop;
  const { query, industry, signal_id, entity, full, page = '1' } = given;
  if (query !== undefined) {
    const words = [query, signal_id, entity, industry].filter((one) => typeof one === 'string');
    return searched(words.join(' '), shop);
  }
  const form = full === true ? { page } : { summary: '1' };
  const reply = await ask(target('/gauge/coverage', { industry, signal_id, entity, ...form }));
  if (reply.status !== 200) return failed(reply.body.toString());
  if (isEmpty(reply)) return failed(nothingFound(given, catalog));
  const isNarrow = NARROWING.some((name) => given[name] !== undefined);
  if (isNarrow || full === true) return succeededAgain(reply);
  return printedOnce(reply, (whole) => overview(whole, baseUrl));
}

/** A coverage of nothing; inside of a text its marks would be escaped. */
function isEmpty({ body }: Reply): boolean {
  return body.length < EMPTY_BYTES_MAX && body.includes('"signals":[]');
}

/** More than a coverage without signals is long. */
const EMPTY_BYTES_MAX = 10_000;

/** The 402 is the success: the very challenge that the paid URL answers. */
async function getOfficialRecord(given: JsonObject, { ask }: Shop): Promise<ToolResult> {
  const { signal_id, entity, dim } = given;
  const asked = target('/gauge', { signal_id, entity, dim });
  const reply = await ask(asked);
  if (reply.status === 200) return failed(`Not for sale, it is free: send GET ${asked} over HTTP`);
  return reply.status === 402 ? succeeded(reply) : failed(reply.body.toString());
}

function target(
  path: EndpointPath,
  given: Readonly<Record<string, JsonValue | undefined>>,
): string {
  const texts = Object.entries(given).filter((pair): pair is [string, string] => {
    return typeof pair[1] === 'string';
  });
  return canonicalTarget(path, Object.fromEntries(texts));
}

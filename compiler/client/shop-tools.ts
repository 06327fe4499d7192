import { withoutProof } from '../format/citation.ts';
import { messageOf } from '../format/errors.ts';
import { isObject, type JsonValue } from '../format/strict-json.ts';
import { atomicAmount } from '../products/shapes/price.ts';
import { ClientError, type PendingPayment, type PurchasedBody } from './client-error.ts';
import type { Found } from './offers.ts';
import { MAX_USD, type SignalpressClient } from './signalpress-client.ts';

// What a model may do in a shop, as plain objects: each library of agents takes them through one function of its own.

export interface ShopTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of what it takes. */
  readonly parameters: ToolParameters;
  /** True where it may spend money. */
  readonly pays: boolean;
  /** Never throws: a refusal is an answer that a model can read. */
  run(args: unknown): Promise<ToolAnswer>;
}

export interface ToolParameters {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, { type: 'string'; description: string }>>;
  readonly required: string[];
  readonly additionalProperties: false;
}

export interface ToolAnswer {
  readonly isError: boolean;
  /** JSON. */
  readonly text: string;
}

export interface ToolCaps {
  /** The most that one call may cost, in decimal USD; MAX_USD when absent. */
  readonly maxUsd?: string;
}

type Args = Readonly<Record<string, string>>;

/** Tools of one client, whose `maxTotalUsd` bounds what they spend together. */
export function shopTools(client: SignalpressClient, { maxUsd = MAX_USD }: ToolCaps = {}) {
  // A payment whose answer is missing is sent again, never signed anew, and one purchase is made at a time.
  const pending = new Map<string, PendingPayment>();
  let turn: Promise<unknown> = Promise.resolve();
  const buy = async ({ request = '', max_usd = maxUsd }: Args): Promise<object> => {
    const own = BigInt(atomicAmount(max_usd)) < BigInt(atomicAmount(maxUsd)) ? max_usd : maxUsd;
    const kept = pending.get(request);
    try {
      const sold =
        kept === undefined
          ? await client.buy({ request } as Found, { maxUsd: own })
          : await client.redeliver(kept);
      pending.delete(request);
      return factOf(request, sold);
    } catch (error) {
      const isOpen = error instanceof ClientError && error.code === 'unsettled';
      if (isOpen && error.facts.payment !== undefined) pending.set(request, error.facts.payment);
      throw error;
    }
  };
  const inTurn = (args: Args): Promise<object> => {
    const bought = turn.then(() => buy(args));
    turn = bought.catch(() => undefined);
    return bought;
  };
  return [
    tool('search', 'Finds what official, signed readings are sold about some words. Free.', {
      args: { words: 'what is asked, such as "air quality in Denver"' },
      run: async ({ words = '' }) => ({ results: await client.search(words) }),
    }),
    tool('quote', 'Says what a request costs now. Free, signs nothing.', {
      args: { request: REQUEST },
      run: async ({ request = '' }) => ({ price_usd: (await quoted(client, request)).priceUsd }),
    }),
    tool('buy', `Buys one answer, for at most ${maxUsd} USD, and verifies it offline.`, {
      args: { request: REQUEST },
      optional: { max_usd: 'a lower cap for this call, in decimal USD' },
      pays: true,
      run: inTurn,
    }),
    tool('verify', 'Judges an answer that was saved, offline. Free.', {
      args: { body: 'the text as it was delivered' },
      run: async ({ body = '' }) => {
        const { verdict, issuer, checks } = await client.verify(body);
        return { verdict, issuer, failed: checks.filter(({ status }) => status === 'fail') };
      },
    }),
  ];
}

const REQUEST = 'path and query, as `request` of a search result has it';

const quoted = (client: SignalpressClient, request: string) => client.quote({ request } as Found);

/** What was bought, without the proofs that only a program reads. */
function factOf(request: string, { body, text, paidUsd, report, payment }: PurchasedBody): object {
  const release = report?.release?.sequence;
  const facts = { request, url: payment.url, paid_usd: paidUsd, release };
  return { verdict: report?.verdict ?? 'unsigned', ...facts, answer: plain(body) ?? text };
}

function plain(body: JsonValue): JsonValue {
  if (!isObject(body)) return body;
  const { _citation, _hash_core, ...rest } = withoutProof(body).body as typeof body;
  return rest;
}

interface ToolTerms {
  readonly args: Args;
  readonly optional?: Args;
  readonly pays?: boolean;
  run(args: Args): Promise<object>;
}

function tool(name: string, description: string, terms: ToolTerms): ShopTool {
  const { args, optional = {}, pays = false, run } = terms;
  const all = Object.entries({ ...args, ...optional });
  return {
    name,
    description,
    pays,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        all.map(([key, text]) => [key, { type: 'string', description: text }]),
      ),
      required: Object.keys(args),
      additionalProperties: false,
    },
    async run(given) {
      try {
        return { isError: false, text: JSON.stringify(await run(argsIn(given, all, args))) };
      } catch (error) {
        const code = error instanceof ClientError ? error.code : 'misused';
        return { isError: true, text: JSON.stringify({ code, error: messageOf(error) }) };
      }
    },
  };
}

/** Only texts, under the names that a tool has. */
function argsIn(given: unknown, all: readonly (readonly [string, string])[], needed: Args): Args {
  const args = isObject(given as JsonValue) ? Object.entries(given as object) : [];
  const legal = all.map(([name]) => name);
  const odd = args.find(([name, value]) => !legal.includes(name) || typeof value !== 'string');
  if (odd !== undefined) throw new TypeError(`Cannot use "${odd[0]}": pass texts named ${legal}`);
  const missing = Object.keys(needed).filter((name) => !args.some(([own]) => own === name));
  if (missing.length > 0) throw new TypeError(`Cannot do this: ${missing} is missing`);
  return Object.fromEntries(args);
}

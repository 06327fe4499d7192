import type { RequirementsV1 } from '../../gatekeeper/money/payment.ts';
import { throwAwayPayer } from '../serve-bench/payer.ts';
import { functionTools, type OpenApiDocument } from './function-tools.ts';
import type { ShopOrigin, TokenRow } from './token-row.ts';

/** What the ways to a record ask for. */
const QUESTION = 'air quality in Denver';
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const BUNDLE = '/gauge/region?loc=us-denver';
/** Of the full form, which the short one may have. */
const THIN_SHARE = 1 / 3;

/** Descriptions, refusals and bought bodies over plain HTTP, and the ways from a question to a record. */
export async function httpRows(origin: ShopOrigin, nowMs: number): Promise<TokenRow[]> {
  const buy = buyer(origin, nowMs);
  const text = async (target: string): Promise<string> => (await fetch(origin + target)).text();
  const openApi = await text('/openapi.json');
  const rows = [
    row('/openapi.json', openApi),
    row('/openapi.json as function tools', toolsText(openApi), 12_000),
    row('/llms.txt', await text('/llms.txt')),
    row('/llms-full.txt', await text('/llms-full.txt')),
    row('/manifest', await text('/manifest')),
    row('/gauge/search', await text(`/gauge/search?q=${encodeURIComponent(QUESTION)}`), 400),
    row('402 of a record', await text(RECORD)),
    row('402 of a bundle', await text(BUNDLE)),
    row('422 of a record', await text('/gauge?signal_id=airquality.aqi')),
  ];
  const pairs = [await formsOf('record', RECORD, buy), await formsOf('bundle', BUNDLE, buy)];
  return [...rows, ...pairs.flat(), ...(await ways(text, buy))];
}

type Buy = (target: string) => Promise<string>;

function row(name: string, text: string, goal: number | null = null): TokenRow {
  return { name, text, goal };
}

function toolsText(openApi: string): string {
  return JSON.stringify(functionTools(JSON.parse(openApi) as OpenApiDocument));
}

/** A bought body in both forms; the goal of the short one is a share of the other. */
async function formsOf(name: string, target: string, buy: Buy): Promise<TokenRow[]> {
  const full = row(`bought ${name}`, await buy(target));
  const thin = row(`bought ${name}, format=thin`, await buy(`${target}&format=thin`));
  return [full, { ...thin, share: { of: full.text, atMost: THIN_SHARE } }];
}

/** Everything that a model reads from the question to the bought record: the search, the price, the body. */
async function ways(text: (target: string) => Promise<string>, buy: Buy): Promise<TokenRow[]> {
  const found = await text(`/gauge/search?q=${encodeURIComponent(QUESTION)}`);
  const price = await text(RECORD);
  const thin = `${RECORD}&format=thin`;
  return [
    row('way: search, 402, record', found + price + (await buy(RECORD))),
    row('way: search, 402, thin record', found + (await text(thin)) + (await buy(thin)), 2500),
  ];
}

function buyer(origin: ShopOrigin, nowMs: number): Buy {
  const payer = throwAwayPayer(nowMs);
  return async (target) => {
    const { accepts } = (await (await fetch(origin + target)).json()) as {
      accepts: readonly [RequirementsV1];
    };
    const headers = { 'x-payment': payer.signPayment(accepts[0]) };
    const answer = await fetch(origin + target, { headers });
    if (answer.status !== 200) {
      throw new Error(`Cannot measure "${target}": bought with ${answer.status}`);
    }
    return answer.text();
  };
}

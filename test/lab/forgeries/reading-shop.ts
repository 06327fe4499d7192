import { type JsonValue, parseJson } from '../../../compiler/contract/strict-json.ts';
import { answer } from '../../../gatekeeper/answers/answers.ts';
import { proven } from '../../../gatekeeper/rooms/proven.ts';
import { question } from '../../gatekeeper/tiny-service.ts';
import { SOLD_TARGETS, soldShop, VARIANT_TARGETS } from '../../sold-shop.ts';
import type { Delivery, Open, Trusted } from './forgery.ts';
import type { Moments } from './plan.ts';
import type { Ask } from './true-answers.ts';

const HOUR_MS = 3_600_000;
/** Hours after the release was published: all is fresh; much is late, stale or unknown; every source is dead. */
const HOURS = [0.7, 61.2, 44_000];
/** Longer bodies hold more rows of the same kind. */
const BODY_BYTES_MAX = 40_000;

export interface ReadingShop extends Trusted {
  readonly moments: Moments;
  readonly ask: Ask;
}

/** A shop that sells every operation, and what it answers at several moments; its reader's clock is behind the last. */
export async function readingShop(): Promise<ReadingShop> {
  const shop = await soldShop();
  const ask: Ask = async (target, now) => {
    const asked = question(target);
    const service = { ...shop.service, clock: () => now };
    const answered = await answer(asked, service);
    if (answered.kind !== 'content') return null;
    return (await proven(answered.content, asked, service)).body.toString('utf8');
  };
  const begin = Date.parse(shop.now);
  const moments = new Map<string, readonly Delivery[]>();
  for (const target of [...SOLD_TARGETS, ...VARIANT_TARGETS]) {
    const served: Delivery[] = [];
    for (const hours of HOURS) {
      const text = await ask(target, begin + hours * HOUR_MS);
      if (text === null || text.length > BODY_BYTES_MAX) continue;
      served.push({ target, body: parseJson(text) as Open });
    }
    moments.set(target, distinct(served));
  }
  const now = begin + (HOURS.at(-1) ?? 0) * HOUR_MS;
  const service = { ...shop.service, clock: () => now };
  return { did: shop.did, service, now, moments, ask };
}

/** Bodies without a word of the moment are served alike at all of them. */
function distinct(served: readonly Delivery[]): Delivery[] {
  const texts = new Map(served.map((one) => [JSON.stringify(one.body as JsonValue), one]));
  return [...texts.values()];
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyIdOf } from '../../../compiler/contract/citation.ts';
import { defined } from '../../../compiler/contract/defined.ts';
import { RELEASES_FOLDER } from '../../../compiler/contract/release.ts';
import { makeSealer, signingKey } from '../../../compiler/stages/seal/sealer.ts';
import { NO_SIGNATURES } from '../../../compiler/stages/seal/signature-store.ts';
import { fileOf } from '../../snapshot-folder.ts';
import { didOf } from './keys.ts';
import type { Bought, ShopLife } from './shop-life.ts';
import { SHOP } from './watcher.ts';

/** What a thief makes of genuine bodies, with the time that they had. */
export interface Forgery extends Pick<Bought, 'text'> {
  readonly name:
    | 'words around a reading'
    | 'joined, old proof'
    | 'joined, no proof'
    | 'retired key'
    | 'retired key, words around a reading';
}

const STORED = { record: 'record/crypto.spot/btc.json', census: 'census/crypto.spot.json' };

/** Bodies that the thief of the second key dates back to before the theft, and a thief of the first to before its end. */
export function forgeries(life: ShopLife): Forgery[] {
  const { plan, seeds } = life;
  const [first, second] = seeds.issuer;
  const census = genuine(life, 'census', plan.theft);
  const record = genuine(life, 'record', plan.theft);
  const words = forged(record, second);
  const joined = forged(census, second);
  const retired = forged(genuine(life, 'census', plan.firstRotation), first);
  const old = genuine(life, 'record', plan.firstRotation);
  const around = { ...forged(old, first), _proof: old.proof };
  return [
    { name: 'words around a reading', text: JSON.stringify({ ...words, _proof: record.proof }) },
    { name: 'joined, old proof', text: JSON.stringify({ ...joined, _proof: census.proof }) },
    { name: 'joined, no proof', text: JSON.stringify(joined) },
    { name: 'retired key', text: JSON.stringify(retired) },
    { name: 'retired key, words around a reading', text: JSON.stringify(around) },
  ];
}

interface Genuine {
  /** As it is stored: without the members of request time. */
  readonly text: string;
  readonly proof: string;
}

/** The last body of a product that was bought before a month. */
function genuine(
  { bodies, data }: ShopLife,
  product: 'record' | 'census',
  before: number,
): Genuine {
  const bought = defined(
    bodies.findLast((each) => each.product === product && each.month < before),
    `a ${product} that was bought before month ${before}`,
  );
  const releases = readdirSync(join(data, RELEASES_FOLDER)).sort();
  const release = defined(releases[bought.month - 1], 'the release of that month');
  const path = fileOf(join(data, RELEASES_FOLDER, release), STORED[product]);
  return { text: readFileSync(path, 'utf8'), proof: JSON.parse(bought.text)._proof };
}

/** The body with other words, signed with a key that was stolen. */
function forged({ text }: Genuine, seed: Uint8Array): object {
  const { _citation, ...body } = JSON.parse(text);
  const did = didOf(seed);
  const issuer = { name: 'Test issuer', did, keyId: keyIdOf(did), baseUrl: SHOP };
  const { claim, fact, source, retrieved_at } = _citation;
  const target = source.url.slice(SHOP.length);
  const about = { claim, fact, target, observed_at: source.published_at, retrieved_at };
  const sealer = makeSealer(issuer, signingKey(seed), NO_SIGNATURES);
  return sealer.seal({ ...body, scope: 'other words' }, about);
}

import { utf8ToBytes } from '@noble/hashes/utils.js';
import { BUILTIN } from '../catalog/builtin.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { DID_PATH } from '../catalog/static-files.ts';
import {
  builtinCatalog,
  builtinDigest,
  ownDigest,
  releaseCatalog,
  WHOLE_CATALOG_PATH,
} from '../catalog/whole-catalog.ts';
import { canonicalJson } from '../format/canonical.ts';
import { decodeBase64Url, encodeBase64Url, parseDidKey } from '../format/did-key.ts';
import { messageOf } from '../format/errors.ts';
import { KEYS_PATH, keyStanding, readKeyHistory } from '../format/key-history.ts';
import type { Release } from '../format/release.ts';
import {
  decodeUtf8,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../format/strict-json.ts';
import { basketRange, isBasket } from '../products/shapes/basket.ts';
import { atomicAmount, priceBySignal, priceRange } from '../products/shapes/price.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import { canonicalHash } from './body-check.ts';
import { isSame, rowsOf } from './relation.ts';
import type { BodyFault } from './release-fault.ts';
import type { StoredBodies, StoredBody } from './stored-bodies.ts';
import type { SignatureCheck } from './strict-signature.ts';
import { isSignedBy } from './verify-citation.ts';

/** Descriptions hold schemas and examples of records, not records. */
const DESCRIPTION = /^([a-z0-9]+\/){0,2}well-known\//;
/** The signed card that the other descriptions must agree with. */
export const CARD_PATH = 'well-known/agent-card.json';
const A2A = 'a2a/well-known/manifest.json';

export function isDescription(path: string): boolean {
  return DESCRIPTION.test(path);
}

interface DescribedRelease extends ReadCatalog {
  readonly head: Release;
  readonly isSignature: SignatureCheck;
  readonly card: StoredBody;
}

export function checkDescription(
  path: string,
  body: JsonValue,
  release: DescribedRelease,
): BodyFault[] {
  const { head, card, catalog, ownTables } = release;
  if (!isObject(body)) return [['', 'not an object']];
  if (path === CARD_PATH) return cardFaults(body, release);
  if (path === DID_PATH) return didFaults(body, head);
  if (path === KEYS_PATH) return keysFaults(body, head);
  if (path === A2A) return sameCard(body, card);
  const address = rowsOf(body.servers)[0]?.url ?? body.url;
  const faults: BodyFault[] =
    address === undefined || address === head.base_url
      ? []
      : [['url', 'not the address of the release']];
  if (!ownTables) return faults;
  return [...faults, ...priceFaults(body, catalog), ...pathFaults(body, catalog)];
}

/** The card is signed by the issuer: a JWS over its canonical JSON without the signatures. */
function cardFaults(body: JsonObject, { head, isSignature }: DescribedRelease): BodyFault[] {
  const { signatures, ...card } = body;
  const signed = rowsOf(signatures);
  if (signed.length === 0) return [['signatures', 'missing']];
  return signed.flatMap(({ protected: header, signature }, at): BodyFault[] => {
    const where = `signatures.${at}`;
    try {
      const text = String(header);
      const { alg, kid } = headerOf(text);
      if (alg !== 'EdDSA' || kid !== head.key_id) return [[where, 'not by the key of the release']];
      const message = `${text}.${encodeBase64Url(utf8ToBytes(canonicalJson(card)))}`;
      const bytes = decodeBase64Url(String(signature));
      const holds = isSignature(bytes, utf8ToBytes(message), parseDidKey(head.issuer_did));
      return holds ? [] : [[where, 'does not hold']];
    } catch (error) {
      return [[where, messageOf(error)]];
    }
  });
}

function headerOf(text: string): JsonObject {
  const header = parseJson(decodeUtf8(decodeBase64Url(text)));
  return isObject(header) ? header : {};
}

function didFaults(body: JsonObject, { key_id, issuer_did }: Release): BodyFault[] {
  const key = rowsOf(body.verificationMethod).find(({ id }) => id === key_id);
  const asserted: JsonValue[] = Array.isArray(body.assertionMethod) ? body.assertionMethod : [];
  const isListed =
    key?.controller === issuer_did && key.publicKeyMultibase === issuer_did.split(':').at(-1);
  return [
    ...(isListed ? [] : [['verificationMethod', 'does not list the key of the release'] as const]),
    ...(asserted.includes(key_id)
      ? []
      : [['assertionMethod', 'lacks the key of the release'] as const]),
  ];
}

function keysFaults(body: JsonObject, { issuer_did, as_of }: Release): BodyFault[] {
  try {
    const standing = keyStanding(readKeyHistory(body, isSignedBy), issuer_did, as_of);
    return standing === 'valid' ? [] : [['keys', `the key of the release is ${standing} in it`]];
  } catch (error) {
    return [['', messageOf(error)]];
  }
}

function sameCard(body: JsonObject, card: StoredBody): BodyFault[] {
  if (card === 'damaged') return [];
  if (card === 'absent') return [['', 'the agent card is missing']];
  const { signatures, ...unsigned } = card;
  return isSame(body, unsigned) ? [] : [['', 'differs from the signed agent card']];
}

function priceFaults(body: JsonObject, catalog: Catalog): BodyFault[] {
  return rowsOf(body.entries).flatMap((entry, at): BodyFault[] => {
    const row = catalog.operationByPath.get(String(entry.path));
    if (row === undefined) return [[`entries.${at}.path`, 'no operation of the table']];
    const fault = priceFault(entry, row, catalog);
    return fault === null ? [] : [[`entries.${at}.${fault[0]}`, fault[1]]];
  });
}

function priceFault(entry: JsonObject, row: Endpoint, { operations }: Catalog): BodyFault | null {
  const price = row.priceUsd ?? '0';
  const isPrice = entry.price_usd === price && entry.price_atomic === atomicAmount(price);
  if (!isPrice) return ['price_usd', `not "${price}", the price of the table`];
  const range = isBasket(row) ? basketRange(operations) : null;
  if (!isSame(entry.price_range_usd ?? null, range)) {
    return ['price_range_usd', 'not the prices of baskets'];
  }
  const bySignal = isSame(entry.price_by_signal ?? null, priceBySignal(row));
  return bySignal ? null : ['price_by_signal', 'not the prices of the table'];
}

function statedPrice(operation: JsonValue | undefined): JsonObject | null {
  const info = isObject(operation) ? operation['x-payment-info'] : undefined;
  const price = isObject(info) ? info.price : undefined;
  return isObject(price) ? price : null;
}

/** What it must state: one price, or the lowest and the highest where signals differ. */
function priceOfTable(row: Endpoint, { operations }: Catalog): JsonObject {
  if (isBasket(row)) return { ...basketRange(operations) };
  const { priceUsd, signalPrices } = row;
  if (priceUsd === null || signalPrices === undefined) return { amount: priceUsd };
  return { ...priceRange(row) };
}

function pathFaults({ paths }: JsonObject, catalog: Catalog): BodyFault[] {
  if (!isObject(paths)) return [];
  return Object.entries(paths).flatMap(([path, item]): BodyFault[] => {
    const row = catalog.operationByPath.get(path.replace(/\{(\w+)\}/g, ':$1'));
    const operation = isObject(item) ? (item.get ?? item.post) : undefined;
    const stated = statedPrice(operation);
    if (row === undefined || stated === null) return [];
    const wanted = Object.entries(priceOfTable(row, catalog));
    if (wanted.every(([name, price]) => stated[name] === price)) return [];
    const prices = wanted.map(([, price]) => `"${price}"`).join(' to ');
    return [[`paths.${path}`, `not ${prices}, the price of the table`]];
  });
}

/** What a release says it was compiled from, as far as this program can read it. */
export interface ReadCatalog {
  /** The built-in one where the release was compiled from other tables. */
  readonly catalog: Catalog;
  /** Whether the head was made of this catalogue and the words of this program. */
  readonly ownTables: boolean;
}

type CatalogHead = Pick<Release, 'table_digest' | 'catalog_sha256'>;

/** The catalogue of a release; an older release of other tables is no fault. */
export function readReleaseCatalog(bodies: StoredBodies, head: CatalogHead): ReadCatalog {
  const bytes = bodies.bytes(WHOLE_CATALOG_PATH);
  const entry = bodies.list.find(WHOLE_CATALOG_PATH);
  const file = bytes === null || entry === null ? null : { bytes, sha256: entry.sha256 };
  const carried = { head, file, digestOf: canonicalHash };
  try {
    return { catalog: releaseCatalog(carried), ownTables: true };
  } catch {
    return { catalog: BUILTIN, ownTables: false };
  }
}

/** Why the catalogue that a release carries is not the one of its head; null where it is. */
export function carriedFault(
  sha256: string,
  { head, ownTables }: Pick<ReadCatalog, 'ownTables'> & { readonly head: CatalogHead },
): string | null {
  const { catalog_sha256: stated = `sha256:${sha256}` } = head;
  const isSame =
    stated === `sha256:${sha256}` &&
    (!ownTables ||
      (head.table_digest === builtinDigest(canonicalHash)
        ? canonicalHash(builtinCatalog().file) === `sha256:${sha256}`
        : head.table_digest === ownDigest(sha256, canonicalHash)));
  return isSame ? null : 'not the catalogue that the head was made of';
}

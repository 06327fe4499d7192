import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeBase64Url } from '../../../compiler/contract/did-key.ts';
import type { KeyHistory } from '../../../compiler/contract/key-history.ts';
import { jwsInput, type ReceiptPayload } from '../../../compiler/contract/signed-receipt.ts';
import { signBytes } from '../../../compiler/stages/seal/sealer.ts';
import type { Delivery } from '../forgeries/forgery.ts';
import type { ReaderCase, ReaderDemands } from './body-vector.ts';
import { FIRST, type Key, RECEIPTS, SECOND, statementsAround, THIEF } from './key-lists.ts';

const PAYER = `0x${'2'.repeat(40)}`;

/** What is said of a receipt: a name, the verdict, what its reader knows, and another receipt. */
type Row = readonly [about: string, want: ReaderCase['want'], reader: ReaderDemands, text?: string];

/** Receipts for a body, judged with what their reader knows of the sale and of the keys. */
export function receiptCases({ target, body }: Delivery): ReaderCase[] {
  const { retrieved_at } = body._citation as unknown as { readonly retrieved_at: string };
  const by = statementsAround(retrieved_at);
  const delivered = JSON.stringify(body);
  const payload: ReceiptPayload = {
    ...{ version: 1, network: 'eip155:8453', payer: PAYER, transaction: `0x${'3'.repeat(64)}` },
    resourceUrl: `https://shop.example${target}`,
    issuedAt: Math.floor(Date.parse(retrieved_at) / 1000),
    bodyHash: `sha256:${bytesToHex(sha256(utf8ToBytes(delivered)))}`,
  };
  const good = listed(by.withReceipts(by.list(2), by.receiptKey(-1, null)));
  const rows = [
    ...keyRows(by, good),
    ...saleRows({ target, delivered }, good),
    ...textRows(payload, good),
  ];
  return rows.map(([about, want, reader, text = receipt(payload)]) => ({
    class: 'receipt',
    about: `${target} ${about}`,
    text,
    want,
    reader: { issuers: [FIRST.did], ...reader },
  }));
}

function listed(history: KeyHistory): ReaderDemands {
  return { keys: JSON.stringify(history) };
}

/** Which key signed it, by which list. */
function keyRows(by: ReturnType<typeof statementsAround>, good: ReaderDemands): Row[] {
  const receipts = (...keys: Parameters<typeof by.withReceipts>[1][]): ReaderDemands =>
    listed(by.withReceipts(by.list(2), ...keys));
  const open = by.receiptKey(-2, null);
  const rooted = by.root({ receipt_keys: [{ did: RECEIPTS.did, since: by.at(-1), until: null }] });
  const revoked = by.withReceipts(by.list(2, [by.revocation(5)]), by.receiptKey(-1, null));
  const unlisted = by.withReceipts(by.rooted(by.root()), by.receiptKey(-1, null));
  return [
    ['by a listed key', 'verified', good],
    ['without a list', 'unlisted', {}],
    ['by a key of another list', 'failed', listed(by.list(2))],
    ['by a key that ended', 'failed', receipts(open, by.receiptKey(-2, -1))],
    ['by a key that ends later', 'verified', receipts(open, by.receiptKey(-2, 1))],
    ['by a key of later', 'failed', receipts(by.receiptKey(1, null))],
    ['listed by a revoked key', 'failed', listed(revoked)],
    ['listed by the key before', 'failed', { ...good, issuers: [SECOND.did] }],
    ['listed by the root', 'verified', listed(by.rooted(rooted))],
    ['not listed by the root', 'failed', listed(unlisted)],
    ['of a trusted stranger', 'failed', { ...good, issuers: [THIEF.did] }],
  ];
}

/** What its reader knows of the sale. */
function saleRows(
  { target, delivered }: { readonly target: string; readonly delivered: string },
  good: ReaderDemands,
): Row[] {
  const [path] = target.split('?');
  return [
    ['for the body', 'verified', { ...good, delivered }],
    ['for another body', 'failed', { ...good, delivered: `${delivered} ` }],
    ['for the request', 'verified', { ...good, expect: `GET ${target}` }],
    ['at its address', 'verified', { ...good, expect: `https://SHOP.example${target}` }],
    ['elsewhere', 'failed', { ...good, expect: `https://other.example${target}` }],
    ['for another request', 'failed', { ...good, expect: `GET ${path}?entity=x` }],
    ['of the payer', 'verified', { ...good, payer: PAYER }],
    ['of another payer', 'failed', { ...good, payer: `0x${'4'.repeat(40)}` }],
  ];
}

/** The ways in which it comes, and how it must not be spelled. */
function textRows(payload: ReceiptPayload, good: ReaderDemands): Row[] {
  const genuine = receipt(payload);
  const info = { receipt: { format: 'jws', signature: genuine } };
  const value = JSON.stringify({ success: true, extensions: { 'offer-receipt': { info } } });
  const changed = (members: object): string => receipt({ ...payload, ...members });
  return [
    ['as the value of its header', 'verified', good, btoa(value)],
    ['as the JSON of its header', 'verified', good, value],
    ['signed by another', 'failed', good, receipt(payload, THIEF)],
    ['signed by another in its name', 'failed', good, receipt(payload, RECEIPTS, THIEF)],
    ['with a member more', 'failed', good, changed({ note: 'x' })],
    ['simulated', 'verified', good, changed({ simulated: true })],
    ['not simulated', 'failed', good, changed({ simulated: false })],
    ['of another version', 'failed', good, changed({ version: 2 })],
    ['altered', 'failed', good, genuine.replace(/.{9}$/, 'AAAAAAAAA')],
    ['in another spelling', 'failed', good, respelled(payload)],
  ];
}

function receipt(payload: ReceiptPayload, named: Key = RECEIPTS, signer: Key = named): string {
  return signed(jwsInput(named.did, payload), signer);
}

function signed(input: string, { secret }: Key): string {
  return `${input}.${signBytes(utf8ToBytes(input), secret)}`;
}

/** Signed, but not in canonical JSON. */
function respelled(payload: ReceiptPayload): string {
  const parts = [{ alg: 'EdDSA', kid: RECEIPTS.did }, payload];
  return signed(
    parts.map((part) => encodeBase64Url(utf8ToBytes(JSON.stringify(part, null, 1)))).join('.'),
    RECEIPTS,
  );
}

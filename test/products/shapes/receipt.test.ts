import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import {
  firstHistory,
  type ReceiptKey,
  readKeyHistory,
  receiptKeyStanding,
  withReceiptKeys,
} from '../../../compiler/format/key-history.ts';
import { type JsonObject, parseJson } from '../../../compiler/format/strict-json.ts';
import {
  jwsInput,
  parseReceipt,
  parseSignedReceipt,
  type Receipt,
  unsignedReceipt,
} from '../../../compiler/products/shapes/receipt.ts';
import { isSignedBy } from '../../../compiler/verify/verify-citation.ts';
import { SIGNER_DID } from '../../gatekeeper/payer.ts';

const RECEIPT_CHARS_MAX = 12_000;
const SIGNATURE = 'A'.repeat(86);
const HEAD = 'GET /gauge?entity=';

/** A receipt, of no signature, whose request is written with so many bytes. */
function receiptOf(bytes: number): { readonly receipt: Receipt; readonly text: string } {
  const room = bytes - HEAD.length;
  // Two bytes a letter: a request has fewer letters than a receipt has bytes.
  const resource = HEAD + 'é'.repeat(room >> 1) + 'x'.repeat(room % 2);
  const expires = 1_800_000_000;
  const receipt = { amount: '10200', currency: 'USD', expires, id: 'A'.repeat(22), resource };
  const checked = receipt as Receipt;
  return { receipt: checked, text: `${unsignedReceipt(checked).text}.${SIGNATURE}` };
}

describe('parseReceipt()', () => {
  // Of the four lengths that base64url might have one does not exist, so one byte more is two characters.
  const bytesAt = (chars: number): number => {
    for (let bytes = HEAD.length; ; bytes += 1) {
      if (receiptOf(bytes).text.length >= chars) return bytes;
    }
  };
  const longest = bytesAt(RECEIPT_CHARS_MAX);

  it('I43: takes a receipt that is as long as one may be', () => {
    const { receipt, text } = receiptOf(longest);
    expect(text).toHaveLength(RECEIPT_CHARS_MAX);
    expect(parseReceipt(text)?.receipt).toEqual(receipt);
  });

  it('I43: refuses the next longer one', () => {
    const { text } = receiptOf(longest + 1);
    expect(text).toHaveLength(RECEIPT_CHARS_MAX + 2);
    expect(parseReceipt(text)).toBeNull();
  });
});

const PAYLOAD = {
  version: 1,
  network: 'eip155:8453',
  resourceUrl: 'https://records.example/gauge?entity=a&signal_id=b',
  payer: `0x${'ab'.repeat(20)}`,
  issuedAt: 1_763_640_000,
  transaction: `0x${'12'.repeat(32)}`,
  bodyHash: `sha256:${'34'.repeat(32)}`,
};
const jws = (payload: JsonObject = PAYLOAD, did = SIGNER_DID) =>
  `${jwsInput(did, payload)}.${SIGNATURE}`;
const part = (value: string) => Buffer.from(value).toString('base64url');

describe('parseSignedReceipt()', () => {
  it('reads what was written, with or without money', () => {
    expect(parseSignedReceipt(jws())).toMatchObject({ payload: PAYLOAD, did: SIGNER_DID });
    const simulated = { ...PAYLOAD, simulated: true };
    expect(parseSignedReceipt(jws(simulated))).toMatchObject({ payload: simulated });
  });

  const header = part(`{"alg":"EdDSA","kid":"${SIGNER_DID}"}`);
  const spaced = part(JSON.stringify(PAYLOAD, null, 1));
  const [head = '', body = ''] = jws().split('.');
  it.each([
    ['two parts', `${head}.${body}`, 'not a compact JWS'],
    ['padding', `${head}.${body}=.${SIGNATURE}`, 'not a compact JWS'],
    ['a short signature', jws().slice(0, -1), 'not a compact JWS'],
    ['a long text', jws({ ...PAYLOAD, transaction: 'x'.repeat(20_000) }), 'not a compact JWS'],
    ['no algorithm', `${part('{"alg":"none"}')}.${body}.${SIGNATURE}`, 'its header'],
    ['another key', jws(PAYLOAD, 'did:web:records.example'), 'its header'],
    [
      'a key of its own',
      `${part(`{"alg":"EdDSA","jwk":{},"kid":"${SIGNER_DID}"}`)}.${body}.${SIGNATURE}`,
      'its header',
    ],
    ['white space', `${header}.${spaced}.${SIGNATURE}`, 'canonical JSON'],
    [
      'a member twice',
      `${header}.${part('{"version":1,"version":1}')}.${SIGNATURE}`,
      'its payload',
    ],
    [
      'no text',
      `${header}.${Buffer.from([0xff, 0xfe, 0xfd]).toString('base64url')}.${SIGNATURE}`,
      'its payload',
    ],
    ['another member', jws({ ...PAYLOAD, more: 1 }), 'its payload'],
    ['another version', jws({ ...PAYLOAD, version: 2 }), '"version"'],
    ['upper case in the payer', jws({ ...PAYLOAD, payer: `0x${'AB'.repeat(20)}` }), '"payer"'],
    ['no hash', jws({ ...PAYLOAD, bodyHash: null }), '"bodyHash"'],
    ['a time that is no number', jws({ ...PAYLOAD, issuedAt: '1' }), '"issuedAt"'],
    ['money that is not said', jws({ ...PAYLOAD, simulated: false }), '"simulated"'],
  ])('refuses %s', (_, text, why) => {
    expect(parseSignedReceipt(text)).toContain(why);
  });
});

const TEXT = readFileSync(new URL('../../../compiler/format/AUDIT.md', import.meta.url), 'utf8');
const RECEIPTS = TEXT.slice(TEXT.indexOf('## 6. Receipts'), TEXT.indexOf('## 7.'));
const [statement = '', payload = ''] = [...RECEIPTS.matchAll(/```json\n(.*)\n```/g)].map(
  ([, line = '']) => line,
);
const [, shownJws = ''] = /```text\n(.*)\n```/.exec(RECEIPTS) ?? [];
const stated = parseJson(statement) as unknown as ReceiptKey;

describe('AUDIT.md on receipts', () => {
  it('I28: shows a statement that the key of FORMAT.md signed, and that counts', () => {
    const keys = withReceiptKeys(firstHistory(stated.signed_by), [stated]);
    expect(readKeyHistory(JSON.parse(JSON.stringify(keys)), isSignedBy)).toEqual(keys);
    expect(receiptKeyStanding(keys, stated.did, '2026-11-21T00:00:00Z')).toBe('listed');
    expect(canonicalJson(stated)).toBe(statement);
    const later = withReceiptKeys(keys, [{ ...stated, since: '2026-11-19T00:00:00Z' }]);
    expect(() => readKeyHistory(later, isSignedBy)).toThrow('is not that of');
  });

  it('I28: shows a receipt that the listed key signed, with the members that are named', () => {
    const receipt = parseSignedReceipt(shownJws);
    if (typeof receipt === 'string') throw new Error(receipt);
    expect(receipt.did).toBe(stated.did);
    expect(isSignedBy(receipt.did, receipt.signed, receipt.signature)).toBe(true);
    expect(canonicalJson(receipt.payload)).toBe(payload);
    for (const name of [...Object.keys(receipt.payload), 'simulated']) {
      expect(RECEIPTS).toContain(`\`${name}\``);
    }
  });
});

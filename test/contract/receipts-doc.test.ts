import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import {
  firstHistory,
  type ReceiptKey,
  readKeyHistory,
  receiptKeyStanding,
  withReceiptKeys,
} from '../../compiler/contract/key-history.ts';
import { parseSignedReceipt } from '../../compiler/contract/receipt.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { isSignedBy } from '../../compiler/verify/verify-citation.ts';

const TEXT = readFileSync(new URL('../../compiler/contract/RECEIPTS.md', import.meta.url), 'utf8');
const [statement = '', payload = ''] = [...TEXT.matchAll(/```json\n(.*)\n```/g)].map(
  ([, line = '']) => line,
);
const [, jws = ''] = /```text\n(.*)\n```/.exec(TEXT) ?? [];
const stated = parseJson(statement) as unknown as ReceiptKey;

describe('RECEIPTS.md', () => {
  it('I28: shows a statement that the key of FORMAT.md signed, and that counts', () => {
    const keys = withReceiptKeys(firstHistory(stated.signed_by), [stated]);
    expect(readKeyHistory(JSON.parse(JSON.stringify(keys)), isSignedBy)).toEqual(keys);
    expect(receiptKeyStanding(keys, stated.did, '2026-11-21T00:00:00Z')).toBe('listed');
    expect(canonicalJson(stated)).toBe(statement);
    const later = withReceiptKeys(keys, [{ ...stated, since: '2026-11-19T00:00:00Z' }]);
    expect(() => readKeyHistory(later, isSignedBy)).toThrow('is not that of');
  });

  it('I28: shows a receipt that the listed key signed, with the members of the table', () => {
    const receipt = parseSignedReceipt(jws);
    if (typeof receipt === 'string') throw new Error(receipt);
    expect(receipt.did).toBe(stated.did);
    expect(isSignedBy(receipt.did, receipt.signed, receipt.signature)).toBe(true);
    expect(canonicalJson(receipt.payload)).toBe(payload);
    const listed = [...TEXT.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual([...Object.keys(receipt.payload), 'simulated'].sort());
  });

  it('speaks of no machine', () => {
    expect(TEXT).not.toMatch(/\/(home|tmp|work|root)\//);
  });
});

import { describe, expect, it } from 'vitest';
import { parseReceipt, type Receipt, unsignedReceipt } from '../../compiler/contract/receipt.ts';

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

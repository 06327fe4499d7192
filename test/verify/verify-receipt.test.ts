import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  firstHistory,
  formatKeyHistory,
  type KeyHistory,
} from '../../compiler/format/key-history.ts';
import type { JsonObject } from '../../compiler/format/strict-json.ts';
import { runVerify, type VerifyCommandOptions } from '../../compiler/verify/verify-command.ts';
import { type KnownSale, receiptIn, verifyReceipt } from '../../compiler/verify/verify-receipt.ts';
import { listedSigner, listingKeys, SIGNER_DID } from '../gatekeeper/payer.ts';
import { tinyKey } from '../gatekeeper/tiny-release.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalpress-receipt-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ISSUER = tinyKey(1).did;
const BODY = Buffer.from('{"body":1}');
const PAID_URL = 'https://records.example/gauge?entity=us-denver&signal_id=airquality.aqi';
const PAYER = `0x${'ab'.repeat(20)}`;
const OTHER_PAYER = `0x${'cd'.repeat(20)}`;
const PAYLOAD = {
  version: 1,
  network: 'eip155:8453',
  resourceUrl: PAID_URL,
  payer: PAYER,
  issuedAt: Date.parse('2026-11-21T12:00:00Z') / 1000,
  transaction: `0x${'12'.repeat(32)}`,
  bodyHash: `sha256:${createHash('sha256').update(BODY).digest('hex')}`,
};
const signed = (change: JsonObject = {}, seed?: string) =>
  listedSigner(listingKeys(), seed).sign({ ...PAYLOAD, ...change });
const RECEIPT = signed();
const SALE: KnownSale = {
  body: BODY,
  expect: 'GET /gauge?signal_id=airquality.aqi&entity=us-denver',
  payer: PAYER.toUpperCase().replace('X', 'x'),
};
const sale = (change: KnownSale): KnownSale => ({ ...SALE, ...change });

/** The verdict, and which checks failed. */
function judged(jws: string, by = SALE, keys: KeyHistory | null = listingKeys()) {
  const known = keys === null ? {} : { keys };
  const { verdict, checks, receipt } = verifyReceipt(jws, { trust: [ISSUER], ...known }, by);
  const failed = checks.filter(({ status }) => status === 'fail').map(({ check }) => check);
  return { verdict, failed, receipt };
}

describe('verifyReceipt()', () => {
  it('I28: holds for the payer, the request and the bytes of the sale', () => {
    expect(judged(RECEIPT)).toEqual({ verdict: 'verified', failed: [], receipt: PAYLOAD });
    expect(judged(RECEIPT, sale({ expect: PAID_URL })).verdict).toBe('verified');
    expect(judged(RECEIPT, {}).verdict).toBe('verified');
  });

  it.each([
    ['payer', sale({ payer: OTHER_PAYER })],
    ['expect', sale({ expect: '/gauge?entity=us-boise&signal_id=airquality.aqi' })],
    ['expect', sale({ expect: '/preview?entity=us-denver&signal_id=airquality.aqi' })],
    ['expect', sale({ expect: '/gauge?entity=us-denver' })],
    ['expect', sale({ expect: PAID_URL.replace('records', 'other') })],
    ['body', sale({ body: Buffer.from('{"body":2}') })],
    ['body', sale({ body: Buffer.alloc(0) })],
  ])('I28: fails for another %s (%#)', (check, by) => {
    expect(judged(RECEIPT, by)).toMatchObject({ verdict: 'failed', failed: [check] });
  });

  const stranger = { ...listingKeys(), ...firstHistory(tinyKey(2).did) };
  it.each([
    ['a key that nobody lists', signed({}, '09'.repeat(32)), listingKeys()],
    ['a list without receipt keys', RECEIPT, firstHistory(ISSUER)],
    ['a key that had ended', RECEIPT, listingKeys({}, { until: '2026-11-21T11:59:59Z' })],
    ['a key that began later', RECEIPT, listingKeys({ since: '2026-11-21T12:00:01Z' })],
    ['a list that a stranger began', RECEIPT, stranger],
  ])('I28: fails for %s', (_, jws, keys) => {
    expect(judged(jws, SALE, keys)).toMatchObject({ verdict: 'failed', failed: ['key'] });
  });

  it('I28: fails with the list of another issuer, whatever that one states', () => {
    const { checks } = verifyReceipt(RECEIPT, { trust: [ISSUER], keys: stranger }, SALE);
    expect(checks.find(({ check }) => check === 'key')?.detail).toContain(
      'not that of the trusted',
    );
  });

  it('I28: a key that ended goes on counting for what it signed before', () => {
    const keys = listingKeys({}, { until: '2026-11-21T12:00:00Z' });
    expect(judged(RECEIPT, SALE, keys).verdict).toBe('verified');
  });

  it('I28: fails where a member or the signature was altered, and shows nothing of it', () => {
    const [header, , signature] = RECEIPT.split('.');
    const [, other] = signed({ payer: OTHER_PAYER }).split('.');
    const forged = `${header}.${other}.${signature}`;
    expect(judged(forged, {})).toEqual({ verdict: 'failed', failed: ['signature'], receipt: null });
    const flipped = RECEIPT.replace(/.{2}$/, (end) => (end === 'AA' ? 'BA' : 'AA'));
    expect(judged(flipped, {}).verdict).toBe('failed');
    expect(judged('a.b.c', {})).toMatchObject({ verdict: 'failed', failed: ['receipt'] });
  });

  it('I28: without a list of keys or an issuer nothing is called verified', () => {
    expect(judged(RECEIPT, SALE, null).verdict).toBe('unlisted');
    const unpinned = verifyReceipt(RECEIPT, { trust: 'any', keys: listingKeys() }, SALE);
    expect(unpinned.verdict).toBe('issuer_unknown');
  });

  it('says what is no request and no payer', () => {
    expect(() => judged(RECEIPT, { expect: 'gauge' })).toThrow('not a request such as');
    expect(() => judged(RECEIPT, { payer: 'alice' })).toThrow('not 0x and 40 hex digits');
  });
});

describe('receiptIn()', () => {
  const settled = (more: object) => ({
    success: true,
    extensions: { 'offer-receipt': { info: { receipt: { format: 'jws', ...more } } } },
  });
  const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64');

  it('finds a receipt alone, in its object, and in the header', () => {
    const forms = [
      RECEIPT,
      ` ${RECEIPT}\n`,
      JSON.stringify({ format: 'jws', signature: RECEIPT }),
      JSON.stringify(settled({ signature: RECEIPT })),
      base64(settled({ signature: RECEIPT })),
    ];
    for (const form of forms) expect(receiptIn(form)).toBe(RECEIPT);
  });

  it.each([
    ['a body', '{"signal_id":"a","_citation":{}}'],
    ['a header without one', base64({ success: true, transaction: '0x1' })],
    ['a failed settlement', base64({ ...settled({ signature: RECEIPT }), success: false })],
    ['another format', base64(settled({ format: 'eip712', signature: '0x1' }))],
    ['base64 of no length', 'abcde'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0xfd]).toString('base64')],
    ['a long text', `${'a'.repeat(70_000)}.b.c`],
    ['nothing', ''],
  ])('finds none in %s', (_, text) => {
    expect(receiptIn(text)).toBeNull();
  });
});

describe('signalpress verify RECEIPT', () => {
  const file = (name: string, text: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const keys = file('keys.json', formatKeyHistory(listingKeys()));
  const body = file('body.json', BODY);
  const receipt = file('receipt.txt', RECEIPT);
  const given = { issuer: [ISSUER], keys, body, expect: PAID_URL };
  const code = async (target: string, change: VerifyCommandOptions = {}) =>
    (await runVerify(target, { ...given, ...change })).exitCode;

  it('0: a file, the value itself, and standard input', async () => {
    expect(await code(receipt)).toBe(0);
    expect(await code(RECEIPT)).toBe(0);
    expect(await code('-', { readStdin: () => Buffer.from(RECEIPT) })).toBe(0);
    const { text } = await runVerify(receipt, given);
    expect(text).toContain('verified  receipt\n');
    expect(text).toContain(`  bodyHash ${PAYLOAD.bodyHash}\n`);
    expect(text).toContain('ok key: the issuer lists the key for 2026-11-21T12:00:00Z');
  });

  it('1: another body, another request, and a key that is not listed', async () => {
    expect(await code(receipt, { body: keys })).toBe(1);
    expect(await code(receipt, { expect: '/gauge?entity=us-boise' })).toBe(1);
    expect(await code(signed({}, '09'.repeat(32)))).toBe(1);
    const { text } = await runVerify(receipt, { ...given, body: keys, json: true });
    expect(JSON.parse(text)).toMatchObject({ verdict: 'failed', exit_code: 1, signer: SIGNER_DID });
  });

  it('2: without the list, without an issuer, and with options of the other kind', async () => {
    const { keys: _, ...unlisted } = given;
    expect((await runVerify(receipt, unlisted)).exitCode).toBe(2);
    const { issuer: __, ...unpinned } = given;
    expect((await runVerify(receipt, unpinned)).exitCode).toBe(2);
    const misused = await runVerify(body, given);
    expect(misused.exitCode).toBe(2);
    expect(misused.text).toContain('--body is about a receipt');
    expect(await code('no.such.file')).toBe(2);
  });
});

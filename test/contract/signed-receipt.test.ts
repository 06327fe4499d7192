import { describe, expect, it } from 'vitest';
import { jwsInput, parseSignedReceipt } from '../../compiler/contract/receipt.ts';
import type { JsonObject } from '../../compiler/contract/strict-json.ts';
import { SIGNER_DID } from '../gatekeeper/listed-signer.ts';

const PAYLOAD = {
  version: 1,
  network: 'eip155:8453',
  resourceUrl: 'https://records.example/gauge?entity=a&signal_id=b',
  payer: `0x${'ab'.repeat(20)}`,
  issuedAt: 1_763_640_000,
  transaction: `0x${'12'.repeat(32)}`,
  bodyHash: `sha256:${'34'.repeat(32)}`,
};
const SIGNATURE = 'A'.repeat(86);
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

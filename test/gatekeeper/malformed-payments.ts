import { encoded, type SignedPayment } from './payer.ts';

type Fields = Record<string, unknown>;

const b64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64');

/** Header values that are no v1 payment, each made from a good one; name -> value. */
export function malformedPayments({ authorization, signature }: SignedPayment): [string, string][] {
  const good: Fields = {
    x402Version: 1,
    scheme: 'exact',
    network: 'base',
    payload: { signature, authorization },
  };
  const text = JSON.stringify(good);
  const whole = (fields: Fields) => encoded({ ...good, ...fields });
  const payload = (fields: Fields) => whole({ payload: { signature, authorization, ...fields } });
  const auth = (fields: Fields) => payload({ authorization: { ...authorization, ...fields } });
  const without = (name: string) =>
    payload({
      authorization: Object.fromEntries(Object.entries(authorization).filter(([k]) => k !== name)),
    });
  const twice = (from: string, to: string) => b64(text.replace(from, to));
  return [
    ['empty', ''],
    ['blank', ' '],
    ['not base64', '%%%'],
    ['base64url letters', encoded({ x: '???>>>' }).replaceAll('/', '_')],
    [
      'without its padding',
      b64(`${text} `.padEnd(Math.ceil((text.length + 1) / 3) * 3 + 1)).replaceAll('=', ''),
    ],
    ['joined repeat', `${encoded(good)}, ${encoded(good)}`],
    ['good one, then junk', `${encoded(good)}, BAD`],
    ['inner blank', ` ${encoded(good)}`],
    ['junk character inside', encoded(good).replace(/^(.{8})/, '$1\u00e9')],
    ['too long', encoded({ ...good, pad: 'x'.repeat(8192) })],
    ['not JSON', b64('hello')],
    ['text after the JSON', b64(`${text} {}`)],
    ['bad UTF-8', b64(Uint8Array.of(0x22, 0xff, 0x22))],
    ['byte order mark', b64(`\ufeff${text}`)],
    ['duplicate key', twice('"scheme"', '"scheme":"exact","scheme"')],
    ['duplicate value', twice('"value"', '"value":"1","value"')],
    ['reserved key', twice('"scheme"', '"__proto__":{},"scheme"')],
    ['null', b64('null')],
    ['array', b64('[]')],
    ['string', b64('"x"')],
    ['deep', b64('['.repeat(500) + ']'.repeat(500))],
    ['version 2 in a v1 header', whole({ x402Version: 2 })],
    ['version 3', whole({ x402Version: 3 })],
    ['version as text', whole({ x402Version: '1' })],
    ['no version', whole({ x402Version: undefined })],
    ['scheme upto', whole({ scheme: 'upto' })],
    ['scheme empty', whole({ scheme: '' })],
    ['scheme number', whole({ scheme: 1 })],
    ['network unknown', whole({ network: 'ethereum' })],
    ['network of the test chain', whole({ network: 'base-sepolia' })],
    ['network as CAIP-2', whole({ network: 'eip155:8453' })],
    ['no payload', whole({ payload: undefined })],
    ['payload null', whole({ payload: null })],
    ['payload of another scheme', payload({ permit2Authorization: {} })],
    ['no signature', payload({ signature: undefined })],
    ['signature without 0x', payload({ signature: signature.slice(2) })],
    ['signature of 64 bytes', payload({ signature: signature.slice(0, -2) })],
    ['signature of 66 bytes', payload({ signature: `${signature}00` })],
    ['signature of a contract wallet', payload({ signature: `0x${'ab'.repeat(400)}` })],
    ['signature with odd digits', payload({ signature: `${signature}0` })],
    ['signature not hex', payload({ signature: signature.replace(/.$/, 'g') })],
    ['signature with v 0', payload({ signature: `${signature.slice(0, -2)}00` })],
    ['signature with v 29', payload({ signature: `${signature.slice(0, -2)}1d` })],
    ['signature of zeros', payload({ signature: `0x${'00'.repeat(64)}1b` })],
    ['signature flipped', payload({ signature: flipped(signature) })],
    ...Object.keys(authorization).map((n): [string, string] => [`no ${n}`, without(n)]),
    ['extra authorization key', auth({ spender: authorization.to })],
    ['from not an address', auth({ from: '0x12' })],
    ['from of somebody else', auth({ from: `0x${'1'.repeat(40)}` })],
    ['to of somebody else', auth({ to: `0x${'1'.repeat(40)}` })],
    ['value as number', auth({ value: Number(authorization.value) })],
    ['value as hex', auth({ value: '0x2710' })],
    ['value with leading zero', auth({ value: `0${authorization.value}` })],
    ['value with blank', auth({ value: ` ${authorization.value}` })],
    ['value negative', auth({ value: '-1' })],
    ['value with point', auth({ value: '10000.0' })],
    ['value empty', auth({ value: '' })],
    ['value beyond uint256', auth({ value: String(2n ** 256n) })],
    ['value of 79 digits', auth({ value: '9'.repeat(79) })],
    ['value raised after signing', auth({ value: `${authorization.value}0` })],
    ['validBefore stretched after signing', auth({ validBefore: `${authorization.validBefore}0` })],
    ['validAfter moved after signing', auth({ validAfter: '0' })],
    ['nonce of 31 bytes', auth({ nonce: authorization.nonce.slice(0, -2) })],
    ['nonce without 0x', auth({ nonce: authorization.nonce.slice(2) })],
    ['nonce swapped after signing', auth({ nonce: `0x${'2'.repeat(64)}` })],
    ['nonce as array', auth({ nonce: [authorization.nonce] })],
  ];
}

function flipped(signature: string): string {
  const digit = signature[10] === '0' ? '1' : '0';
  return signature.slice(0, 10) + digit + signature.slice(11);
}

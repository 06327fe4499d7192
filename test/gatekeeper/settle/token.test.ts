import { createHash, createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TOKEN_DAYS_MAX, tokenSecrets } from '../../../gatekeeper/settle/token.ts';
import { TINY_NOW } from '../tiny-release.ts';
import { SECRET, tinyTokens } from '../tiny-service.ts';

const tokens = tinyTokens();
const { token, expires_at } = tokens.mint();
const [version = '', plan = '', expires = '', id = '', mac = ''] = token.split('.');
const text = `${version}.${plan}.${expires}.${id}`;
const hmac = (body: string, key = SECRET, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(body).digest('base64url');
const b64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const flip = (at: number) =>
  `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Tokens that look like ours and are none, by what is wrong with them. */
const FORGED: readonly (readonly [string, string])[] = [
  ...Array.from(token, (_, at) => [`another character at ${at}`, flip(at)] as const),
  ...Array.from(
    { length: 40 },
    (_, at) => [`cut after ${at * 2}`, token.slice(0, at * 2)] as const,
  ),
  ['one character more', `${token}A`],
  ['a line end behind it', `${token}\n`],
  ['a space in front of it', ` ${token}`],
  ['padding', `${token}=`],
  ['upper case', token.toUpperCase()],
  ['base64 in place of base64url', `${text}.${Buffer.from(mac, 'base64url').toString('base64')}`],
  ['hex', `${text}.${Buffer.from(mac, 'base64url').toString('hex')}`],
  ['percent-encoded dots', token.replaceAll('.', '%2E')],
  ['a later end', `${version}.${plan}.${Number(expires) + 1}.${id}.${mac}`],
  ['an end with a plus', `${version}.${plan}.+${expires}.${id}.${mac}`],
  ['an end with a zero in front', `${version}.${plan}.0${expires}.${id}.${mac}`],
  ['an end in exponent form', `${version}.${plan}.1e10.${id}.${mac}`],
  ['another plan', `${version}.everything.${expires}.${id}.${mac}`],
  ['another version', `sp2.${plan}.${expires}.${id}.${mac}`],
  ['no MAC', `${text}.`],
  ['two MACs', `${token}.${mac}`],
  ['the MAC of another secret', `${text}.${hmac(`signalpress-token\n${text}`, 'another secret')}`],
  ['the MAC of no secret', `${text}.${hmac(`signalpress-token\n${text}`, '')}`],
  ['the MAC without its purpose', `${text}.${hmac(text)}`],
  ['the MAC of SHA-512', `${text}.${hmac(`signalpress-token\n${text}`, SECRET, 'sha512')}`],
  [
    'a cut MAC of SHA-512',
    `${text}.${hmac(`signalpress-token\n${text}`, SECRET, 'sha512').slice(0, 43)}`,
  ],
  ['the MAC of SHA-1', `${text}.${hmac(`signalpress-token\n${text}`, SECRET, 'sha1')}`],
  [
    'a bare hash',
    `${text}.${createHash('sha256').update(`signalpress-token\n${text}`).digest('base64url')}`,
  ],
  [
    'a hash of secret and text',
    `${text}.${createHash('sha256')
      .update(SECRET + text)
      .digest('base64url')}`,
  ],
  ['zeros', `${text}.${'A'.repeat(43)}`],
  ['a JWT without algorithm', `${b64({ alg: 'none' })}.${b64({ plan, exp: 9e9 })}.`],
  [
    'a JWT with HS256',
    `${b64({ alg: 'HS256' })}.${b64({ plan })}.${hmac(`${b64({ alg: 'HS256' })}.${b64({ plan })}`)}`,
  ],
  [
    'an RSA signature',
    `${text}.${createSign('sha256').update(text).sign(privateKey, 'base64url')}`,
  ],
  ['nothing', ''],
  ['a NUL', `${token}\0`],
  ['a long text', 'A'.repeat(8000)],
  ['many dots', '.'.repeat(4000)],
];

/** Other spellings of the last character of a MAC carry the same 32 bytes: they must be refused all the same. */
const RESPELT = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
  .map((last) => `${token.slice(0, -1)}${last}`)
  .filter((other) => other !== token);

describe('tokenService()', () => {
  it('I45: accepts its own token until the second it ends', () => {
    expect(tokens.check(token)).toBe('valid');
    const at = (ms: number) => tinyTokens({ clock: () => ms }).check(token);
    const end = Date.parse(expires_at);
    expect(end - TINY_NOW).toBeLessThanOrEqual(30 * 86_400_000);
    expect([at(end - 1), at(end), at(end + 1), at(0)]).toEqual([
      'valid',
      'expired',
      'expired',
      'valid',
    ]);
  });

  it('I45: accepts none of 184 and more forged, truncated, re-encoded or algorithm-confused tokens', () => {
    const all = [...FORGED.map(([, forged]) => forged), ...RESPELT];
    expect(new Set(all).size).toBeGreaterThanOrEqual(184);
    const accepted = all.filter((forged) => tokens.check(forged) !== 'invalid');
    expect(accepted).toEqual([]);
  });

  it('I45: respelt MACs do carry the same bytes, so that the refusal above means something', () => {
    const bytes = Buffer.from(mac, 'base64url');
    const same = RESPELT.filter((other) =>
      Buffer.from(other.slice(-43), 'base64url').equals(bytes),
    );
    expect(same.length).toBe(3);
  });

  it('I45: accepts no text that it did not mint', () => {
    fc.assert(fc.property(fc.string({ maxLength: 120 }), (any) => tokens.check(any) === 'invalid'));
    const near = fc.tuple(fc.nat(token.length - 1), fc.string({ minLength: 1, maxLength: 3 }));
    fc.assert(
      fc.property(near, ([at, put]) => {
        const other = token.slice(0, at) + put + token.slice(at + put.length);
        return other === token || tokens.check(other) === 'invalid';
      }),
    );
  });

  it('I45: accepts the old secret beside the new one, and mints with the new one', () => {
    const old = SECRET;
    const fresh = 'another secret for tests also long enough';
    const rotating = tinyTokens({ secrets: [fresh, old] });
    expect(rotating.check(token)).toBe('valid');
    expect(tinyTokens({ secrets: [fresh] }).check(rotating.mint().token)).toBe('valid');
    expect(tinyTokens({ secrets: [old] }).check(rotating.mint().token)).toBe('invalid');
    expect(tinyTokens({ secrets: [fresh] }).check(token)).toBe('invalid');
  });

  it('says how long a token is valid', () => {
    const minted = tinyTokens({ days: TOKEN_DAYS_MAX }).mint();
    expect(minted).toMatchObject({ plan: 'watchlist', days: TOKEN_DAYS_MAX });
    const days = (Date.parse(minted.expires_at) - TINY_NOW) / 86_400_000;
    expect(Math.round(days)).toBe(TOKEN_DAYS_MAX);
  });
});

describe('tokenSecrets()', () => {
  const other = 'b'.repeat(32);
  it('reads one secret, or a new and an old one', () => {
    expect(tokenSecrets(SECRET)).toHaveLength(1);
    expect(tokenSecrets(`${'a'.repeat(32)}, ${other}`)).toEqual(['a'.repeat(32), other]);
  });

  it.each([
    ['', 'shorter'],
    ['a'.repeat(31), 'shorter'],
    [`${'a'.repeat(32)},`, 'shorter'],
    [`${other},${other},${other}`, 'more than 2'],
  ])('refuses "%s"', (setting, message) => {
    expect(() => tokenSecrets(setting)).toThrow(message);
  });
});

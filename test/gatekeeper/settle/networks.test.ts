import { createHash, createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { DEFAULT_ASSETS } from '@x402/evm';
import fc from 'fast-check';
import { getAddress } from 'viem';
import {
  avalanche,
  avalancheFuji,
  base,
  baseSepolia,
  polygon,
  polygonAmoy,
  sei,
  seiTestnet,
} from 'viem/chains';
import { describe, expect, it } from 'vitest';
import { shownSettings } from '../../../gatekeeper/settings/config.ts';
import { loadConfig } from '../../../gatekeeper/settings/load-config.ts';
import { facilitatorUrl, remoteUrl } from '../../../gatekeeper/settle/facilitator.ts';
import {
  confirmationsMax,
  depthMs,
  findNetwork,
  furtherTokens,
  isTokenOf,
  NETWORKS,
  SETTLEMENT_MS_MAX,
  tokenAmount,
  tokenOfTerms,
  usdWorth,
} from '../../../gatekeeper/settle/networks.ts';
import { TOKEN_DAYS_MAX, tokenSecrets } from '../../../gatekeeper/settle/token.ts';
import { TINY_NOW } from '../tiny-release.ts';
import { SECRET, tinyTokens } from '../tiny-service.ts';

/** The same chains as viem knows them; `test/interop` compares the table with that of version 1. */
const CHAINS = {
  base,
  'base-sepolia': baseSepolia,
  polygon,
  'polygon-amoy': polygonAmoy,
  avalanche,
  'avalanche-fuji': avalancheFuji,
  sei,
  'sei-testnet': seiTestnet,
};

describe('NETWORKS', () => {
  it('NETWORKS has checksummed assets and the chains of viem', () => {
    expect(Object.keys(NETWORKS)).toEqual(Object.keys(CHAINS));
    for (const row of Object.values(NETWORKS)) {
      const chain = CHAINS[row.name];
      expect([row.chainId, row.isTestnet]).toEqual([chain.id, chain.testnet ?? false]);
      expect(row.asset).toBe(getAddress(row.asset));
      expect(row.caip2).toBe(`eip155:${row.chainId}`);
      expect(findNetwork(row.name)).toBe(row);
    }
  });

  it('NETWORKS has the contracts and domains of the published table of version 2', () => {
    const published = new Map(Object.entries(DEFAULT_ASSETS));
    const known = Object.values(NETWORKS).filter(({ caip2 }) => published.has(caip2));
    expect(known.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['base', 'base-sepolia', 'polygon', 'avalanche', 'sei']),
    );
    for (const { caip2, asset, extra } of known) {
      const [usdc] = published.get(caip2) ?? [];
      expect(usdc).toMatchObject({ asset, ...extra, decimals: 6 });
      expect(usdc).not.toHaveProperty('assetTransferMethod');
    }
  });
});

describe('findNetwork()', () => {
  it('findNetwork() knows both names of a network', () => {
    expect(findNetwork('base')).toBe(NETWORKS.base);
    expect(findNetwork('eip155:84532')).toBe(NETWORKS['base-sepolia']);
  });

  it('findNetwork() does not know other names', () => {
    for (const name of ['', 'Base', 'eip155:1', 'toString', '__proto__']) {
      expect(findNetwork(name)).toBeUndefined();
    }
  });
});

const COIN = '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42';
const ENTRY = `base:${COIN}:COIN:2:6`;
const { base: onBase } = NETWORKS;

describe('furtherTokens()', () => {
  it('reads a token with its domain and decimals', () => {
    const token = { ...onBase, asset: COIN, extra: { name: 'COIN', version: '2' }, decimals: 6 };
    expect(furtherTokens(ENTRY)).toEqual([token]);
    expect(furtherTokens(ENTRY.replace(COIN, COIN.toLowerCase()))).toEqual([token]);
  });

  it('reads several, and names with spaces', () => {
    const other = `polygon:0x${'1'.repeat(40)}:Other Coin:1:18`;
    const tokens = furtherTokens(`${ENTRY}, ${other}`);
    expect(tokens.map(({ name, extra }) => `${name} ${extra.name}`)).toEqual([
      'base COIN',
      'polygon Other Coin',
    ]);
  });

  it.each([
    [
      'a rate of before',
      `${ENTRY}:0.92`,
      /states a rate, .* at par with USD alone: write network:/,
    ],
    ['no decimals', `base:${COIN}:COIN:2`, /is not network:address:name:version:decimals$/],
    ['two parts too many', `${ENTRY}:1:1`, /is not network:address/],
    ['nothing', '', /"" is not network:address/],
    ['an unknown network', ENTRY.replace('base', 'mainnet'), /"mainnet", which is not a known/],
    ['a short address', `base:0x60a3:COIN:2:6`, /no address of 40 hex digits/],
    ['a wrong checksum', ENTRY.replace('0x60a3E', '0x60A3E'), /checksum does not match/],
    ['USDC itself', `base:${onBase.asset.toLowerCase()}:COIN:2:6`, /is the USDC of its network/],
    ['no name', ENTRY.replace(':COIN:', '::'), /no name or version/],
    ['no version', ENTRY.replace(':2:', '::'), /no name or version/],
    ['a name beyond ASCII', ENTRY.replace(':COIN:', ':€:'), /no name or version/],
    ['5 decimals', ENTRY.replace(':6', ':5'), /has "5" decimals, not 6 to 18/],
    ['19 decimals', ENTRY.replace(':6', ':19'), /has "19" decimals/],
    ['decimals that are no number', ENTRY.replace(':6', ':six'), /has "six" decimals/],
    ['one token twice', `${ENTRY},${ENTRY.replace(COIN, COIN.toLowerCase())}`, /on base twice/],
  ])('refuses %s', (_, text, fault) => {
    expect(() => furtherTokens(text)).toThrow(fault);
  });

  it('takes three tokens on a network, and not four', () => {
    const entries = (count: number) =>
      Array.from({ length: count }, (_, at) => `base:0x${`${at + 1}`.repeat(40)}:T${at}:1:6`);
    expect(furtherTokens(entries(3).join(','))).toHaveLength(3);
    expect(() => furtherTokens(entries(4).join(','))).toThrow('more than 3 tokens on base');
  });
});

describe('isTokenOf() and tokenOfTerms()', () => {
  const [token] = furtherTokens(ENTRY);
  if (token === undefined) throw new Error('no token');
  const { asset, extra } = token;

  it('know a token under both names of its network, whatever the case', () => {
    for (const network of ['base', 'eip155:8453']) {
      expect(isTokenOf({ network, asset: asset.toLowerCase() }, token)).toBe(true);
      expect(isTokenOf({ network, asset: onBase.asset }, token)).toBe(false);
      expect(tokenOfTerms({ network, asset, extra })).toMatchObject({
        asset,
        extra,
        chainId: 8453,
      });
      expect(tokenOfTerms({ network, asset: onBase.asset, extra: onBase.extra })).toBe(onBase);
    }
    expect(isTokenOf({ network: 'polygon', asset }, token)).toBe(false);
    expect(tokenOfTerms({ network: 'mainnet', asset, extra })).toBeUndefined();
  });
});

describe('SIGNALPRESS_TOKENS', () => {
  const load = (env: Readonly<Record<string, string>>) =>
    loadConfig({ options: {}, env, fileText: null });
  const TEST = ENTRY.replace('base', 'base-sepolia');

  it('is nothing unless it is set', () => {
    expect(load({}).tokens).toEqual([]);
    expect(shownSettings(load({}))).toMatchObject({ tokens: null });
  });

  it('is shown', () => {
    const config = load({ SIGNALPRESS_TOKENS: TEST });
    expect(config.tokens).toMatchObject([{ name: 'base-sepolia', asset: COIN }]);
    expect(shownSettings(config).tokens).toBe(`base-sepolia:${COIN}:COIN`);
  });

  it('keeps the gatekeeper from starting, by name, where an entry is wrong', () => {
    expect(() => load({ SIGNALPRESS_TOKENS: `${TEST}:0.92` })).toThrow(
      /SIGNALPRESS_TOKENS ".*": "base-sepolia:0x60a3.*" states a rate, but a token is taken at par/,
    );
    expect(() => load({ SIGNALPRESS_TOKENS: ENTRY })).toThrow(
      /SIGNALPRESS_TOKENS: 0x60a3.* is on "base", which SIGNALPRESS_NETWORK does not name/,
    );
  });

  it('is never who is paid', () => {
    const own = { SIGNALPRESS_TOKENS: TEST, SIGNALPRESS_PAY_TO: COIN };
    const settles = { SIGNALPRESS_FACILITATOR_URL: 'https://x402.example' };
    expect(() => load({ ...own, ...settles })).toThrow(/nobody holds the key/);
  });
});

describe('tokenAmount() and usdWorth()', () => {
  it.each([
    ['0.01', undefined, '10000'],
    ['0.000001', 6, '1'],
    ['0.005', 8, '500000'],
    ['9.90', 18, '9900000000000000000'],
  ] as const)('%s USD with %s decimals is %s, and back', (usd, decimals, amount) => {
    const token = decimals === undefined ? {} : { decimals };
    expect(tokenAmount(usd, token)).toBe(amount);
    const worth = decimals === undefined ? null : tokenAmount(usd, {});
    expect(usdWorth(amount, token)).toBe(worth);
  });

  it('round a worth down, and refuse what is no price', () => {
    expect(usdWorth('1999999999999', { decimals: 18 })).toBe('1');
    expect(() => tokenAmount('free', { decimals: 18 })).toThrow('Cannot price "free"');
  });
});

const VERIFY_TIMEOUT_MS = 10_000;
const EVIDENCE_TIMEOUT_MS = 15_000;

/** What a buyer is promised to wait at most. */
const BUYER_MS = 90_000;

describe('depthMs()', () => {
  it.each(Object.values(NETWORKS))(
    'I9: $name: waits longer than so many blocks take',
    (network) => {
      for (const confirmations of [1, 2, 6, confirmationsMax(network)]) {
        expect(depthMs(network, confirmations)).toBeGreaterThan(confirmations * network.blockMs);
      }
      expect(depthMs(network, 6)).toBeLessThan(30_000);
    },
  );

  it('follows the pace of the chain', () => {
    expect(depthMs({ blockMs: 12_000 }, 6)).toBe(6 * depthMs({ blockMs: 2000 }, 6));
  });
});

describe('confirmationsMax()', () => {
  it.each(Object.values(NETWORKS))(
    'I9: $name: is the greatest depth that fits into a settlement, with room to settle',
    (network) => {
      const max = confirmationsMax(network);
      expect(depthMs(network, max)).toBeLessThanOrEqual(50_000);
      expect(depthMs(network, max + 1)).toBeGreaterThan(50_000);
    },
  );

  it('allows less on a slower chain', () => {
    expect(confirmationsMax({ blockMs: 12_000 })).toBe(0);
    expect(confirmationsMax({ blockMs: 1000 })).toBeGreaterThan(confirmationsMax(NETWORKS.base));
  });
});

describe('SETTLEMENT_MS_MAX', () => {
  it('I9: leaves room for what comes before and behind it while a buyer waits', () => {
    expect(VERIFY_TIMEOUT_MS + SETTLEMENT_MS_MAX + EVIDENCE_TIMEOUT_MS).toBeLessThan(BUYER_MS);
  });
});

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

describe('remoteUrl()', () => {
  it('I48: remoteUrl() takes https, and http only on loopback', () => {
    for (const good of [
      'https://f.example/x402',
      'http://127.0.0.1:4021',
      'http://localhost:1',
      'http://[::1]:1',
    ]) {
      expect(remoteUrl(good, 'facilitator')).toBeInstanceOf(URL);
    }
    for (const bad of [
      'http://f.example',
      'http://127.0.0.1.evil.example',
      'ftp://f.example',
      'f.example',
      '',
    ]) {
      expect(() => remoteUrl(bad, 'facilitator'), bad).toThrow(RangeError);
    }
  });

  it('remoteUrl() does not repeat a path, which may hold a key', () => {
    expect(() => remoteUrl('http://node.example/v2/secret', 'chain node')).toThrow(
      'Cannot use chain node "http://node.example": not https',
    );
  });
});

describe('facilitatorUrl()', () => {
  it('facilitatorUrl() takes origin and path', () => {
    for (const good of ['https://f.example', 'https://f.example/v2/x402/', 'http://127.0.0.1:1']) {
      expect(facilitatorUrl(good).href).toBe(new URL(good).href);
    }
  });

  it('facilitatorUrl() refuses what no call would carry, names where it goes, and repeats none of it', () => {
    for (const bad of [
      'https://user:hunter2@f.example/x402',
      'https://hunter2@f.example',
      'https://f.example/x402?apiKey=hunter2',
      'https://f.example/#hunter2',
    ]) {
      expect(() => facilitatorUrl(bad), bad).toThrow(
        /^Cannot use facilitator "https:\/\/f\.example": .* SIGNALPRESS_FACILITATOR_AUTH$/,
      );
    }
    expect(() => facilitatorUrl('http://f.example')).toThrow(/not https/);
  });
});

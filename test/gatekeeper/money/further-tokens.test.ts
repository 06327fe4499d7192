import { describe, expect, it } from 'vitest';
import { shownSettings } from '../../../gatekeeper/config/config.ts';
import { loadConfig } from '../../../gatekeeper/config/load-config.ts';
import {
  furtherTokens,
  isTokenOf,
  tokenOfTerms,
} from '../../../gatekeeper/money/further-tokens.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';

const EURC = '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42';
const ENTRY = `base:${EURC}:EURC:2:6:0.92`;
const { base } = NETWORKS;

describe('furtherTokens()', () => {
  it('reads a token with its domain, decimals and rate', () => {
    const rate = { decimals: 6, perUsd: '0.92' };
    const token = { ...base, asset: EURC, extra: { name: 'EURC', version: '2' }, rate };
    expect(furtherTokens(ENTRY)).toEqual([token]);
    expect(furtherTokens(ENTRY.replace(EURC, EURC.toLowerCase()))).toEqual([token]);
  });

  it('reads several, and names with spaces', () => {
    const other = `polygon:0x${'1'.repeat(40)}:Euro Coin:1:18:0.9`;
    const tokens = furtherTokens(`${ENTRY}, ${other}`);
    expect(tokens.map(({ name, extra }) => `${name} ${extra.name}`)).toEqual([
      'base EURC',
      'polygon Euro Coin',
    ]);
  });

  it.each([
    ['no rate', `base:${EURC}:EURC:2:6`, /is not network:address:name:version:decimals:rate/],
    ['a part too many', `${ENTRY}:1`, /is not network:address/],
    ['nothing', '', /"" is not network:address/],
    ['an unknown network', ENTRY.replace('base', 'mainnet'), /"mainnet", which is not a known/],
    ['a short address', `base:0x60a3:EURC:2:6:0.92`, /no address of 40 hex digits/],
    ['a wrong checksum', ENTRY.replace('0x60a3E', '0x60A3E'), /checksum does not match/],
    ['USDC itself', `base:${base.asset.toLowerCase()}:EURC:2:6:0.92`, /is the USDC of its network/],
    ['no name', ENTRY.replace(':EURC:', '::'), /no name or version/],
    ['no version', ENTRY.replace(':2:', '::'), /no name or version/],
    ['a name beyond ASCII', ENTRY.replace(':EURC:', ':€:'), /no name or version/],
    ['1 decimal', ENTRY.replace(':6:', ':1:'), /has "1" decimals, not 2 to 18/],
    ['19 decimals', ENTRY.replace(':6:', ':19:'), /has "19" decimals/],
    ['decimals that are no number', ENTRY.replace(':6:', ':six:'), /has "six" decimals/],
    ['a rate of 0', ENTRY.replace('0.92', '0'), /has the rate "0", not a decimal number above 0/],
    ['a rate that is no number', ENTRY.replace('0.92', '1/2'), /has the rate "1\/2"/],
    ['one token twice', `${ENTRY},${ENTRY.replace(EURC, EURC.toLowerCase())}`, /on base twice/],
  ])('refuses %s', (_, text, fault) => {
    expect(() => furtherTokens(text)).toThrow(fault);
  });

  it('takes three tokens on a network, and not four', () => {
    const entries = (count: number) =>
      Array.from({ length: count }, (_, at) => `base:0x${`${at + 1}`.repeat(40)}:T${at}:1:6:1`);
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
      expect(isTokenOf({ network, asset: base.asset }, token)).toBe(false);
      expect(tokenOfTerms({ network, asset, extra })).toMatchObject({
        asset,
        extra,
        chainId: 8453,
      });
      expect(tokenOfTerms({ network, asset: base.asset, extra: base.extra })).toBe(base);
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

  it('is shown with its rate', () => {
    const config = load({ SIGNALPRESS_TOKENS: TEST });
    expect(config.tokens).toMatchObject([{ name: 'base-sepolia', asset: EURC }]);
    expect(shownSettings(config).tokens).toBe(`base-sepolia:${EURC}:EURC:0.92`);
  });

  it('keeps the gatekeeper from starting, by name, where an entry is wrong', () => {
    expect(() => load({ SIGNALPRESS_TOKENS: TEST.replace('0.92', '-1') })).toThrow(
      /SIGNALPRESS_TOKENS ".*": "base-sepolia:0x60a3.*" has the rate "-1", not a decimal/,
    );
    expect(() => load({ SIGNALPRESS_TOKENS: ENTRY })).toThrow(
      /SIGNALPRESS_TOKENS: 0x60a3.* is on "base", which SIGNALPRESS_NETWORK does not name/,
    );
  });

  it('is never who is paid', () => {
    const own = { SIGNALPRESS_TOKENS: TEST, SIGNALPRESS_PAY_TO: EURC };
    const settles = { SIGNALPRESS_FACILITATOR_URL: 'https://x402.example' };
    expect(() => load({ ...own, ...settles })).toThrow(/nobody holds the key/);
  });
});

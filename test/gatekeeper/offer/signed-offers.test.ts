import { beforeAll, describe, expect, it } from 'vitest';
import { encodeBase64Url } from '../../../compiler/contract/did-key.ts';
import { firstHistory } from '../../../compiler/contract/key-history.ts';
import { isSignedBy } from '../../../compiler/verify/verify-citation.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { challenger } from '../../../gatekeeper/offer/challenge.ts';
import { folderSource } from '../../../gatekeeper/release/folder-source.ts';
import { openRelease } from '../../../gatekeeper/release/open-release.ts';
import type { ReleaseIndex } from '../../../gatekeeper/release/release-index.ts';
import { compiledSample } from '../../compiled-sample.ts';
import { listedSigner, listingKeys, SIGNER_DID } from '../listed-signer.ts';
import { NOW_MS, NOW_S } from '../payer.ts';

/** Under what a proxy takes by default, with the headers that every answer has. */
const HEADER_BYTES_MAX = 4096;
const OTHER_HEADERS_BYTES = 350;

const BASE = 'https://api.example.com';
const usual = {
  baseUrl: BASE,
  payTo: `0x${'ab'.repeat(20)}`,
  network: NETWORKS.base,
  serviceName: 'Example',
};
const clock = () => NOW_MS;
let release: ReleaseIndex;
beforeAll(async () => {
  const { data } = await compiledSample();
  release = await openRelease({ source: folderSource(data), issuerDid: null, baseUrl: null });
});

type Options = Partial<Parameters<typeof challenger>[0]>;
interface Offer {
  readonly format: string;
  readonly acceptIndex: number;
  readonly signature: string;
}

/** What the header of a challenge says, and how long it is. */
function challenged(path: string, target: string, options: Options) {
  const asked = challenger({ ...usual, ...options });
  asked.show(release);
  const row = release.catalog.operationByPath.get(path);
  if (row === undefined) throw new Error(`no operation "${path}"`);
  const { headers } = asked.challenge(row, target);
  const value = headers.find(([name]) => name === 'payment-required')?.[1] ?? '';
  const { extensions = {}, accepts } = JSON.parse(Buffer.from(value, 'base64').toString());
  const bytes = headers.reduce((sum, [name, text]) => sum + name.length + text.length + 4, 0);
  const offers = extensions['offer-receipt']?.info.offers as Offer[] | undefined;
  return { accepts, offers, bytes, extensions };
}

function read({ signature }: Offer) {
  const [header = '', payload = '', signed = ''] = signature.split('.');
  const bytes = new TextEncoder().encode(`${header}.${payload}`);
  const part = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());
  return { head: part(header), offer: part(payload), bytes, signed };
}

const RECORD = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const signing = () => ({ offers: { signer: listedSigner(), clock } });

describe('a challenge with signed offers', () => {
  it('signs each entry of accepts for this request, for as long as its payment may take', () => {
    const { offers = [], accepts } = challenged('/gauge', RECORD, signing());
    expect(offers).toHaveLength(1);
    for (const one of offers) {
      const { head, offer, bytes, signed } = read(one);
      expect(head.alg).toBe('EdDSA');
      expect(head).toEqual({ alg: 'EdDSA', kid: SIGNER_DID });
      expect(isSignedBy(SIGNER_DID, bytes, signed)).toBe(true);
      const { scheme, network, asset, payTo, amount } = accepts[one.acceptIndex];
      const terms = { scheme, network, asset, payTo, amount };
      const validUntil = NOW_S + 300;
      expect(offer).toEqual({ version: 1, resourceUrl: BASE + RECORD, ...terms, validUntil });
      const forged = Buffer.from(JSON.stringify({ ...offer, amount: '1' }));
      const other = `${one.signature.split('.')[0]}.${encodeBase64Url(forged)}`;
      expect(isSignedBy(SIGNER_DID, new TextEncoder().encode(other), signed)).toBe(false);
    }
  });

  it('stays under 4 KB of headers for every operation, and has an offer in all but one', () => {
    const without: string[] = [];
    let [seen, most] = [0, 0];
    for (const [path, { entry, sellsNow }] of release.offers) {
      const row = release.catalog.operationByPath.get(path);
      if (!sellsNow || row?.priceUsd == null) continue;
      seen += 1;
      const example = String(entry.input_example_request ?? path);
      const { offers, bytes } = challenged(path, example, signing());
      most = Math.max(most, bytes);
      if (offers?.length !== 1) without.push(path);
    }
    expect(seen).toBeGreaterThan(50);
    expect(most + OTHER_HEADERS_BYTES).toBeLessThan(HEADER_BYTES_MAX);
    // Its parameters fill the header; receipts are announced all the same.
    expect(without).toEqual(['/resolve/proposer']);
  });

  it('is not kept: the next one counts from its own time', () => {
    const row = release.catalog.operationByPath.get('/gauge');
    let now = NOW_MS;
    const signer = listedSigner();
    const asked = challenger({ ...usual, offers: { signer, clock: () => now } });
    asked.show(release);
    if (row === undefined) throw new Error('no operation');
    const one = asked.challenge(row, RECORD);
    expect([one.isOnce, one.units]).toEqual([true, 1]);
    const plain = challenger(usual);
    plain.show(release);
    expect(plain.challenge(row, RECORD).units).toBeUndefined();
    now += 1000;
    expect(asked.challenge(row, RECORD).headers).not.toEqual(one.headers);
  });

  it('announces receipts without offers where the request is long', () => {
    const long = `/gauge?entity=${'x'.repeat(260)}&signal_id=airquality.aqi`;
    expect(challenged('/gauge', long, signing()).offers).toEqual([]);
  });

  it.each([
    ['that nobody lists', firstHistory(listingKeys().keys[0]?.did ?? '')],
    ['that ended', listingKeys({ until: '2026-11-20T00:00:00Z' })],
    ['that begins later', listingKeys({ since: '2026-12-01T00:00:00Z' })],
  ])('says nothing of it with a key %s', (_, keys) => {
    const offers = { signer: listedSigner(keys), clock };
    const { extensions } = challenged('/gauge', RECORD, { offers });
    expect(Object.keys(extensions)).toEqual(['bazaar']);
    expect(Object.keys(challenged('/gauge', RECORD, signing()).extensions)).toEqual([
      'bazaar',
      'offer-receipt',
    ]);
  });

  it('signs what fits where several networks make the header long', () => {
    const furtherNetworks = [NETWORKS.polygon, NETWORKS.avalanche, NETWORKS.sei];
    const { offers = [], bytes } = challenged('/gauge', RECORD, { ...signing(), furtherNetworks });
    expect(offers.map(({ acceptIndex }) => acceptIndex)).toEqual([0, 1, 2, 3]);
    expect(bytes + OTHER_HEADERS_BYTES).toBeLessThan(8192);
  });
});

import { type Citation, contentOf, keyIdOf } from '../../compiler/format/citation.ts';
import { seriesHead } from '../../compiler/products/shapes/series.ts';
import { issuerDid, makeSealer, signingKey } from '../../compiler/system/sealer.ts';
import { isSeries } from '../../compiler/verify/series-checks.ts';
import type { Body } from '../shop.ts';
import { SEED } from '../snapshot-folder.ts';

/**
 * A body signed once more, as only the holder of a key can, so that nothing but its inner contradictions is left. Its proof no
 * longer fits, and is left out.
 */
export function reseal(body: Body, seed: Uint8Array = SEED): Body {
  const { _citation, _proof, ...rest } = body;
  const cited = _citation as unknown as Citation;
  const { issuer, url, published_at } = cited.source;
  const baseUrl = cited.verify_url.slice(0, cited.verify_url.lastIndexOf('/v/'));
  const key = signingKey(seed);
  const did = issuerDid(key);
  const by = { name: issuer, did, keyId: keyIdOf(did), baseUrl };
  const content = contentOf(isSeries(rest as Body) ? seriesHead(rest) : rest);
  const sealed = makeSealer(by, key).seal(content, {
    claim: cited.claim ?? '',
    fact: cited.fact,
    target: (url ?? '').slice(baseUrl.length),
    observed_at: published_at ?? '',
    retrieved_at: cited.retrieved_at,
  });
  return { ...rest, _citation: sealed._citation as unknown as Body } as Body;
}

import { ENDPOINTS, type Endpoint, endpointAt } from '../../compiler/contract/endpoints.ts';
import { filePath } from '../../compiler/contract/path.ts';
import { perRelease } from '../release/per-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import {
  type Answered,
  jsonContent,
  KEEP_FOR_RELEASE,
  MISS,
  type Operator,
  type Service,
} from '../service.ts';

type Entry = Readonly<Record<string, unknown>>;

/** `/.well-known/x402`: every operation that can be bought here as the compiled manifest describes it, with what is accepted for it here. */
export async function paymentManifest(service: Service): Promise<Answered> {
  const entries = await manifestEntries(service.release);
  if (entries === null) return MISS;
  const { baseUrl, challenger, operator } = service;
  const paid = (ENDPOINTS as readonly Endpoint[]).filter((row) => isOffered(row, operator));
  const body = {
    version: 1,
    x402Version: 1,
    resources: paid.map((row) => baseUrl + row.path),
    items: paid.map((row) => {
      const accepts = [challenger.requirements(row, row.path, 1)];
      // The requirements hold the parameters already.
      const { params, ...entry } = entries.get(row.path) ?? {};
      return { resource: baseUrl + row.path, type: 'http', x402Version: 1, accepts, ...entry };
    }),
    openapi: `${baseUrl}/openapi.json`,
    manifest: `${baseUrl}/manifest?all=1`,
  };
  return jsonContent(body, KEEP_FOR_RELEASE);
}

/** What costs; a token only where a secret signs it. */
function isOffered({ priceUsd, answer }: Endpoint, { tokens }: Operator): boolean {
  return priceUsd !== null && (answer !== 'mint' || tokens !== null);
}

/** Entries of the compiled manifest by path; null for a release without one. */
const manifestEntries = perRelease(
  async (release: ReleaseIndex): Promise<ReadonlyMap<string, Entry> | null> => {
    const path = filePath(endpointAt('/manifest'), { all: '1' });
    if (!release.has(path)) return null;
    const { bytes } = await release.body(path);
    const { entries } = JSON.parse(bytes.toString('utf8')) as { entries: Entry[] };
    return new Map(entries.map((entry) => [String(entry.path), entry]));
  },
);

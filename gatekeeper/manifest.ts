import { ENDPOINTS, type Endpoint, findEndpoint } from '../compiler/contract/endpoints.ts';
import { atomicAmount } from '../compiler/contract/price.ts';
import { isBuilt } from './built.ts';
import { catalogRows } from './catalog.ts';
import { storedRequest } from './example-request.ts';
import { perRelease } from './per-release.ts';
import type { ReleaseIndex } from './release-index.ts';
import { jsonReply } from './reply.ts';
import {
  type Answered,
  jsonContent,
  KEEP_FOR_RELEASE,
  type Question,
  type Service,
} from './service.ts';

/** `/manifest` and `/.well-known/x402`: every operation, generated from the table and what is stored. */
export async function manifest(question: Question, service: Service): Promise<Answered> {
  const { endpoint, values } = question.route;
  if (endpoint.path !== '/manifest') return jsonContent(await wellKnown(service), KEEP_FOR_RELEASE);
  if (values.platform !== undefined) return noProjection(values.platform);
  const entries = await allEntries(service.release);
  const shown = values.all === '1' ? entries : entries.filter((entry) => entry.sells_now);
  const note = 'sells_now is false where nothing is stored at present; all=1 lists those too';
  const body = { x402Version: 1, count: shown.length, note, entries: shown };
  return jsonContent(body, KEEP_FOR_RELEASE);
}

function noProjection(platform: string): Answered {
  const error = `The projection for "${platform}" is not served by this version; use /manifest`;
  return {
    kind: 'reply',
    reply: jsonReply(501, { error, no_charge: true, catalog: '/gauge/catalog' }),
  };
}

/** One operation as `/manifest` describes it. */
export interface ManifestEntry {
  readonly path: string;
  readonly method: string;
  readonly price_usd: string;
  readonly price_atomic: string;
  readonly description: string;
  readonly input_required: readonly string[];
  /** Answers 402 or 200 on this very release wherever the row is answered at all. */
  readonly input_example_request: string;
  readonly params: Endpoint['params'];
  readonly returns: string;
  readonly sells_now: boolean;
}

/** Every row but the retired; computed once per release. */
const allEntries = perRelease(async (release: ReleaseIndex): Promise<ManifestEntry[]> => {
  const hash = await anyHash(release);
  return (ENDPOINTS as readonly Endpoint[])
    .filter((row) => row.answer !== 'gone')
    .map((row) => manifestEntry(row, release, hash));
});

/** A record hash that the look-up finds; the empty one for a release without readings. */
async function anyHash(release: ReleaseIndex): Promise<string> {
  const [rows] = (await catalogRows(release)).values();
  return rows?.[0]?.record_hash ?? `sha256:${'0'.repeat(64)}`;
}

function manifestEntry(row: Endpoint, release: ReleaseIndex, hash: string): ManifestEntry {
  const computed = row.file === undefined && isBuilt(row.answer);
  const stored = isBuilt(row.answer) ? storedRequest(row, {}, release) : null;
  const price = row.priceUsd ?? '0';
  return {
    path: row.path,
    method: row.method,
    price_usd: price,
    price_atomic: atomicAmount(price),
    description: `${row.tag} ${row.summary}`,
    input_required: Object.keys(row.params).filter((name) => row.params[name]?.required),
    input_example_request: stored ?? computedExample(row, hash),
    params: row.params,
    returns: 'application/json',
    sells_now: computed || stored !== null,
  };
}

/** Look-ups are shown with a real hash; of any other row the bare path asks for the price. */
function computedExample(row: Endpoint, hash: string): string {
  if (row.path.includes('/:')) return row.path.replace(/:[a-z_]+$/, hash);
  return row.answer === 'verify' ? `${row.path}?hash=${hash}` : row.path;
}

async function wellKnown({ release, baseUrl, challenger }: Service): Promise<object> {
  const entries = new Map((await allEntries(release)).map((entry) => [entry.path, entry]));
  const paid = (ENDPOINTS as readonly Endpoint[]).filter((row) => row.priceUsd !== null);
  const described = findEndpoint('/openapi.json') !== undefined;
  return {
    version: 1,
    x402Version: 1,
    resources: paid.map((row) => baseUrl + row.path),
    items: paid.map((row) => {
      const accepts = [challenger.requirements(row, row.path, 1)];
      // The requirements hold the parameters already.
      const { params, ...entry } = entries.get(row.path) ?? {};
      return { resource: baseUrl + row.path, type: 'http', x402Version: 1, accepts, ...entry };
    }),
    ...(described ? { openapi: `${baseUrl}/openapi.json` } : {}),
    manifest: `${baseUrl}/manifest?all=1`,
  };
}

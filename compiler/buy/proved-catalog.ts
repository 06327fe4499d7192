import { hash } from 'node:crypto';
import { canonicalJson } from '../contract/canonical.ts';
import { type Release, releaseSchema } from '../contract/release.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { isSignedBy } from '../verify/verify-citation.ts';

/** Longest head and catalogue that a buyer reads from a shop. */
const HEAD_BYTES_MAX = 65_536;
const CATALOG_BYTES_MAX = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/**
 * The `catalog.json` of the release that a shop sells, proved by the head that the issuer signed: a shop that lies about it
 * is refused before anything is paid. Throws an Error that says what to do.
 */
export async function provedCatalog(baseUrl: string, issuer: string): Promise<Uint8Array> {
  const head = signedHead(
    await bytesAt(`${baseUrl}/.well-known/release.json`, HEAD_BYTES_MAX),
    issuer,
  );
  const bytes = await bytesAt(`${baseUrl}/.well-known/catalog.json`, CATALOG_BYTES_MAX);
  if (head.catalog_sha256 === `sha256:${hash('sha256', bytes, 'hex')}`) return bytes;
  throw refused('its catalogue is not the one that its issuer signed; buy nothing from it');
}

function signedHead(bytes: Uint8Array, issuer: string): Release {
  const head = releaseSchema.parse(parseJson(decodeUtf8(bytes)));
  if (head.issuer_did !== issuer) {
    throw refused(`its issuer is ${head.issuer_did}; name it with --issuer only if you trust it`);
  }
  const { signature, ...signed } = head;
  if (isSignedBy(issuer, Buffer.from(canonicalJson(signed)), signature)) return head;
  throw refused('its release is not signed by its issuer; buy nothing from it');
}

function refused(state: string): Error {
  return new Error(`Cannot buy from this shop: ${state}`);
}

async function bytesAt(url: string, max: number): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { signal, redirect: 'error' }).catch((cause: unknown) => {
    throw new Error(`Cannot reach "${url}": start the shop, or correct the address`, { cause });
  });
  if (response.status !== 200) throw new Error(`Cannot read "${url}": status ${response.status}`);
  return await boundedBody(response, url, max);
}

async function boundedBody(response: Response, url: string, max: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > max) throw new Error(`Cannot read "${url}": longer than ${max} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

import { randomBytes, sign } from 'node:crypto';
import type { Command } from 'commander';
import { BUILTIN } from '../catalog/builtin.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { canonicalRequest, type Route, route } from '../catalog/route.ts';
import { parseCatalog } from '../catalog/whole-catalog.ts';
import { encodeBase64Url } from '../format/did-key.ts';
import { type Receipt, receiptAmount, unsignedReceipt } from '../products/shapes/receipt.ts';
import { readIssuerKey } from '../publish/keys/key-store.ts';
import type { CommandSettings } from '../system/command-settings.ts';
import { readPlain, STORED_BYTES_MAX } from '../system/plain-file.ts';
import { signingKey } from '../system/sealer.ts';

const RECEIPT_SECONDS = 900;
const ID_BYTES = 16;

export function defineReceipt(receipt: Command, { now, print }: CommandSettings): void {
  receipt
    .command('issue')
    .description('sign a receipt for one request, price and fee paid; send it as X-RECEIPT')
    .argument('<target>', 'path and query of the request that was paid')
    .requiredOption('--key <file>', 'key file of the processor; make one with keygen')
    .option('--catalog <file>', 'catalog.json of the release (default: the built-in catalogue)')
    .option('--seconds <count>', 'how long the receipt stays valid', String(RECEIPT_SECONDS))
    .action((target: string, flags: { key: string; catalog?: string; seconds: string }) => {
      const catalog =
        flags.catalog === undefined
          ? BUILTIN
          : parseCatalog(readPlain(flags.catalog, STORED_BYTES_MAX));
      const seed = readIssuerKey(flags.key);
      const seconds = Number(flags.seconds);
      print(issueReceipt({ target, catalog, seed, now: now(), random: randomBytes, seconds }));
    });
}

/**
 * A receipt for one request at its price with the fee, bound to the request's canonical form; throws a RangeError for a
 * path that is not sold, parameters that buy nothing, or an invalid lifetime.
 */
export function issueReceipt(options: {
  catalog: Catalog;
  /** Path and query of the request, in any spelling that the gatekeeper takes. */
  target: string;
  /** 32-byte Ed25519 seed of the processor. */
  seed: Uint8Array;
  /** Milliseconds since the epoch. */
  now: number;
  random: (bytes: number) => Uint8Array;
  seconds?: number;
}): string {
  const { target, catalog, seed, now, random, seconds } = options;
  const sold = soldAt(target, catalog);
  if (seconds !== undefined && !(Number.isInteger(seconds) && seconds > 0)) {
    throw new RangeError(
      `Cannot issue a receipt for "${target}": --seconds is not a whole number above 0; pass one such as ${RECEIPT_SECONDS}`,
    );
  }
  const receipt: Receipt = {
    amount: receiptAmount(sold.priceUsd),
    currency: 'USD',
    expires: Math.floor(now / 1000) + (seconds ?? RECEIPT_SECONDS),
    id: encodeBase64Url(random(ID_BYTES)),
    resource: `GET ${sold.target}`,
  };
  const { text, bytes } = unsignedReceipt(receipt);
  const signature = sign(null, bytes, signingKey(seed));
  return `${text}.${encodeBase64Url(new Uint8Array(signature))}`;
}

/** What the gatekeeper would sell for a target, found by the gatekeeper's own rules. */
function soldAt(target: string, catalog: Catalog): { target: string; priceUsd: string } {
  const request = canonicalRequest(target);
  const routed = 'status' in request ? undefined : route(request, catalog);
  const priceUsd = routed?.endpoint.priceUsd ?? null;
  if (routed === undefined || priceUsd === null) {
    const why = 'status' in request ? `: ${request.error}` : '';
    throw new RangeError(
      `Cannot issue a receipt for "${target}": not a paid path${why}; see /manifest`,
    );
  }
  if (routed.fault !== null) {
    throw new RangeError(`Cannot issue a receipt for "${target}": ${wrongWith(routed.fault)}`);
  }
  return { target: routed.target, priceUsd };
}

function wrongWith({ miss, name, missing, isUnknownName }: NonNullable<Route['fault']>): string {
  if (isUnknownName === true)
    return `no parameter is called "${name}"; /manifest names those of its path`;
  return miss === 'missing_parameter'
    ? `it would buy nothing without ${missing.map((one) => `"${one}"`).join(', ')}; add what is missing`
    : `the value of "${name}" is not legal; /gauge/preview lists the legal ones`;
}

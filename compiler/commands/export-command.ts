import { sign } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Command } from 'commander';
import { citationSchema } from '../contract/citation.ts';
import {
  credentialDigest,
  isCredential,
  signedCredential,
  unsignedCredential,
} from '../contract/credential.ts';
import { isoTime } from '../contract/iso-time.ts';
import type { KeyHistory } from '../contract/key-history.ts';
import { SERIES_CSV_HEADER } from '../contract/series.ts';
import { bodyOfText, UNSIGNED_CSV } from '../contract/series-csv.ts';
import { decodeUtf8, isObject, type JsonObject, parseJson } from '../contract/strict-json.ts';
import { readIssuerKey } from '../keys/issuer-key.ts';
import { readKeys } from '../keys/key-store.ts';
import { issuerDid, signingKey } from '../stages/seal/sealer.ts';
import { readAll, readNamed } from '../verify/disk.ts';
import { openChunks } from '../verify/plain-file.ts';
import { verifyBody } from '../verify/verify-body.ts';
import { INPUT_BYTES_MAX } from '../verify/verify-command.ts';
import { type CommandSettings, dataFolder } from './command-settings.ts';
import { instant } from './publication-time.ts';

const STDIN = 0;

interface ExportFlags {
  readonly vc: string;
  readonly key?: string;
  readonly data: string;
  readonly validUntil?: string;
}

/** Defines `export`. */
export function defineExport(command: Command, settings: CommandSettings): void {
  const { env, now, print } = settings;
  command
    .requiredOption('--vc <file>', 'a saved body of your own, or - for standard input')
    .option('--key <file>', 'key that signed the body (or SIGNALPRESS_ISSUER_KEY)')
    .option(
      '--data <folder>',
      'folder of releases, whose list says whether the key may still sign',
      dataFolder(settings),
    )
    .option('--valid-until <time>', 'when readers should ask for a newer one (default: no end)')
    .action(({ vc, key, data, validUntil }: ExportFlags) => {
      const keys = readKeys(data);
      const credential = exportCredential(savedBody(vc), {
        seed: readIssuerKey(key ?? env('SIGNALPRESS_ISSUER_KEY')),
        now: now(),
        ...(keys === null ? {} : { keys }),
        ...(validUntil === undefined
          ? {}
          : { validUntil: instant('--valid-until', validUntil, validUntil) }),
      });
      print(credential);
    });
}

function savedBody(path: string): JsonObject {
  const bytes =
    path === '-' ? readAll(openChunks(STDIN), INPUT_BYTES_MAX) : readNamed(path, INPUT_BYTES_MAX);
  const text = decodeUtf8(bytes);
  if (text.startsWith(SERIES_CSV_HEADER)) refuse(UNSIGNED_CSV);
  const body = bodyOfText(text);
  if (!isObject(body)) refuse('not a JSON object; pass a body as it was delivered');
  return body;
}

interface ExportOptions {
  /** 32-byte Ed25519 seed of the issuer. */
  readonly seed: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The keys of the publisher over time; without them nothing says that the key was revoked. */
  readonly keys?: KeyHistory;
  readonly validUntil?: string;
}

/**
 * The text of a credential of a body. Throws a RangeError for a body that does not hold, that another key signed, or that no
 * citation covers whole: what is signed here is verified first, as its reader will.
 */
export function exportCredential(body: JsonObject, options: ExportOptions): string {
  const { seed, now, keys, validUntil } = options;
  const key = signingKey(seed);
  const did = issuerDid(key);
  const times = { ...(validUntil === undefined ? {} : { validUntil }), created: isoTime(now) };
  const validFrom = collectedAt(body, did);
  const unsigned = unsignedCredential(did, body, { validFrom, ...times });
  const signature = sign(null, credentialDigest(unsigned, sha256), key);
  const text = JSON.stringify(signedCredential(unsigned, new Uint8Array(signature)), null, 2);
  const given = keys === undefined ? {} : { keys };
  const report = verifyBody(parseJson(text), { trust: [did], now, ...given });
  const failed = report.checks.find(({ status }) => status === 'fail');
  if (failed !== undefined) refuse(`${failed.where}: ${failed.detail}`);
  if (report.verdict !== 'verified') {
    const open = report.checks.find(({ check }) => check === 'anchor' || check === 'cover');
    refuse(`not all of it is verified: ${open?.detail ?? 'its citation does not cover it'}`);
  }
  return text;
}

/** When a body was collected, by its citation; throws for a body that this key did not sign. */
function collectedAt(body: JsonObject, did: string): string {
  if (isCredential(body)) refuse('it is a credential already');
  const citation = citationSchema.safeParse(body._citation);
  if (!citation.success) refuse('it has no citation of its own; pass one body that is signed');
  const { issuer_DID, retrieved_at } = citation.data;
  if (issuer_DID === did) return retrieved_at;
  return refuse(`${issuer_DID} signed it, and the key is that of ${did}; pass the key of the body`);
}

function refuse(why: string): never {
  throw new RangeError(`Cannot export the body: ${why}`);
}

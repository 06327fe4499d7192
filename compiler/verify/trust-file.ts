// The trust file: whom a reader trusts, in one place, for every judge and client. Its reader wrote it and keeps it; nobody signs
// it. `signalpress trust init` makes one.

import { sha256 } from '@noble/hashes/sha2.js';
import { z } from 'zod';
import { parseVerifierKey } from '../format/checkpoint.ts';
import { messageOf } from '../format/errors.ts';
import { HOUR_MS } from '../format/iso-time.ts';
import { readKeyHistory, seenKeysSchema } from '../format/key-history.ts';
import type { LogPolicy } from '../format/log-policy.ts';
import { RECORD_HASH } from '../format/record-hash.ts';
import { releaseSchema } from '../format/release.ts';
import { decodeUtf8, parseJson } from '../format/strict-json.ts';
import { type KeyTrust, trustedBy, trustedList } from './key-trust.ts';
import { readPolicy } from './policy-check.ts';
import { isSignedBy } from './verify-citation.ts';

/** Where commands look for one, in the current folder. */
export const TRUST_NAME = 'signalpress.trust';
/** A list of keys, and some KB. */
export const TRUST_BYTES_MAX = 4_194_304;

/** A release that was verified before: the next one of its issuer has to follow from it. */
export const seenSchema = z.strictObject({
  sequence: releaseSchema.shape.sequence,
  as_of: releaseSchema.shape.as_of,
  /** Hash of the whole head. */
  head: z.string().regex(RECORD_HASH),
  /** The signed note of the log, with its size and root; null for a release without a log. */
  checkpoint: z.string().nullable(),
  /** Absent in the memory of an earlier version. */
  keys: seenKeysSchema.exactOptional(),
});

export type SeenRelease = z.infer<typeof seenSchema>;

/** What was seen of each issuer, by the first of its keys. */
export const seenReleases = z.record(z.string().startsWith('did:key:z6Mk'), seenSchema);

const trustSchema = z.strictObject({
  format: z.literal('signalpress-trust/1'),
  /** Address of the shop that it was made from. */
  url: z.url({ protocol: /^https?$/ }),
  /** DIDs of issuers; or, in their place, of root keys, as many as a version of the root needs. */
  issuers: z.array(z.string()).max(64),
  roots: z.array(z.string()).max(64),
  /** Origin and key of the log, as `/log/vkey` has them. */
  log: z.string().max(1024),
  /** Lines of a C2SP tlog-policy: witnesses, and how many of them must have cosigned. None demands nobody. */
  witnesses: z.array(z.string().max(1024)).max(512),
  /** Longest age of what a body observed; null for any. */
  max_age_hours: z.number().positive().nullable(),
  /** The list of keys of the issuer, `/.well-known/keys.json`; null where it publishes none. */
  keys: z.unknown(),
  seen: seenReleases,
});

export type TrustFile = z.infer<typeof trustSchema>;

/** What a trust file tells a judge. */
export interface FileTrust extends KeyTrust {
  readonly policy?: LogPolicy;
  /** The log that a proof has to be of. */
  readonly origin: string;
  readonly maxAgeMs?: number;
}

/** Reads a trust file; throws a RangeError that says what does not hold. */
export function parseTrust(text: string | Uint8Array): TrustFile {
  return trustOrThrow(() =>
    trustSchema.parse(parseJson(typeof text === 'string' ? text : decodeUtf8(text))),
  );
}

/** Whom a trust file names; throws a RangeError for keys, roots, a log or witnesses that do not hold. */
export function trustOfFile(file: TrustFile): FileTrust {
  return trustOrThrow(() => {
    const { issuers, roots, log, witnesses, max_age_hours: hours, keys } = file;
    if (issuers.length + roots.length === 0) throw new RangeError('it names no issuer');
    const trusted = trustedBy(issuers, roots);
    if (keys === null && roots.length > 0) throw new RangeError('root keys need a list of keys');
    return {
      ...trusted,
      ...(keys === null ? {} : { keys: trustedList(readKeyHistory(keys, isSignedBy), trusted) }),
      origin: parseVerifierKey(log, sha256).name,
      ...(witnesses.length === 0
        ? {}
        : { policy: readPolicy(new TextEncoder().encode(`${witnesses.join('\n')}\n`)) }),
      ...(hours === null ? {} : { maxAgeMs: hours * HOUR_MS }),
    };
  });
}

export function formatTrust(file: TrustFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}

function trustOrThrow<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause);
    throw new RangeError(`Cannot use the trust file: ${why}`, { cause });
  }
}

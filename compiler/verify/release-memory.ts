import { z } from 'zod';
import {
  isOfSeen,
  type KeyHistory,
  rootDid,
  type SeenKeys,
  seenKey,
  seenKeysSchema,
} from '../contract/key-history.ts';
import { RECORD_HASH } from '../contract/record-hash.ts';
import { releaseSchema } from '../contract/release.ts';
import { parseJson } from '../contract/strict-json.ts';

/** Longest memory that is read: a few hundred bytes an issuer, and 80 for each key and each statement about one. */
export const MEMORY_BYTES_MAX = 1_048_576;

const hash = z.string().regex(RECORD_HASH);

const seenSchema = z.strictObject({
  sequence: releaseSchema.shape.sequence,
  as_of: releaseSchema.shape.as_of,
  /** Hash of the whole head. */
  head: hash,
  /** The signed note of the log, with its size and root; null for a release without a log. */
  checkpoint: z.string().nullable(),
  /** Absent in the memory of an earlier version. */
  keys: seenKeysSchema.exactOptional(),
});

const memorySchema = z.strictObject({
  format: z.literal('signalpress-remembered/1'),
  issuers: z.record(z.string().startsWith('did:key:z6Mk'), seenSchema),
});

/** The newest release of an issuer that was verified. */
export type SeenRelease = z.infer<typeof seenSchema>;
type SeenReleases = z.infer<typeof memorySchema>;

const EMPTY: SeenReleases = { format: 'signalpress-remembered/1', issuers: {} };

/** The inverse of the text that `remember` makes; null stands for nothing remembered yet. */
export function parseMemory(text: string | null): SeenReleases {
  if (text === null) return EMPTY;
  const parsed = memorySchema.safeParse(parsedOrNull(text));
  if (parsed.success) return parsed.data;
  throw new RangeError(
    'Cannot read what was verified before: the file of --remember, or verified.json of a mirror, was not written by verify; name another one, or remove it to begin again',
  );
}

function parsedOrNull(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** What was seen, with what is known of the keys in any case. */
export type KnownRelease = SeenRelease & { readonly keys: SeenKeys };

/** What was seen of the issuer of a list of keys, whatever key the list begins with; undefined for a new issuer. */
export function seenOf(
  seen: Readonly<Record<string, SeenRelease>>,
  history: KeyHistory,
): KnownRelease | undefined {
  const known = Object.entries(seen).map(([did, release]): KnownRelease => {
    return { ...release, keys: release.keys ?? seenKey(did) };
  });
  const own = known.find(({ keys }) => keys.dids[0] === rootDid(history));
  return own ?? known.find(({ keys }) => isOfSeen(history, keys));
}

/** The text of a memory in which an issuer's newest release is this one. */
export function remember(memory: SeenReleases, did: string, seen: SeenRelease): string {
  const issuers = { ...memory.issuers, [did]: seen };
  const sorted = Object.entries(issuers).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ ...memory, issuers: Object.fromEntries(sorted) }, null, 2)}\n`;
}

import { decodeBase64 } from '../contract/base64.ts';
import {
  type Checkpoint,
  formatNote,
  linesOf,
  NOTE_CHARS_MAX,
  openNote,
  type SignedNote,
  signatureIn,
  signatureLine,
} from '../contract/checkpoint.ts';
import { isoTime } from '../contract/iso-time.ts';
import { HASH_BYTES, hashOfSubtrees, verifyConsistency } from '../contract/merkle.ts';
import { keyHashOf, type VerifierKey } from '../contract/verifier-key.ts';
import { isStrictSignature } from '../verify/strict-signature.ts';
import { sha256, type WitnessKey } from './witness-key.ts';

/** Most hashes of a consistency proof. */
const PROOF_HASHES_MAX = 63;
/** They, in lines of base64, behind the old size. */
const PROOF_CHARS_MAX = 4096;
/** Longest request, in bytes: a note of ASCII but for the dashes, and the lines in front of it. */
export const REQUEST_BYTES_MAX = NOTE_CHARS_MAX + 8192;
/** A checkpoint that was cosigned less long ago is answered with that cosignature. */
const REPEAT_S = 60;
/** How far the clock may run behind the newest cosignature. */
const CLOCK_BEHIND_S_MAX = 5;

/** An answer of tlog-witness. */
export interface WitnessAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422 | 429 | 503;
  readonly body: string;
  readonly type?: 'text/x.tlog.size';
  /** When to come again. */
  readonly retryAfterS?: number;
}

/** Whoever asks too often may come again in a second. */
export const TOO_MANY: WitnessAnswer = {
  status: 429,
  body: 'too many requests; try again in a second\n',
  retryAfterS: 1,
};

/** What a witness remembers of a log: the newest note that it cosigned, with its own line and that of the log alone. */
export interface CosignedLog {
  readonly note: string;
  /** Its own line, with the line end. */
  readonly line: string;
  readonly checkpoint: Checkpoint;
  /** When it cosigned that note, seconds since 1970. */
  readonly seconds: number;
}

/** The memory of a witness; `put` has to be durable once it returns. */
export interface WitnessMemory {
  get(origin: string): CosignedLog | null;
  put(log: CosignedLog): void;
}

interface WitnessParts {
  readonly key: WitnessKey;
  /** Keys of the logs that it cosigns, by their names. */
  readonly logs: readonly VerifierKey[];
  readonly memory: WitnessMemory;
  /** Whether this log may have one more cosignature now: each is written to the disk. */
  readonly mayCosign: (origin: string) => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A request of tlog-witness, taken apart. */
interface AddRequest {
  readonly oldSize: number;
  readonly proof: readonly Uint8Array[];
  readonly note: SignedNote;
  readonly checkpoint: Checkpoint;
}

/**
 * Answers `add-checkpoint`: 200 with a cosignature only for a checkpoint that a known key signed and that goes on from the
 * one that was cosigned last. It is remembered, durably, before its cosignature is returned. All of it is one synchronous step,
 * so that no other request comes in between.
 */
export function addCheckpoint(body: string, parts: WitnessParts): WitnessAnswer {
  const request = parseRequest(body);
  if (typeof request === 'string') return { status: 400, body: `${request}\n` };
  const { note, checkpoint } = request;
  const signer = signerOf(request, parts.logs);
  if (signer.refusal !== null) return signer.refusal;
  const known = parts.memory.get(checkpoint.origin);
  const refusal = growthRefusal(request, known);
  if (refusal !== null) return refusal;
  const seconds = Math.floor(parts.now() / 1000);
  const { key, memory } = parts;
  // Of one size it is the same tree by now.
  const isSame = known !== null && known.checkpoint.size === checkpoint.size;
  if (isSame && seconds - known.seconds < REPEAT_S) return { status: 200, body: known.line };
  const behind = known === null ? null : clockBehind(known, seconds);
  if (behind !== null) return { status: 503, ...behind };
  if (!parts.mayCosign(checkpoint.origin)) return TOO_MANY;
  const stated = Math.max(seconds, known?.seconds ?? 0);
  const own = key.cosign(note.text, stated);
  const cosigned = formatNote({ text: note.text, signatures: [...signer.lines, own] });
  const line = signatureLine(own);
  memory.put({ note: cosigned, line, checkpoint, seconds: stated });
  return { status: 200, body: line };
}

/** What a witness says whose clock ran ahead when it cosigned a log last; null where it did not. */
export function clockBehind(
  { seconds: last }: CosignedLog,
  seconds: number,
): { readonly body: string; readonly retryAfterS: number } | null {
  const retryAfterS = last - CLOCK_BEHIND_S_MAX - seconds;
  if (retryAfterS <= 0) return null;
  const [now, until] = [isoTime(seconds * 1000), isoTime(last * 1000)];
  const body = `the clock of this witness says ${now}, and it cosigned this log at ${until}; it cosigns it again from then on\n`;
  return { body, retryAfterS };
}

/** The request in a body, or what is wrong with it. */
function parseRequest(body: string): AddRequest | string {
  const cut = body.indexOf('\n\n');
  if (cut < 0) return 'no empty line before a checkpoint';
  if (cut > PROOF_CHARS_MAX) return `more than ${PROOF_HASHES_MAX} hashes`;
  const [first = '', ...lines] = body.slice(0, cut).split('\n');
  const [, digits] = /^old (0|[1-9][0-9]{0,15})$/.exec(first) ?? [];
  const oldSize = Number(digits);
  if (!Number.isSafeInteger(oldSize)) return 'the first line is not "old <size>"';
  if (lines.length > PROOF_HASHES_MAX) return `more than ${PROOF_HASHES_MAX} hashes`;
  const proof = lines.flatMap((line) => decodeBase64(line) ?? []);
  if (proof.length !== lines.length || proof.some((hash) => hash.length !== HASH_BYTES)) {
    return 'a line of the proof is not the base64 of 32 bytes';
  }
  const opened = openNote(body.slice(cut + 2));
  if (opened === null) return 'no signed checkpoint behind the proof';
  if (oldSize > opened.checkpoint.size) return 'the old size is above that of the checkpoint';
  return { oldSize, proof, ...opened };
}

type Signer =
  | { readonly refusal: WitnessAnswer }
  | { readonly refusal: null; readonly lines: SignedNote['signatures'] };

/** The lines of a note that known keys of its log signed; a refusal where there is none, or one is forged. */
function signerOf({ note, checkpoint }: AddRequest, logs: readonly VerifierKey[]): Signer {
  const keys = logs.filter(({ name }) => name === checkpoint.origin);
  if (keys.length === 0) {
    return { refusal: { status: 404, body: 'this witness does not know that log\n' } };
  }
  const bytes = Buffer.from(note.text, 'utf8');
  const lines = keys.flatMap((key) => {
    const keyHash = keyHashOf(key, sha256);
    const own = linesOf(note, key.name, keyHash);
    const signature = signatureIn(note, key.name, keyHash);
    const holds = signature !== null && isStrictSignature(signature, bytes, key.publicKey);
    return own.map((line) => ({ line, holds }));
  });
  if (lines.length === 0 || lines.some(({ holds }) => !holds)) {
    return {
      refusal: { status: 403, body: 'no known key of that log signed it, or one did not\n' },
    };
  }
  return { refusal: null, lines: lines.map(({ line }) => line) };
}

/** Why a checkpoint does not go on from what is known of its log. */
function growthRefusal(
  { oldSize, proof, checkpoint }: AddRequest,
  known: CosignedLog | null,
): WitnessAnswer | null {
  const size1 = known?.checkpoint.size ?? 0;
  if (oldSize !== size1) return { status: 409, body: `${size1}\n`, type: 'text/x.tlog.size' };
  const { size: size2, root: root2 } = checkpoint;
  if (size2 === 0 && Buffer.compare(root2, hashOfSubtrees([], sha256)) !== 0) {
    return refused('the root of no entries is another');
  }
  if (oldSize === 0) return proof.length === 0 ? null : refused('no entries need no proof');
  const root1 = known?.checkpoint.root ?? new Uint8Array(0);
  const isGrown = verifyConsistency({ size1, size2, root1, root2, proof }, sha256);
  return isGrown ? null : refused(`it does not go on from the ${size1} entries that were cosigned`);
}

function refused(why: string): WitnessAnswer {
  return { status: 422, body: `${why}\n` };
}

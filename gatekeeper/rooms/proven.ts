import { type Checkpoint, openNote } from '../../compiler/contract/checkpoint.ts';
import { hashedIn, PROOF_MEMBER } from '../../compiler/contract/citation.ts';
import { bringsProof, type Endpoint, type TablePath } from '../../compiler/contract/endpoints.ts';
import { RECORD_HASH } from '../../compiler/contract/record-hash.ts';
import { isSignedCsv } from '../../compiler/contract/series-csv.ts';
import { CHECKPOINT_PATH } from '../../compiler/contract/tiles.ts';
import { formatTlogProof, type TlogProof } from '../../compiler/contract/tlog-proof.ts';
import type { Content, Question, Service } from '../answers/service.ts';
import { FOR_EVERYBODY } from '../http/cost.ts';
import { inclusionProof } from '../release/log-files.ts';
import { findLeaf } from '../release/log-index.ts';
import { logTip } from '../release/log-tip.ts';
import { oncePerRelease, perRelease } from '../release/per-release.ts';
import type { ReleaseIndex, ReleaseReader } from '../release/release-index.ts';
import { BoundedMap } from '../system/bounded-map.ts';

/** Bytes that tell a signed table from JSON. */
const TABLE_MARK_BYTES = 2;
/** What is free and brings one all the same: a record as it is sold, and what stands in front of it there. */
const SAMPLE_PATH: TablePath = '/gauge/sample';
const SAMPLE_START = '{"sample":';

/** Bytes of bodies that are kept for one release, without their proofs and with them. */
const PROVEN_BYTES_MAX = 4 * 1024 * 1024;

/** Bodies with their proofs and the signed notes that these lead to, by the bytes without: the same buffer is sold until a member of request time changes. */
const provenBodies = oncePerRelease(
  () =>
    new BoundedMap<Buffer, { body: Buffer; note: string | null }>({
      bytes: PROVEN_BYTES_MAX,
      isByUse: true,
    }),
);

/**
 * What is signed whole, sold or free, with the proof that it is in the log. Computed, because the proof leads to the newest
 * root. It is made before money is asked for: where the log cannot be read, nothing is charged, and `proof=0` still buys the
 * body.
 */
export async function proven(
  content: Content,
  { route, spend }: Question,
  { release }: Service,
): Promise<Content> {
  const { endpoint, values } = route;
  const isSample = endpoint.path === SAMPLE_PATH;
  if ((!bringsProof(endpoint) && !isSample) || values.proof === '0') return content;
  // The signed note that proofs of now lead to; null for a release without a log.
  const note = (await newestCheckpoint(release))?.note ?? null;
  const { sha256: _, ...plain } = content;
  const known = provenBodies(release).get(content.body);
  if (known !== undefined && known.note === note) return { ...plain, body: known.body };
  const body = await withProof(content.body, endpoint, { release, spend });
  provenBodies(release).set(content.body, { body, note }, content.body.length + body.length);
  return { ...plain, body };
}

async function withProof(body: Buffer, endpoint: Endpoint, reader: ReleaseReader): Promise<Buffer> {
  const isSample = endpoint.path === SAMPLE_PATH;
  const start = isSample ? SAMPLE_START.length : 0;
  let end = isSample ? body.lastIndexOf('}') : body.length;
  // Of a signed table the JSON is the first line.
  if (isSignedCsv(body.toString('latin1', 0, TABLE_MARK_BYTES))) end = body.indexOf('\r\n');
  const by: ProvenBy = isSample || hashedIn(endpoint) !== null ? 'reading' : 'statement';
  const found = deliveredHashes(body.subarray(start, end), by);
  if (found === null) return body;
  const { hashes, citationAt } = found;
  for (const hash of hashes) {
    const proof = await leafProof(hash, reader);
    if (proof !== null) {
      const at = start + citationAt;
      const member = `"${PROOF_MEMBER}":${JSON.stringify(proof)},`;
      return Buffer.concat([body.subarray(0, at), Buffer.from(member, 'utf8'), body.subarray(at)]);
    }
  }
  return body;
}

// The hashes of a body of which one is in the log (contract/citation.ts), found in its bytes: nothing whole is parsed.

const CITATION = '"_citation":';
const RECORD_HASH_MEMBER = Buffer.from('"record_hash":"');
const HASH_CHARS = 'sha256:'.length + 64;
/** How far the record hash of a body is looked for; bodies of one reading are shorter, and a document that is not is proven by its statement. */
const SEARCHED_BYTES_MAX = 256 * 1024;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** What each byte outside of texts does to the depth. */
const STEPS = new Int8Array(256);
for (const [index, bracket] of [...'{[}]'].entries()) {
  STEPS[bracket.charCodeAt(0)] = index < 2 ? 1 : -1;
}

/** What proves a body: the reading or row that it is about, else its statement. */
type ProvenBy = 'reading' | 'statement';

/** Looks into a sealed body, whose last member is its citation; null for any other. */
export function deliveredHashes(
  body: Buffer,
  by: ProvenBy,
): { citationAt: number; hashes: readonly string[] } | null {
  const citationAt = body.lastIndexOf(CITATION);
  if (citationAt === -1) return null;
  const statement = statementIn(body.subarray(citationAt + CITATION.length, body.lastIndexOf('}')));
  const hashes = [by === 'reading' ? ownRecordHash(body) : null, statement];
  return { citationAt, hashes: hashes.filter((hash) => hash !== null) };
}

function statementIn(citation: Buffer): string | null {
  const { record_hash: hash } = JSON.parse(citation.toString('utf8')) as { record_hash?: unknown };
  return typeof hash === 'string' && RECORD_HASH.test(hash) ? hash : null;
}

/** The member `record_hash` at the top of a JSON object; null where it has none, or only behind SEARCHED_BYTES_MAX. */
function ownRecordHash(body: Buffer): string | null {
  const end = Math.min(body.length, SEARCHED_BYTES_MAX);
  let depth = 0;
  for (let at = 0; at < end; at += 1) {
    const value = at + RECORD_HASH_MEMBER.length;
    if (body[at] !== QUOTE) depth += STEPS[body[at] ?? 0] ?? 0;
    else if (depth === 1 && body.subarray(at, value).equals(RECORD_HASH_MEMBER)) {
      const hash = body.toString('latin1', value, value + HASH_CHARS);
      return RECORD_HASH.test(hash) ? hash : null;
    } else at = endOfString(body, at);
  }
  return null;
}

function endOfString(body: Buffer, start: number): number {
  for (let at = start + 1; at < body.length; at += 1) {
    if (body[at] === BACKSLASH) at += 1;
    else if (body[at] === QUOTE) return at;
  }
  return body.length;
}

/** The place of a hash in the log, and the text of its proof against one signed note. */
type KeptProof = Pick<TlogProof, 'index' | 'hashes'> & { note: string; text: string };

const PROOFS_BYTES_MAX = 4 * 1024 * 1024;
/** What a proof takes beside its text. */
const PROOF_BYTES = 256;
/** What each of its hashes takes. */
const HASH_ENTRY_BYTES = 128;

/** By hash; null for a hash that is no entry. */
const proofs = oncePerRelease(
  () => new BoundedMap<string, KeptProof | null>({ bytes: PROOFS_BYTES_MAX, isByUse: true }),
);

/**
 * That a hash is an entry of the log, as a tlog-proof@v1 text against the newest checkpoint; null for one that is none, and
 * for a release without a log. Throws when the log cannot be read.
 */
export async function leafProof(hash: string, reader: ReleaseReader): Promise<string | null> {
  const newest = await newestCheckpoint(reader.release);
  if (newest === null) return null;
  const kept = proofs(reader.release);
  const known = kept.get(hash);
  if (known === null || known?.note === newest.note) return known?.text ?? null;
  const { note } = newest;
  // A witness may have signed the checkpoint since: the place in the tree is the same.
  let place: Pick<TlogProof, 'index' | 'hashes'> | undefined = known;
  if (place === undefined) {
    const leaf = await findLeaf(hash.slice('sha256:'.length), reader);
    if (leaf.state !== 'found') {
      kept.set(hash, null, PROOF_BYTES);
      return null;
    }
    const hashes = await inclusionProof(leaf.index, newest.size, reader);
    place = { index: leaf.index, hashes: hashes.map((one) => Buffer.from(one, 'hex')) };
  }
  const { index, hashes } = place;
  const text = formatTlogProof({ index, hashes, checkpoint: note });
  const bytes = PROOF_BYTES + text.length + HASH_ENTRY_BYTES * hashes.length;
  kept.set(hash, { index, hashes, note, text }, bytes);
  return text;
}

/** The checkpoint with the head of the release in it, with whatever witnesses have signed it; of a release from before the listed one. */
async function newestCheckpoint(
  release: ReleaseIndex,
): Promise<(Checkpoint & { note: string }) | null> {
  const tip = await logTip(release);
  if (tip === null) return listedCheckpoint(release);
  return { ...tip.proof.signed, note: tip.proof.checkpoint };
}

const listedCheckpoint = perRelease(async (release: ReleaseIndex) => {
  if (!release.has(CHECKPOINT_PATH)) return null;
  const { bytes } = await release.body(CHECKPOINT_PATH, FOR_EVERYBODY);
  const note = bytes.toString('utf8');
  const opened = openNote(note);
  if (opened === null) throw new RangeError(`Cannot read "${CHECKPOINT_PATH}": no checkpoint`);
  return { ...opened.checkpoint, note };
});

import { PROOF_MEMBER } from '../../compiler/contract/body-proof.ts';
import { bringsProof } from '../../compiler/contract/endpoints.ts';
import { isSignedCsv } from '../../compiler/contract/series-csv.ts';
import type { Content, Question, Service } from '../answers/service.ts';
import { deliveredHashes } from '../release/delivered-hashes.ts';
import { leafProof, newestNote } from '../release/leaf-proof.ts';
import { oncePerRelease } from '../release/per-release.ts';
import type { ReleaseReader } from '../release/release-index.ts';
import { BoundedMap } from '../system/bounded-map.ts';

/** Bytes that tell a signed table from JSON. */
const TABLE_MARK_BYTES = 2;

interface ProvenBody {
  readonly body: Buffer;
  /** Signed note that its proof leads to. */
  readonly note: string | null;
}

/** Bytes of sold bodies that are kept for one release, without their proofs and with them. */
const PROVEN_BYTES_MAX = 4 * 1024 * 1024;

/** Bodies with their proofs, by the bytes without: the same buffer is sold until a member of request time changes. */
const provenBodies = oncePerRelease(
  () => new BoundedMap<Buffer, ProvenBody>({ bytes: PROVEN_BYTES_MAX, isByUse: true }),
);

/**
 * What is sold, with the proof that it is in the log. Computed, because the proof leads to the newest root. It is made before
 * money is asked for: where the log cannot be read, nothing is charged, and `proof=0` still buys the body.
 */
export async function proven(
  content: Content,
  { route, spend }: Question,
  { release }: Service,
): Promise<Content> {
  const { endpoint, values } = route;
  if (!bringsProof(endpoint) || values.proof === '0') return content;
  const note = await newestNote(release);
  const known = provenBodies(release).get(content.body);
  if (known !== undefined && known.note === note) return { ...content, body: known.body };
  const isSettlement = endpoint.answer === 'resolve';
  const body = await withProof(content.body, isSettlement, { release, spend });
  provenBodies(release).set(content.body, { body, note }, content.body.length + body.length);
  return { ...content, body };
}

async function withProof(
  body: Buffer,
  isSettlement: boolean,
  reader: ReleaseReader,
): Promise<Buffer> {
  const found = deliveredHashes(jsonOf(body), isSettlement);
  if (found === null) return body;
  const { hashes, citationAt } = found;
  for (const hash of hashes) {
    const proof = await leafProof(hash, reader);
    if (proof !== null) return inserted(body, citationAt, proof);
  }
  return body;
}

/** The JSON of a body; of a signed table it is the first line, behind the mark. */
function jsonOf(body: Buffer): Buffer {
  const isTable = isSignedCsv(body.toString('latin1', 0, TABLE_MARK_BYTES));
  return isTable ? body.subarray(0, body.indexOf('\r\n')) : body;
}

function inserted(body: Buffer, at: number, proof: string): Buffer {
  const member = `"${PROOF_MEMBER}":${JSON.stringify(proof)},`;
  return Buffer.concat([body.subarray(0, at), Buffer.from(member, 'utf8'), body.subarray(at)]);
}

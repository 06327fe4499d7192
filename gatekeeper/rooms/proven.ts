import { hashedIn, PROOF_MEMBER } from '../../compiler/contract/citation.ts';
import { bringsProof, type Endpoint, type TablePath } from '../../compiler/contract/endpoints.ts';
import { isSignedCsv } from '../../compiler/contract/series-csv.ts';
import type { Content, Question, Service } from '../answers/service.ts';
import { deliveredHashes, type ProvenBy } from '../release/delivered-hashes.ts';
import { leafProof, newestNote } from '../release/leaf-proof.ts';
import { oncePerRelease } from '../release/per-release.ts';
import type { ReleaseReader } from '../release/release-index.ts';
import { BoundedMap } from '../system/bounded-map.ts';

/** Bytes that tell a signed table from JSON. */
const TABLE_MARK_BYTES = 2;
/** What is free and brings one all the same: a record as it is sold, and what stands in front of it there. */
const SAMPLE_PATH: TablePath = '/gauge/sample';
const SAMPLE_START = '{"sample":';

interface ProvenBody {
  readonly body: Buffer;
  /** Signed note that its proof leads to. */
  readonly note: string | null;
}

/** Bytes of bodies that are kept for one release, without their proofs and with them. */
const PROVEN_BYTES_MAX = 4 * 1024 * 1024;

/** Bodies with their proofs, by the bytes without: the same buffer is sold until a member of request time changes. */
const provenBodies = oncePerRelease(
  () => new BoundedMap<Buffer, ProvenBody>({ bytes: PROVEN_BYTES_MAX, isByUse: true }),
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
  const note = await newestNote(release);
  const { sha256: _, ...plain } = content;
  const known = provenBodies(release).get(content.body);
  if (known !== undefined && known.note === note) return { ...plain, body: known.body };
  const body = await withProof(content.body, endpoint, { release, spend });
  provenBodies(release).set(content.body, { body, note }, content.body.length + body.length);
  return { ...plain, body };
}

async function withProof(body: Buffer, endpoint: Endpoint, reader: ReleaseReader): Promise<Buffer> {
  const isSample = endpoint.path === SAMPLE_PATH;
  const signed = isSample ? sampleIn(body) : { json: jsonOf(body), at: 0 };
  const found = deliveredHashes(signed.json, isSample ? 'reading' : provenBy(endpoint));
  if (found === null) return body;
  const { hashes, citationAt } = found;
  for (const hash of hashes) {
    const proof = await leafProof(hash, reader);
    if (proof !== null) return inserted(body, signed.at + citationAt, proof);
  }
  return body;
}

function provenBy(endpoint: Endpoint): ProvenBy {
  if (endpoint.answer === 'resolve') return 'coverage';
  return hashedIn(endpoint) === null ? 'statement' : 'reading';
}

/** The JSON of a body; of a signed table it is the first line, behind the mark. */
function jsonOf(body: Buffer): Buffer {
  const isTable = isSignedCsv(body.toString('latin1', 0, TABLE_MARK_BYTES));
  return isTable ? body.subarray(0, body.indexOf('\r\n')) : body;
}

/** The JSON of the record in a sample, and where it begins. */
function sampleIn(body: Buffer): { readonly json: Buffer; readonly at: number } {
  return {
    json: body.subarray(SAMPLE_START.length, body.lastIndexOf('}')),
    at: SAMPLE_START.length,
  };
}

function inserted(body: Buffer, at: number, proof: string): Buffer {
  const member = `"${PROOF_MEMBER}":${JSON.stringify(proof)},`;
  return Buffer.concat([body.subarray(0, at), Buffer.from(member, 'utf8'), body.subarray(at)]);
}

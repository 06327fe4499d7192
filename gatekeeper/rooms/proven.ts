import { type Citation, citedTarget, PROOF_MEMBER } from '../../compiler/format/citation.ts';
import type { TablePath } from '../../compiler/products/products.ts';
import { formatProofExtra, isStatementProven } from '../../compiler/products/shapes/body-proof.ts';
import { bringsProof } from '../../compiler/products/shapes/product.ts';
import { isSignedCsv } from '../../compiler/products/shapes/series-csv.ts';
import type { Content, Question, Service } from '../heart/answers/service.ts';
import { type LogTip, logTip } from '../heart/release/log-tip.ts';
import { DamagedFileError, sha256 } from '../heart/release/read-body.ts';
import { perRelease, type ReleaseReader } from '../heart/release/release-index.ts';
import { placeOfStatement } from '../heart/release/statements.ts';
import { BoundedMap } from '../wire/maps.ts';

/** Bytes that tell a signed table from JSON. */
const TABLE_MARK_BYTES = 2;
/** What is free and brings one all the same: a record as it is sold, in a member. */
const SAMPLE_PATH: TablePath = '/gauge/sample';
/** How a record in a sample ends, and any other body. */
const [SAMPLE_END, BODY_END] = ['}}', '}'];
const CITATION = '"_citation":';

/** Bytes of bodies that are kept for one release, without their proofs and with them. */
const PROVEN_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Bodies with their proofs and the tips that these lead to, by the bytes without: the same buffer is sold until a member of
 * request time changes.
 */
const provenBodies = perRelease(
  () =>
    new BoundedMap<Buffer, { cited: Cited; body: Buffer; tip: LogTip }>({
      bytes: PROVEN_BYTES_MAX,
      isByUse: true,
    }),
);

/**
 * What is signed whole, sold or free, with the proof that its statement is the one that the release answers with. Computed,
 * because the proof leads to the newest root. It is made before money is asked for: where the log cannot be read, nothing is
 * charged, and `proof=0` still buys the body.
 */
export async function proven(
  content: Content,
  { route, spend }: Question,
  { release }: Service,
): Promise<Content> {
  const { endpoint, values } = route;
  const isSample = endpoint.path === SAMPLE_PATH;
  if ((!bringsProof(endpoint) && !isSample) || values.proof === '0') return content;
  const known = provenBodies(release).get(content.body);
  const cited = known?.cited ?? citedIn(content.body, isSample ? SAMPLE_END : BODY_END);
  if (cited === null) return content;
  const tip = await logTip(release);
  const { sha256: _, ...plain } = content;
  if (known?.tip === tip) return { ...plain, body: known.body };
  const proof = await proofText(cited, tip, { release, spend });
  const { at } = cited;
  const member = Buffer.from(`"${PROOF_MEMBER}":${proof},`, 'utf8');
  const body = Buffer.concat([content.body.subarray(0, at), member, content.body.subarray(at)]);
  provenBodies(release).set(content.body, { cited, body, tip }, content.body.length + body.length);
  return { ...plain, body };
}

/** A statement, the request that it answers, and where its citation begins in a body. */
interface Cited {
  readonly target: string;
  readonly statement: string;
  readonly at: number;
}

/**
 * The citation of a whole body, which is its last member; null where nothing or not all of it is signed. Nothing else is
 * parsed.
 */
function citedIn(body: Buffer, closing: string): Cited | null {
  // Of a signed table the JSON is the first line.
  const isTable = isSignedCsv(body.toString('latin1', 0, TABLE_MARK_BYTES));
  const end = isTable ? body.indexOf('\r\n') : body.length;
  const at = body.lastIndexOf(CITATION, end);
  if (at === -1) return null;
  const text = body.toString('utf8', at + CITATION.length, end).trimEnd();
  if (!text.endsWith(closing)) throw unread();
  let json: unknown;
  try {
    json = JSON.parse(text.slice(0, -closing.length));
  } catch (cause) {
    throw unread(cause);
  }
  const { record_hash: statement, verify_url, source } = json as Partial<Citation>;
  if (statement === undefined || verify_url === undefined || source === undefined) return null;
  const target = citedTarget(json as Citation);
  return target === null ? null : { target, statement, at };
}

function unread(cause?: unknown): DamagedFileError {
  return new DamagedFileError('Cannot prove a body: it does not end in its citation', { cause });
}

/** Proofs by statement: a body with words of time is another one each second, and its statement stays. */
const PROOFS_BYTES_MAX = 2 * 1024 * 1024;
const proofs = perRelease(
  () =>
    new BoundedMap<string, { text: string; target: string; tip: LogTip }>({
      bytes: PROOFS_BYTES_MAX,
      isByUse: true,
    }),
);

/** A proof as JSON, checked to lead from the statement to the root that the entry of the release states. */
async function proofText(cited: Cited, tip: LogTip, reader: ReleaseReader): Promise<string> {
  const { entry, entryBytes, aroundExtra } = tip;
  const kept = proofs(reader.release);
  const known = kept.get(cited.statement);
  if (known?.tip === tip && known.target === cited.target) return known.text;
  const place = await placeOfStatement(cited, reader);
  if (place === null || !isStatementProven({ entry, ...place }, cited, sha256)) {
    throw new DamagedFileError(
      `Cannot prove "${cited.target}": its statement is not the one of the release; compile again with --full`,
    );
  }
  const [first, rest] = aroundExtra;
  const extra = Buffer.from(formatProofExtra({ entryBytes, ...place })).toString('base64');
  const text = first + extra + rest;
  kept.set(cited.statement, { text, target: cited.target, tip }, text.length);
  return text;
}

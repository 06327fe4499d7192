import { RECORD_HASH } from '../../compiler/contract/record-hash.ts';

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

/** Where the citation of a body begins, and what can be proven of the body, the best first. */
interface DeliveredHashes {
  readonly citationAt: number;
  readonly hashes: readonly string[];
}

/** What proves a body: the reading or row that it is about, else its statement; of a settlement answer that of its coverage. */
export type ProvenBy = 'reading' | 'statement' | 'coverage';

/** Looks into a sealed body, whose last member is its citation, or into a settlement answer, where `coverage` is the one before; null for any other. */
export function deliveredHashes(body: Buffer, by: ProvenBy): DeliveredHashes | null {
  const citationAt = body.lastIndexOf(CITATION);
  if (citationAt === -1) return null;
  const statement = statementIn(body.subarray(citationAt + CITATION.length, body.lastIndexOf('}')));
  const hashes =
    by === 'coverage'
      ? [coverageStatement(body, citationAt)]
      : [by === 'reading' ? ownRecordHash(body) : null, statement];
  return { citationAt, hashes: hashes.filter((hash) => hash !== null) };
}

/** `…"_citation":{…}},"_citation":`: the coverage ends with its own citation. */
function coverageStatement(body: Buffer, citationAt: number): string | null {
  const at = body.lastIndexOf(CITATION, citationAt - 1);
  return at === -1 ? null : statementIn(body.subarray(at + CITATION.length, citationAt - 2));
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
    if (body[at] !== QUOTE) depth += STEPS[body[at] ?? 0] ?? 0;
    else if (depth === 1 && isMember(body, at)) return hashFrom(body, at);
    else at = endOfString(body, at);
  }
  return null;
}

function isMember(body: Buffer, at: number): boolean {
  return body.subarray(at, at + RECORD_HASH_MEMBER.length).equals(RECORD_HASH_MEMBER);
}

function hashFrom(body: Buffer, member: number): string | null {
  const at = member + RECORD_HASH_MEMBER.length;
  const hash = body.toString('latin1', at, at + HASH_CHARS);
  return RECORD_HASH.test(hash) ? hash : null;
}

/** Where the string ends that begins at a quotation mark. */
function endOfString(body: Buffer, start: number): number {
  for (let at = start + 1; at < body.length; at += 1) {
    if (body[at] === BACKSLASH) at += 1;
    else if (body[at] === QUOTE) return at;
  }
  return body.length;
}

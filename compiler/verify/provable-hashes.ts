import { citationSchema, citedTarget, hashedIn } from '../contract/citation.ts';
import { TABLE } from '../contract/endpoints.ts';
import { RECORD_HASH } from '../contract/record-hash.ts';
import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';
import { bearsCore } from './record-hash-checks.ts';

/**
 * A hash whose entry in the log proves a body, and what it is the hash of: its reading, which the body bears whole; a reading
 * that it only names, so that its own figures are in no entry; its signed statement.
 */
export interface ProvableHash {
  readonly hash: string;
  readonly of: 'reading' | 'named reading' | 'statement';
}

/**
 * The hashes of which one has to be the leaf of a body's proof, the best first: the record hash of the one reading that it
 * is about, else its signed statement. What a settlement answer follows from is signed in its `coverage`.
 */
export function provableHashes(body: JsonValue): ProvableHash[] {
  if (!isObject(body)) return [];
  const { coverage } = body;
  const covered = isObject(coverage) && repeatsPart(body) ? statementHash(coverage) : null;
  if (covered !== null) return [{ hash: covered, of: 'statement' }];
  const own = ofReading(body);
  const statement = statementHash(body);
  return [
    ...(own === null ? [] : [own]),
    ...(statement === null ? [] : [{ hash: statement, of: 'statement' as const }]),
  ];
}

/**
 * The record hash of the one reading or row that a body is about, by its signed address. A body that joins several cannot borrow
 * the entry of one of them. A record and a row are hashed whole, so they bear the core of the hash themselves.
 */
function ofReading(body: JsonObject): ProvableHash | null {
  const { record_hash: hash } = body;
  const [path, asked] = signedAddress(body);
  const row = TABLE.find((each) => each.path === path);
  const of = row === undefined ? null : hashedIn(row);
  if (of === null || typeof hash !== 'string' || !RECORD_HASH.test(hash)) return null;
  const isWhole = of === 'row' || (path === '/gauge' && !asked.has('format'));
  if (isWhole && !bearsCore(body, of)) return null;
  const isOfBody = (name: string): boolean => asked.get(name) === body[name];
  const isOwn = of === 'row' || ['signal_id', 'entity'].every(isOfBody);
  return isOwn ? { hash, of: isWhole ? 'reading' : 'named reading' } : null;
}

/** The path that the citation of a body names, and what is asked for there. */
function signedAddress({ _citation }: JsonObject): [string | undefined, URLSearchParams] {
  const cited = citationSchema.safeParse(_citation);
  const [path, query] = (cited.success ? citedTarget(cited.data) : null)?.split('?', 2) ?? [];
  return [path, new URLSearchParams(query)];
}

/**
 * A settlement answer has no citation of its own and repeats that of a part. No signed body can: its content would hold its own
 * hash. So nobody makes another's proof pass by putting what it proves into a member `coverage`.
 */
function repeatsPart(body: JsonObject): boolean {
  const { candidate_sources: rows, evidence, coverage } = body;
  const parts = [Array.isArray(rows) ? rows[0] : undefined, evidence, coverage];
  const own = statementHash(body);
  return own !== null && parts.some((part) => isObject(part) && statementHash(part) === own);
}

function statementHash({ _citation }: JsonObject): string | null {
  const hash = isObject(_citation) ? _citation.record_hash : undefined;
  return typeof hash === 'string' && RECORD_HASH.test(hash) ? hash : null;
}

import { z } from 'zod';
import { INVENTED_HASH } from './members.ts';
import { RECORD_HASH } from './record-hash.ts';
import { withoutEchoes } from './settlement-echoes.ts';
import { isObject, JSON_DEPTH_MAX, type JsonObject, type JsonValue } from './strict-json.ts';

/** Members that follow the signed statement and are not part of it. */
export const CITATION_SEAL_FIELDS = [
  'record_hash',
  'signature',
  'key_id',
  'issuer_DID',
  'verify_url',
] as const;

/** Members of an object that depend on the moment of the request, by the signed member that they follow from. */
export const REQUEST_TIME_FIELDS = {
  freshness_basis: ['age_hours_now', 'freshness', 'freshness_leg', 'dead_source'],
  last_looked_at: ['update_status'],
  at_request: ['answered_at'],
} as const;

const hash = z.string().regex(RECORD_HASH);
const text = z.string().min(1);

/** A citation, ours or one of another issuer of the same contract, which may lack `claim`; other members are refused. */
export const citationSchema = z.strictObject({
  schema_version: z.literal('1.0').describe('version of the citation'),
  statement_type: z.literal('description').describe('always description'),
  not_advice: z.literal(true).describe('always true'),
  claim: text.exactOptional().describe('what the fact is about'),
  fact: text.describe('the fact in words'),
  source: z
    .strictObject({
      issuer: text.describe('name or DID of the issuer'),
      type: text.describe('kind'),
      url: text.nullable().describe('URL'),
      content_hash: hash.describe(
        'sha256:<64 hex> over the canonical JSON of the body without _citation, _proof and members of request time',
      ),
      published_at: text.nullable().describe('UTC date-time of the observation'),
    })
    .describe('where it comes from'),
  retrieved_at: text.describe('UTC date-time at which the snapshot was collected'),
  status: text.describe('as_published or revised'),
  translated: z.boolean().describe('whether the text is a translation'),
  record_hash: hash.describe('sha256:<64 hex> over the canonical JSON of the hash core'),
  signature: text.describe('Ed25519 over the canonical JSON of the statement, base64url'),
  key_id: text.describe('key that signed'),
  issuer_DID: text.describe('did:key of the issuer'),
  verify_url: text.describe('where the hash can be looked up, free'),
});

const DID = 'did:key:z6MkInventedExample';
const INVENTED_CITATION: z.input<typeof citationSchema> = {
  schema_version: '1.0',
  statement_type: 'description',
  not_advice: true,
  claim: 'invented claim',
  fact: 'invented fact',
  source: {
    issuer: 'Example Issuer',
    type: 'official',
    url: 'https://example.com/invented',
    content_hash: INVENTED_HASH,
    published_at: '2026-01-15T12:00:00Z',
  },
  retrieved_at: '2026-01-15T12:00:00Z',
  status: 'as_published',
  translated: false,
  record_hash: INVENTED_HASH,
  signature: 'invented-signature',
  key_id: `${DID}#z6MkInventedExample`,
  issuer_DID: DID,
  verify_url: `https://example.com/v/${INVENTED_HASH}`,
};

/** The last members of a sold body; one that was asked for with `proof=0` has no `_proof`. */
export const sealed = {
  _proof: z
    .string()
    .regex(/^c2sp\.org\/tlog-proof@v1\n/)
    .optional()
    .describe(
      'that the body is in the transparency log, as C2SP tlog-proof@v1; outside of every hash, absent with proof=0',
    ),
  _citation: citationSchema.optional().meta({
    description: 'signed statement that covers the whole body',
    examples: [INVENTED_CITATION],
  }),
};

/** The `_citation` of a delivered body: a statement with its hash, its signature and who signed. */
export type Citation = z.infer<typeof citationSchema>;

/** What a citation says about the body it is attached to. */
export interface Statement {
  readonly claim: string;
  readonly fact: string;
  /** Path and query of the operation that sells the body. */
  readonly target: string;
  readonly observed_at: string;
  readonly retrieved_at: string;
}

/** The signed part of a citation, its members in their order: its canonical JSON is hashed into `record_hash` and signed. */
export function citationStatement(
  citation: Citation,
): Omit<Citation, (typeof CITATION_SEAL_FIELDS)[number]> {
  const { record_hash, signature, key_id, issuer_DID, verify_url, ...statement } = citation;
  return statement;
}

/**
 * What `source.content_hash` covers: a deep copy of a delivered body without its `_citation`, without its
 * request-time members, and without what a settlement answer gives back of its request; throws a TypeError beyond JSON_DEPTH_MAX.
 */
export function contentOf(body: object): object {
  const { _citation, ...content } = withoutEchoes(body as { readonly _citation?: unknown });
  return deepCopy(content, 0) as object;
}

function deepCopy(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= JSON_DEPTH_MAX) {
    throw new TypeError(`Cannot copy the body: more than ${JSON_DEPTH_MAX} open containers`);
  }
  if (Array.isArray(value)) return value.map((item) => deepCopy(item, depth + 1));
  // A member is of request time only beside the one that it follows from, which is signed: nobody can add that.
  const left: readonly string[] = Object.entries(REQUEST_TIME_FIELDS).flatMap(([basis, fields]) =>
    Object.hasOwn(value, basis) ? fields : [],
  );
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !left.includes(key))
      .map(([key, member]) => [key, deepCopy(member, depth + 1)]),
  );
}

/** The key id of an issuer: its DID as a DID URL, `<did>#<multibase part>`. */
export function keyIdOf(did: string): string {
  return `${did}#${did.slice(did.lastIndexOf(':') + 1)}`;
}

/** Where a record hash can be looked up: `{base}/v/<hash>`; throws a TypeError for any other hash text. */
export function verifyUrl(baseUrl: string, recordHash: string): string {
  if (!RECORD_HASH.test(recordHash)) {
    throw new TypeError(`Cannot address "${recordHash.slice(0, 80)}": not a record hash`);
  }
  return `${baseUrl.replace(/\/$/, '')}/v/${recordHash}`;
}

/** The address of the service that a citation is of, as its `verify_url` says: it is not signed, but `source.url` is. */
export function citedBase({ verify_url, record_hash }: Citation): string {
  return verify_url.slice(0, -`/v/${record_hash}`.length);
}

/** Path and query of the operation that a citation is about; null where its address is not one of the same service. */
export function citedTarget(citation: Citation): string | null {
  const { url } = citation.source;
  const base = citedBase(citation);
  return url?.startsWith(`${base}/`) === true ? url.slice(base.length) : null;
}

// The proof that a sold body is in the log of its issuer: a tlog-proof@v1 text that comes with it. Whoever delivers the body
// adds it by bytes, directly in front of the citation, which is the last member. Nothing that is hashed or signed covers it.

/** Name of the member, at the top of a body. */
export const PROOF_MEMBER = '_proof';

/**
 * A delivered body as it was signed, and the proof that came with it, or with the record in a sample; undefined where none
 * did. One deeper inside is no proof of it and stays.
 */
export function withoutProof(delivered: JsonValue): {
  readonly body: JsonValue;
  readonly proof: JsonValue | undefined;
} {
  const record = sampleIn(delivered);
  const holder = record ?? delivered;
  if (!isObject(holder) || !Object.hasOwn(holder, PROOF_MEMBER)) {
    return { body: delivered, proof: undefined };
  }
  const { [PROOF_MEMBER]: proof, ...body } = holder;
  return { body: record === null ? body : { sample: body }, proof };
}

/** The record that is the only member of a free sample; null for any other body. */
export function sampleIn(body: JsonValue): JsonObject | null {
  if (!isObject(body) || !isObject(body.sample)) return null;
  return Object.keys(body).length === 1 ? body.sample : null;
}

/**
 * Whether a body like this one is delivered with a proof: one citation of this contract signs all of it, or of the record in a
 * sample. Whoever carries a body can change nothing of that.
 */
export function owesProof(body: JsonValue): boolean {
  const signed = sampleIn(body) ?? body;
  const cited = citationSchema.safeParse(isObject(signed) ? signed._citation : undefined);
  return cited.success && cited.data.claim !== undefined;
}

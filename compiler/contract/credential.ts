import { z } from 'zod';
import { canonicalJson } from './canonical.ts';
import { keyIdOf } from './citation.ts';
import { decodeBase58, encodeBase58 } from './did-key.ts';
import { utcTime } from './iso-time.ts';
import { isObject, type JsonObject, type JsonValue } from './strict-json.ts';

// A delivered body inside a verifiable credential (CREDENTIALS.md): W3C VC Data Model 2.0, secured with eddsa-jcs-2022.

/**
 * The contexts, in this order. The second is the W3C's own for members that no context defines: those of a body. They are
 * addresses alone, since widespread verifiers compare each context as a text.
 */
const CONTEXT = [
  'https://www.w3.org/ns/credentials/v2',
  'https://www.w3.org/ns/credentials/undefined-terms/v2',
] as const;
const TYPE = 'VerifiableCredential';
/** Bytes of an Ed25519 signature, RFC 8032 §5.1.6. */
const SIGNATURE_BYTES = 64;

const [first, second] = CONTEXT;
const context = z.tuple([z.literal(first), z.literal(second)]);
const time = z.string().refine((text) => !Number.isNaN(utcTime(text)), 'not a time in UTC');
const body = z.custom<JsonObject>((value) => isObject(value), 'not an object');

/** A credential of one body; other members are refused, because nothing here would judge them. */
export const credentialSchema = z.strictObject({
  '@context': context,
  type: z.tuple([z.literal(TYPE)]),
  issuer: z.string().min(1),
  /** `retrieved_at` of the citation of the body. */
  validFrom: time,
  validUntil: time.exactOptional(),
  credentialSubject: z.strictObject({ body }),
  proof: z.strictObject({
    '@context': context,
    type: z.literal('DataIntegrityProof'),
    cryptosuite: z.literal('eddsa-jcs-2022'),
    created: time,
    verificationMethod: z.string().min(1),
    proofPurpose: z.literal('assertionMethod'),
    proofValue: z.string(),
  }),
});
export type Credential = z.infer<typeof credentialSchema>;

/** Times of a credential, UTC as files write them. */
interface CredentialTimes {
  readonly validFrom: string;
  readonly validUntil?: string;
  /** When it is signed. */
  readonly created: string;
}

/** A credential of a body with everything but its signature. */
export function unsignedCredential(
  issuer: string,
  about: JsonObject,
  { created, ...times }: CredentialTimes,
): Credential {
  return {
    '@context': [...CONTEXT],
    type: [TYPE],
    issuer,
    ...times,
    credentialSubject: { body: about },
    proof: {
      '@context': [...CONTEXT],
      type: 'DataIntegrityProof',
      cryptosuite: 'eddsa-jcs-2022',
      created,
      verificationMethod: keyIdOf(issuer),
      proofPurpose: 'assertionMethod',
      proofValue: '',
    },
  };
}

/** A credential with its signature, 64 bytes. */
export function signedCredential(unsigned: Credential, signature: Uint8Array): Credential {
  const proofValue = `z${encodeBase58(signature)}`;
  return { ...unsigned, proof: { ...unsigned.proof, proofValue } };
}

type Sha256 = (bytes: Uint8Array) => Uint8Array;

/**
 * The 64 bytes that eddsa-jcs-2022 signs: SHA-256 of the canonical proof without its value, then that of the canonical
 * document without its proof. Throws a TypeError for what has no canonical JSON.
 */
export function credentialDigest(secured: { readonly proof: object }, sha256: Sha256): Uint8Array {
  const { proof, ...document } = secured;
  const { proofValue: _, ...options } = proof as { readonly proofValue?: unknown };
  const hashes = [options, document].map((part) =>
    sha256(new TextEncoder().encode(canonicalJson(part))),
  );
  return Uint8Array.from(hashes.flatMap((bytes) => [...bytes]));
}

/** The signature of a `proofValue`; throws a TypeError for another encoding or another length. */
export function credentialSignature(proofValue: string): Uint8Array {
  if (!proofValue.startsWith('z')) throw new TypeError('Cannot read "proofValue": not base58btc');
  const bytes = decodeBase58(proofValue.slice(1));
  if (bytes.length === SIGNATURE_BYTES) return bytes;
  throw new TypeError(`Cannot read "proofValue": ${bytes.length} bytes instead of 64`);
}

/** Whether a value claims to be a credential, whatever else is wrong with it. */
export function isCredential(value: JsonValue): boolean {
  if (!isObject(value) || Object.hasOwn(value, '_citation')) return false;
  const { proof, type } = value;
  return (
    Object.hasOwn(value, 'credentialSubject') ||
    (isObject(proof) && Object.hasOwn(proof, 'cryptosuite')) ||
    (Array.isArray(type) && type.includes(TYPE))
  );
}

/** The body that a saved value is about: that inside a credential, or the value itself. */
export function bodyWithin(saved: JsonValue): JsonValue {
  if (!isObject(saved) || !isCredential(saved)) return saved;
  const subject = saved.credentialSubject;
  return isObject(subject) && subject.body !== undefined ? subject.body : saved;
}

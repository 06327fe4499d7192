import { recoverSigner } from '../money/signature.ts';

const DIGEST_BYTES = 32;
const SIGNATURE_BYTES = 65;
const JOB_BYTES = DIGEST_BYTES + SIGNATURE_BYTES;
const ADDRESS_BYTES = 20;
/** A 1 in front of an address, a 0 where there is no signer. */
const RESULT_BYTES = 1 + ADDRESS_BYTES;

/** One signature to recover; it must have 65 bytes, written as hex with 0x. */
export interface SignatureJob {
  readonly digest: Uint8Array;
  readonly signature: string;
}

/** Jobs as one block of bytes, which crosses between threads without being copied. */
export function packJobs(jobs: readonly SignatureJob[]): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(jobs.length * JOB_BYTES);
  const bytes = Buffer.from(block.buffer);
  for (const [index, { digest, signature }] of jobs.entries()) {
    block.set(digest, index * JOB_BYTES);
    bytes.write(signature.slice(2), index * JOB_BYTES + DIGEST_BYTES, SIGNATURE_BYTES, 'hex');
  }
  return block;
}

/** Recovers the signers of a block; runs in the other thread. */
export function recoverJobs(block: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  const count = bytes.length / JOB_BYTES;
  const results = new Uint8Array(count * RESULT_BYTES);
  const out = Buffer.from(results.buffer);
  for (let index = 0; index < count; index++) {
    const start = index * JOB_BYTES;
    const digest = bytes.subarray(start, start + DIGEST_BYTES);
    const signer = recoverSigner(digest, bytes.subarray(start + DIGEST_BYTES, start + JOB_BYTES));
    if (signer === null) continue;
    results[index * RESULT_BYTES] = 1;
    out.write(signer.slice(2), index * RESULT_BYTES + 1, ADDRESS_BYTES, 'hex');
  }
  return results;
}

/** Lower-case addresses in the order of the jobs, null where nobody signed. */
export function unpackSigners(results: Uint8Array): (string | null)[] {
  const bytes = Buffer.from(results.buffer, results.byteOffset, results.byteLength);
  return Array.from({ length: bytes.length / RESULT_BYTES }, (_, index) => {
    const start = index * RESULT_BYTES;
    if (bytes[start] !== 1) return null;
    return `0x${bytes.toString('hex', start + 1, start + RESULT_BYTES)}`;
  });
}

import type { Network } from '../../settle/networks.ts';
import type { Payment } from '../../settle/payment.ts';
import { noteSigner, recoverSigner, transferDigest } from '../../settle/signature.ts';

/** Recovers signers in another thread, in blocks: it is the dearest step of a payment. */
export interface SignaturePool {
  /** When it resolves, signedBy() knows who signed, or finds out by itself. */
  judge(payment: Payment, network: Network): Promise<void>;
}

/** Jobs of one block: while its payments are written down, the next block is recovered. */
const BLOCK_JOBS_MAX = 64;

interface WaitingJob extends SignatureJob {
  readonly payment: Payment;
  readonly network: Network;
  readonly resolve: () => void;
}

/** One block is under way at a time; what comes meanwhile makes the next one. */
export function signaturePool(port: {
  postMessage(block: Uint8Array, transfer: ArrayBuffer[]): void;
  on(event: 'message', listener: (results: Uint8Array) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}): SignaturePool {
  const waiting: WaitingJob[] = [];
  let under: WaitingJob[] = [];
  let isScheduled = false;
  let isBroken = false;
  const send = (): void => {
    isScheduled = false;
    if (under.length > 0 || waiting.length === 0) return;
    under = waiting.splice(0, BLOCK_JOBS_MAX);
    const block = packJobs(under);
    port.postMessage(block, [block.buffer]);
  };
  port.on('message', (results) => {
    const done = under;
    under = [];
    send();
    const signers = unpackSigners(results);
    for (const [at, { digest, signature, payment, network, resolve }] of done.entries()) {
      const payer = signers[at];
      if (payer !== undefined)
        noteSigner(payment.authorization, { network, signature, digest, payer });
      resolve();
    }
  });
  // Without the thread every signature is recovered where it is needed.
  port.on('error', () => {
    isBroken = true;
    for (const { resolve } of [...under, ...waiting.splice(0)]) resolve();
    under = [];
  });
  return {
    judge(payment, network) {
      if (isBroken) return Promise.resolve();
      return new Promise((resolve) => {
        const { authorization, signature } = payment;
        const digest = transferDigest(network, authorization);
        waiting.push({ digest, signature, payment, network, resolve });
        if (isScheduled || under.length > 0) return;
        isScheduled = true;
        setImmediate(send);
      });
    },
  };
}

const DIGEST_BYTES = 32;
const SIGNATURE_BYTES = 65;
const JOB_BYTES = DIGEST_BYTES + SIGNATURE_BYTES;
const ADDRESS_BYTES = 20;
/** A 1 in front of an address, a 0 where there is no signer. */
const RESULT_BYTES = 1 + ADDRESS_BYTES;

/** One signature to recover; it must have 65 bytes, written as hex with 0x. */
interface SignatureJob {
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
